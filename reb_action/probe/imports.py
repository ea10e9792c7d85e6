"""Observes C0: imports that pyright does not resolve, and imports that the strict count misses."""

import posixpath
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final

from reb_action import imports
from reb_action.imports import Files, Ownership, Unresolved
from reb_action.model.observation import ImportsObservation, Interpreter
from reb_action.model.report import Report
from reb_action.probe import toolchain
from reb_action.probe.context import ProbeContext, make_nonce
from reb_action.probe.package_names import list_names
from reb_action.probe.presence import Measured, Presence, look
from reb_action.probe.pyright import Tree, resolve
from reb_action.probe.stubs import Wanted, inspect_modules
from reb_action.sandbox.local.files import remove_tree
from reb_action.source.pristine import Source, list_parents

_MARK: Final = ".folder"
_PATH_BYTES: Final = 240
"""Longest name, so that no path component exceeds a file system's limit, even with a prefix."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reported:
    """The agent's report, and the observation of its interpreter."""

    report: Report
    interpreter: Interpreter


def observe_imports(
    context: ProbeContext, source: Source, reported: Reported, native: tuple[str, ...]
) -> ImportsObservation:
    """Return which imports find nothing; `native` are modules built in the checkout.

    If the environment makes the survey or pyright crash, that is a finding about it. Raises
    SandboxError or ToolchainError if they also fail without the environment.
    """
    tools = toolchain.find_toolchain()
    begun = time.monotonic()
    search = _search_paths(reported.interpreter)
    built = _built(context, reported.interpreter, _beside(source, native))
    files = repository_files(source)
    inside = _inside(context, files, search.paths)
    files = replace(files, others=(*files.others, *built), paths=tuple(inside))
    owned = imports.owners(files, version=search.version)
    measured = Measured(
        report=reported.report,
        interpreter=reported.interpreter,
        version=search.version,
        skipped=tuple(f"{context.layout.repository}/{path}" for path in _own_modules(files)),
    )
    seen = look(context, owned, measured)
    shown = files_for_pyright(source, files, built)
    names = list_names(context, shown, search) or {}
    tree = Tree(files=shown, links=files.links, search=search, names=names)
    _place(context, tools)
    first = seen.fault or resolve(context, tree)
    observed = _observation(files, owned, seen, first)
    seconds = round(time.monotonic() - begun, 2)
    return replace(observed, pyright=tools.version, seconds=seconds)


def _observation(
    files: Files, owned: Ownership, seen: Presence, first: Unresolved | str
) -> ImportsObservation:
    names = frozenset[str]().union(*map(imports.imported_names, files.counted.values()))
    # Also required: an own folder that an installed package hides, and removed standard modules.
    third_party = owned.third_party | {one.name for one in seen.absent}
    told = first if isinstance(first, Unresolved) else None
    return ImportsObservation(
        total=len(names),
        missing=tuple(sorted(told.missing if told else names)),
        third_party=tuple(sorted(third_party)),
        stub_only=tuple(sorted(told.stub_only if told else ())),
        hollow=tuple(sorted(seen.hollow)),
        editable=tuple(sorted(seen.editable)),
        local=tuple(sorted(owned.own)),
        optional=tuple(sorted(owned.optional - third_party)),
        absent=seen.absent,
        files=len(files.counted),
        pyright="",
        seconds=0.0,
        fault=first if isinstance(first, str) else None,
    )


def repository_files(source: Source) -> Files:
    """Return the files of the commit that matter to imports."""
    texts = read_sources(source)
    others = [
        file.path
        for file in source.files
        if file.path.endswith((".py", ".so")) and not file.is_link and file.path not in texts
    ]
    build = {
        file.path: (source.folder / file.path).read_bytes()
        for file in source.files
        if imports.is_build_file(file.path) and not file.is_link
    }
    return Files(counted=texts, others=tuple(others), build=build, links=dict(_links(source)))


def _links(source: Source) -> Iterator[tuple[str, str]]:
    """Yield the symbolic links that stay in the repository, each with its target in it."""
    known = {file.path for file in source.files}
    known |= {folder for file in source.files for folder in list_parents(file.path)}
    for file in (one for one in source.files if one.is_link):
        folder = posixpath.dirname(file.path)
        named = str((source.folder / file.path).readlink())
        target = posixpath.normpath(posixpath.join(folder, named))
        # Below itself, it would never end.
        if target in known and not f"{file.path}/".startswith(f"{target}/"):
            yield file.path, target


def _inside(context: ProbeContext, files: Files, paths: tuple[str, ...]) -> Iterator[str]:
    """Yield the folders of the commit that are on the interpreter's search path."""
    folders = {folder for path in (*files.counted, *files.others) for folder in list_parents(path)}
    root = context.layout.repository
    for path in map(posixpath.normpath, paths):
        if path == root:
            yield ""
        elif path.startswith(f"{root}/") and path[len(root) + 1 :] in folders:
            yield path[len(root) + 1 :]


def _own_modules(files: Files) -> Iterator[str]:
    """Yield the commit's files in those folders: they are not part of a distribution."""
    known = {
        inner for path in (*files.counted, *files.others) for inner in (path, *list_parents(path))
    }
    for folder in files.paths:
        yield from (path for path in known if posixpath.dirname(path) == folder)


def _built(
    context: ProbeContext, interpreter: Interpreter, native: tuple[str, ...]
) -> tuple[str, ...]:
    """Return those of the native files that are extension modules under their own name."""
    if not native:
        return ()
    root = f"{context.layout.repository}/"
    asked = Wanted(names=(), native=[root + path for path in native])
    found = set(inspect_modules(context, interpreter, asked).built)
    return tuple(path for path in native if root + path in found)


def _place(context: ProbeContext, tools: toolchain.Toolchain) -> None:
    """Put pyright into the mount; again if an earlier run could have changed it."""
    target = context.mount / "toolchain"
    is_safe = context.sandbox.separates_users
    if is_safe and target.exists():
        return
    # Move the complete folder into place: an earlier step may have been killed while copying.
    part = target.with_name(f"toolchain-{make_nonce()}")
    toolchain.copy_toolchain(tools, part, may_link=is_safe)
    remove_tree(target)
    part.replace(target)


def read_sources(source: Source) -> dict[str, bytes]:
    """Return the files that count at C0, by their paths."""
    found: dict[str, bytes] = {}
    for file in source.files:
        path = source.folder / file.path
        if imports.is_counted(file.path) and path.is_file() and not path.is_symlink():
            found[file.path] = path.read_bytes()
    return found


def _beside(source: Source, native: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths that do not conflict with the restored tracked files."""
    tracked = {file.path for file in source.files}
    return tuple(
        path
        for path in native
        if path.isprintable()
        and len(path.encode()) <= _PATH_BYTES
        and not tracked & {*map(str, PurePosixPath(path).parents)}
    )


def files_for_pyright(
    source: Source, files: Files, built: tuple[str, ...] = ()
) -> dict[str, bytes]:
    """Return pyright's input for the paper's count; `built` files were made in the checkout."""
    reduced = {path: imports.sufficient_source(text) for path, text in files.counted.items()}
    others = {
        file.path: (source.folder / file.path).read_bytes() if file.path.endswith(".pyi") else b""
        for file in source.files
        if file.path.endswith((".py", ".pyi", ".so")) and not file.is_link
    }
    seen = {**dict.fromkeys(built, b""), **others, **reduced}
    return {**seen, **dict.fromkeys(_marks_of_folders(source, seen), b"")}


def _marks_of_folders(source: Source, seen: Iterable[str]) -> Iterator[str]:
    """Yield a file for each folder that would be lost: to pyright, an empty one is a namespace."""
    paths = [file.path for file in source.files if not file.is_link]
    every = {folder for path in paths for folder in list_parents(path)} | {*source.submodules}
    for folder in every - {folder for path in seen for folder in list_parents(path)}:
        yield f"{folder}/{_MARK}"


def _search_paths(interpreter: Interpreter) -> toolchain.SearchPaths:
    version = re.match(r"3\.(\d{1,2})\.", interpreter.version or "")
    return toolchain.SearchPaths(
        version=(3, int(version[1])) if version else (3, 11),
        prefix=interpreter.prefix or "",
        paths=interpreter.search_paths,
    )
