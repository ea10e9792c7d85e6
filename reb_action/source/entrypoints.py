"""Compares the paths in a manifest with the files of the pinned commit."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from reb_action.documents import show
from reb_action.errors import DocumentError
from reb_action.model.manifest import Entrypoint, Manifest
from reb_action.source.pristine import Source

_CHECKOUT: Final = "{repo}/"
_BUILDS: Final = ("pyproject.toml", "setup.py")


def demand_entrypoints(manifest: Manifest, source: Source) -> None:
    """Raise DocumentError if the commit lacks the code or the folder of an entry point."""
    for level, entrypoint in manifest.entrypoints.items():
        for key, fault in _missing(entrypoint, source):
            raise _error(manifest, f"entrypoints.{level}.{key}", fault)
    path = manifest.setup and manifest.setup.path
    if path and not any(file.path == path and not file.is_link for file in source.files):
        raise _error(manifest, "setup", f"{show(path)} is not a tracked file")


def demand_oracle(manifest: Manifest, source: Source) -> None:
    """Raise DocumentError for a path of the oracle that pip could not install."""
    files = {file.path for file in source.files}
    for path in manifest.oracle.repository if manifest.oracle else ():
        if not files & {_plain(f"{path}/{name}") for name in _BUILDS}:
            fault = f"{show(path)} holds no tracked {' or '.join(_BUILDS)}"
            raise _error(manifest, "oracle.repository", fault)


def _missing(entrypoint: Entrypoint, source: Source) -> Iterator[tuple[str, str]]:
    """Yield the keys with missing paths. Arguments may also name files that are created later."""
    files = {file.path: file for file in source.files}
    decoy = files.get(_plain(entrypoint.decoy))
    if decoy is None:
        yield "decoy", f"{show(entrypoint.decoy)} is not a tracked file"
    elif decoy.is_link:
        yield "decoy", f"{show(entrypoint.decoy)} is a symbolic link, not a file"
    for path in entrypoint.writes:
        if path not in files or files[path].is_link:
            yield "writes", f"{show(path)} is not a tracked file"
    for word, path in _scripts(entrypoint):
        # The files behind a symlink or in a submodule are unknown here.
        folder = path.rpartition("/")[0]
        known = not folder or any(name.startswith(f"{folder}/") for name in files)
        if path not in files and (known or word.startswith(_CHECKOUT)):
            yield "argv", f"{show(word)} is not a tracked file"
    cwd = entrypoint.cwd
    if cwd.startswith(_CHECKOUT) and not _is_folder(_inside(cwd), source):
        yield "cwd", f"{show(cwd)} is not a folder with tracked files"


def _scripts(entrypoint: Entrypoint) -> Iterator[tuple[str, str]]:
    """Yield each word that names a script of the repository, and its path in the commit."""
    for word in entrypoint.argv:
        if word.startswith(_CHECKOUT) and word.endswith(".py"):
            yield word, _inside(word)
    # The script follows the interpreter; its path is relative to the working directory.
    start, script = f"{entrypoint.cwd}/", entrypoint.argv[1:2]
    if entrypoint.argv[0] == "{python}" and start.startswith(_CHECKOUT):
        for word in script:
            if word.endswith(".py") and not word.startswith(("{", "-", "/")):
                yield word, _inside(start + word)


def _error(manifest: Manifest, key: str, fault: str) -> DocumentError:
    return DocumentError(
        f"the manifest of {manifest.repository}: {key}: {fault} at commit {manifest.commit[:12]};"
        " correct the path or the commit"
    )


def _inside(text: str) -> str:
    return _plain(text.removeprefix(_CHECKOUT))


def _plain(path: str) -> str:
    return str(PurePosixPath(path))


def _is_folder(path: str, source: Source) -> bool:
    ends = (f"{file.path}/" if file.is_link else file.path for file in source.files)
    names = (*ends, *(f"{name}/" for name in source.submodules))
    return path == "." or any(name.startswith(f"{path}/") for name in names)
