"""Has pyright resolve the imports of the repository; the observation of C0."""

import re
import time
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from reb_action import imports
from reb_action.imports import Unresolved
from reb_action.model.observation import ImportsObservation, Interpreter
from reb_action.probe import toolchain
from reb_action.probe.context import ProbeContext, make_nonce
from reb_action.probe.installed import InstalledModules, inspect_modules
from reb_action.probe.pyright import Tree, resolve, resolve_alone
from reb_action.source.pristine import Source

_PATH_BYTES: Final = 240
"""So that no component is too long for a file system, whatever goes in front of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """What pyright and the probe said; `fault` says how the environment kept them from it."""

    missing: frozenset[str]
    stub_only: frozenset[str] = frozenset()
    hollow: frozenset[str] = frozenset()
    editable: frozenset[str] = frozenset()
    fault: str | None = None


def observe_imports(
    context: ProbeContext, source: Source, interpreter: Interpreter, native: tuple[str, ...]
) -> ImportsObservation:
    """Return which imports pyright does not resolve; `native` are modules built in the checkout.

    What an environment does to those who look at it is its own fault, and a finding; raises
    SandboxError or ToolchainError where they fail without it too.
    """
    tools = toolchain.find_toolchain()
    _place(tools, context.mount / "toolchain")
    begun, texts = time.monotonic(), read_sources(source)
    by_file = {path: imports.imported_names(text) for path, text in texts.items()}
    names = frozenset[str]().union(*by_file.values())
    local = imports.local_names(by_file)
    third_party = imports.third_party(names, local=local)
    root = f"{context.layout.repository}/"
    native = tuple(root + path for path in _beside(source, native))
    found = inspect_modules(context, interpreter, third_party, native=native)
    built = tuple(path.removeprefix(root) for path in found.built if path in native)
    tree = Tree(files=_files(source, texts, built), search=_search_paths(interpreter))
    seen = _look(context, tree, found, names, third_party)
    return ImportsObservation(
        total=len(names),
        missing=tuple(sorted(seen.missing)),
        third_party=tuple(sorted(third_party)),
        stub_only=tuple(sorted(seen.stub_only)),
        hollow=tuple(sorted(seen.hollow)),
        editable=tuple(sorted(seen.editable)),
        local=tuple(sorted(local)),
        files=len(texts),
        pyright=tools.version,
        seconds=round(time.monotonic() - begun, 2),
        fault=seen.fault,
    )


def _look(
    context: ProbeContext,
    tree: Tree,
    found: InstalledModules,
    names: frozenset[str],
    third_party: frozenset[str],
) -> _Seen:
    if found.fault is not None:
        return _Seen(missing=names, fault=found.fault)
    first = resolve(context, tree)
    if isinstance(first, str):
        return _Seen(missing=names, fault=first)
    editable = _through_finders(context, tree, found, first)
    if isinstance(editable, str):
        return _Seen(missing=names, fault=editable)
    return _Seen(
        missing=first.missing,
        stub_only=first.stub_only,
        hollow=(found.hollow - first.missing) | _ghosts(context, tree, found, third_party, first),
        editable=editable,
    )


def _place(tools: toolchain.Toolchain, target: Path) -> None:
    if target.exists():
        return
    # Whole or not at all: an earlier step may have been killed while it did this.
    part = target.with_name(f"toolchain-{make_nonce()}")
    toolchain.copy_toolchain(tools, part)
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
    """Return the paths that can stand in a tree with the tracked files, as those are restored."""
    tracked = {file.path for file in source.files}
    return tuple(
        path
        for path in native
        if path.isprintable()
        and len(path.encode()) <= _PATH_BYTES
        and not tracked & {*map(str, PurePosixPath(path).parents)}
    )


def _files(source: Source, texts: dict[str, bytes], built: tuple[str, ...]) -> dict[str, bytes]:
    reduced = {path: imports.sufficient_source(text) for path, text in texts.items()}
    others = {
        file.path: (source.folder / file.path).read_bytes() if file.path.endswith(".pyi") else b""
        for file in source.files
        if file.path.endswith((".py", ".pyi", ".so")) and file.path not in reduced
    }
    return {**dict.fromkeys(built, b""), **others, **reduced}


def _search_paths(interpreter: Interpreter) -> toolchain.SearchPaths:
    version = re.match(r"3\.(\d{1,2})\.", interpreter.version or "")
    return toolchain.SearchPaths(
        version=(3, int(version[1])) if version else (3, 11),
        prefix=interpreter.prefix or "",
        paths=interpreter.search_paths,
    )


def _ghosts(
    context: ProbeContext,
    tree: Tree,
    found: InstalledModules,
    third_party: frozenset[str],
    first: Unresolved,
) -> frozenset[str]:
    """Return what pyright finds in the environment where nothing stands that Python could import.

    Whatever of it the repository's own tree has, pyright finds without the environment too.
    """
    doubtful = third_party - _unfound(first) - found.names
    return doubtful & _unfound(resolve_alone(context, tree)) if doubtful else frozenset()


def _unfound(seen: Unresolved) -> frozenset[str]:
    return seen.missing | seen.stub_only


def _through_finders(
    context: ProbeContext, tree: Tree, found: InstalledModules, first: Unresolved
) -> frozenset[str] | str:
    """Return the names that pyright finds when it is led where finders of editable installs lead.

    pyright runs no code, so it knows no finder; the paper's count does not either.
    """
    solid = {name.partition(".")[0] for name, _ in found.mapped} - found.hollow
    wanted = solid & _unfound(first)
    if not wanted:
        return frozenset()
    links = tuple(one for one in found.mapped if one[0].partition(".")[0] in wanted)
    second = resolve(context, replace(tree, links=links))
    return second if isinstance(second, str) else frozenset(wanted - _unfound(second))
