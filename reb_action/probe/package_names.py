"""Replaces the packages of an environment by files of the same names, which pyright reads at once.

Whether an import is found depends only on names: on the files in the search paths, and on the
`py.typed` of packages. Types matter only where a call of a package decides what code is reached;
these packages stay what they are. Equality with the packages themselves is a test.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from reb_action.documents import answer_of
from reb_action.imports import list_lookups
from reb_action.probe.context import ProbeContext, make_nonce
from reb_action.probe.toolchain import SearchPaths
from reb_action.sandbox.protocol import Command

_TIMEOUT_SECONDS: Final = 300
_ANSWER_LIMIT: Final = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """The files of one search path for the requested modules, by paths relative to it.

    `links` are files that must be read unchanged; `texts` are the contents of `py.typed`.
    """

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Listed:
    paths: tuple[Names | None, ...]


def list_names(
    context: ProbeContext, files: Mapping[str, bytes], search: SearchPaths
) -> Mapping[str, Names] | None:
    """Return the names of each search path that is a folder; None if they cannot be listed.

    `files` are those that pyright reads.
    """
    asked = list_lookups(files.values())
    question = {
        "search_paths": list(search.paths),
        "modules": sorted(asked.modules),
        "typed": sorted(asked.typed),
    }
    place = context.ask(f"names-{make_nonce()}", question)
    python, probe = context.sandbox.trusted_python, context.probe("package_names")
    ended = context.run(
        Command(
            argv=(python, "-I", "-S", probe, place),
            cwd=context.layout.tools,
            timeout_seconds=_TIMEOUT_SECONDS,
            output_limit_bytes=_ANSWER_LIMIT,
        )
    )
    seen = answer_of(ended.stdout, _Listed)
    if seen is None or len(seen.paths) != len(search.paths):
        return None
    found = dict(zip(search.paths, seen.paths, strict=True))
    names = {path: one for path, one in found.items() if one is not None}
    return names if all(map(_stays_inside, names.values())) else None


def _stays_inside(names: Names) -> bool:
    """Tell whether every path leads to a place below the search path."""
    paths = (*names.folders, *names.files, *names.links, *names.texts)
    parts = (PurePosixPath(path).parts for path in paths)
    return all(one and one[0] != "/" and ".." not in one for one in parts) and not any(
        "\0" in path for path in paths
    )


def write_names(folder: Path, names: Names, *, origin: str) -> None:
    """Write the names of the search path `origin` into a new folder."""
    folder.mkdir(parents=True)
    for path in names.folders:
        (folder / path).mkdir(parents=True, exist_ok=True)
    for path in names.files:
        (folder / path).touch()
    for path, text in names.texts.items():
        (folder / path).write_text(text, encoding="utf-8")
    for path in names.links:
        (folder / path).symlink_to(f"{origin}/{path}")
