"""Finds edited copies of the repository's own modules that are installed elsewhere."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Final

from reb_action.documents import answer_of
from reb_action.imports import STANDARD_LIBRARY
from reb_action.probe import hooks as probe_hooks
from reb_action.probe.context import ProbeContext, make_nonce
from reb_action.probe.hooks import StartedInterpreter
from reb_action.sandbox.protocol import Command
from reb_action.source.pristine import Source, TrackedFile

_TIMEOUT_SECONDS: Final = 300
_UNSEEN: Final = "the search paths, which could not be looked through"
_NO_MODULES: Final = frozenset({"setup", "conftest", "__main__"})


@dataclass(frozen=True, kw_only=True, slots=True)
class ModuleScan:
    """Modules that Python may import instead of others.

    `copies` are edited copies of tracked modules outside the checkout. `shadowing` are untracked
    modules of the checkout that Python finds before an installed or standard one. `hooks` run at
    each start of the interpreter; `known_hooks` maps those of known packages to the package.
    """

    copies: tuple[str, ...] = ()
    shadowing: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    known_hooks: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    copies: tuple[str, ...]
    shadowing: tuple[str, ...]
    hooks: Mapping[str, Mapping[str, str]]
    optional: tuple[str, ...]


def scan_modules(
    context: ProbeContext,
    source: Source,
    search_paths: Iterable[str],
    own_hooks: Sequence[str] = (),
    *,
    start: StartedInterpreter | None = None,
) -> ModuleScan:
    """Return the modules that may be imported instead of others, without running their code.

    They are only reported: which of them a run imports cannot be observed from outside. `own_hooks`
    were found before; the hooks of the interpreter `start` are searched here.
    """
    question = {
        **_own_modules(context, source),
        "search_paths": [*sorted(_started(context)), *search_paths],
        "repository": context.layout.repository,
        "tracked": [file.path for file in source.files],
        "standard": sorted(STANDARD_LIBRARY),
        "hooks": list(own_hooks),
        "start": start and asdict(start),
        "hook_files": probe_hooks.list_files(),
        "optional_modules": probe_hooks.list_optional_modules(),
    }
    answer = _ask(context, question)
    if answer is None:
        return ModuleScan(copies=(_UNSEEN,), shadowing=(_UNSEEN,), hooks=(*own_hooks, _UNSEEN))
    variables = start.environment if start else ()
    packages = {
        hook: probe_hooks.identify_hook(hook, hashes, answer.optional, variables)
        for hook, hashes in answer.hooks.items()
    }
    known = {hook: package for hook, package in packages.items() if package is not None}
    return ModuleScan(
        copies=answer.copies,
        shadowing=answer.shadowing,
        hooks=tuple(answer.hooks),
        known_hooks=known,
    )


def _ask(context: ProbeContext, question: Mapping[str, object]) -> _Answer | None:
    asked = context.ask(f"copies-{make_nonce()}", question)
    ended = context.run(
        Command(
            argv=(context.sandbox.trusted_python, "-I", "-S", context.probe("copies"), asked),
            cwd=context.layout.tools,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    )
    return answer_of(ended.stdout, _Answer)


def _own_modules(context: ProbeContext, source: Source) -> dict[str, object]:
    """Return the paths of the repository's modules, and by name the size and hash of each file."""
    modules: defaultdict[str, dict[str, list[tuple[int, str]]]] = defaultdict(dict)
    own: set[str] = set()
    for place, below, file in list_own_modules(source):
        edition = (file.size_bytes, file.blob_sha1)
        modules[place.stem if not below else place.name].setdefault(below, []).append(edition)
        own.add(f"{context.layout.repository}/{place}")
    return {"own": sorted(own), "modules": modules}


def _started(context: ProbeContext) -> Iterator[str]:
    """Yield the folders of the checkout that an entry point puts on the search path itself."""
    for entrypoint in context.manifest.entrypoints.values():
        named = (str(PurePosixPath("{repo}", entrypoint.decoy).parent), entrypoint.cwd)
        scripts = (str(PurePosixPath(word).parent) for word in entrypoint.argv if ".py" in word)
        added = entrypoint.env.get("PYTHONPATH", "").split(":")
        for folder in (*named, *scripts, *added):
            if folder.startswith("{repo}"):
                yield str(PurePosixPath(folder.replace("{repo}", context.layout.repository)))


def list_own_modules(source: Source) -> Iterable[tuple[PurePosixPath, str, TrackedFile]]:
    """Yield (folder, path in it, file) of each module that can itself be on a search path.

    That is a top-level package with each of its files, or a file outside any package.
    """
    files = [file for file in source.files if file.path.endswith(".py") and not file.is_link]
    folders = {PurePosixPath(file.path).parent for file in files if _starts_package(file)}
    for file in files:
        path = PurePosixPath(file.path)
        place = path
        while place.parent in folders and place.parent.name:
            place = place.parent
        name = place.stem if place == path else place.name
        if name.isidentifier() and name not in STANDARD_LIBRARY | _NO_MODULES:
            yield place, "" if place == path else str(path.relative_to(place)), file


def _starts_package(file: TrackedFile) -> bool:
    return PurePosixPath(file.path).name == "__init__.py"
