"""Runs the harness's pyright over small trees, as level C0 does, for tests."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import cast

from reb_action.imports import Unresolved, read_unresolved, sufficient_source
from reb_action.probe.toolchain import (
    ENVIRONMENT,
    FINISHED,
    SearchPaths,
    build_command,
    find_toolchain,
    write_tree,
)

PATHS = "import json, sys; print(json.dumps([sys.version_info[:2], sys.prefix, sys.path[1:]]))"


def empty_interpreter() -> SearchPaths:
    """Return the search paths of an interpreter like this one in which nothing is installed."""
    paths = tuple(path for path in sys.path if path.startswith(sys.base_prefix))
    kept = tuple(path for path in paths if not path.endswith("site-packages"))
    return SearchPaths(version=sys.version_info[:2], prefix=sys.base_prefix, paths=kept)


def observed(python: Path, environment: Mapping[str, str] | None = None) -> SearchPaths:
    """Ask a real interpreter for its search paths."""
    run = subprocess.run(
        [python, "-c", PATHS], env=environment or {}, capture_output=True, check=True, timeout=60
    )
    version, prefix, paths = json.loads(run.stdout)
    return SearchPaths(version=tuple(version), prefix=prefix, paths=tuple(paths))


def complete_toolchain(folder: Path) -> Path:
    """Lay out pyright as it is installed, with complete stubs, as `copy_toolchain` does."""
    found = find_toolchain()
    folder.mkdir()
    (folder / "node").symlink_to(found.node)
    (folder / "pyright").symlink_to(found.bundle)
    return folder


def answer(tools: Path, folder: Path, *, python: Path | None = None) -> dict[str, object]:
    """Run pyright over what was laid out; `python` replaces the stand-in interpreter."""
    command = build_command(tools=str(tools), folder=str(folder))
    command = command if python is None else (*command[:-1], str(python))
    run = subprocess.run(command, env=dict(ENVIRONMENT), capture_output=True, timeout=600)
    assert run.returncode in FINISHED, run.stderr.decode()
    return json.loads(run.stdout)


def by_file(document: dict[str, object], root: Path) -> Callable[[str], Unresolved]:
    """Return a function from a path below `root` to what is unresolved in that file alone."""
    own: dict[str, list[object]] = {}
    for each in cast("list[dict[str, str]]", document["generalDiagnostics"]):
        own.setdefault(each["file"], []).append(each)

    def of(path: str) -> Unresolved:
        return read_unresolved({**document, "generalDiagnostics": own.get(str(root / path), [])})

    return of


def whole_and_reduced(
    tools: Path, folder: Path, sources: Mapping[str, bytes]
) -> tuple[Callable[[str], Unresolved], Callable[[str], Unresolved]]:
    """Run pyright over whole files with complete stubs, and over reduced files with `tools`.

    Return both by file.
    """
    reduced = {path: sufficient_source(source) for path, source in sources.items()}
    complete = complete_toolchain(folder / "complete")
    return (
        _each(complete, folder / "whole", sources),
        _each(tools, folder / "reduced", reduced),
    )


def _each(tools: Path, folder: Path, files: Mapping[str, bytes]) -> Callable[[str], Unresolved]:
    write_tree(folder, files=files.items(), search=empty_interpreter())
    return by_file(answer(tools, folder), folder / "tree")


def unresolved(
    tools: Path, folder: Path, files: Iterable[tuple[str, bytes]], *, search: SearchPaths
) -> Unresolved:
    """Lay files out and return what pyright does not resolve in them."""
    write_tree(folder, files=files, search=search)
    return read_unresolved(answer(tools, folder))
