"""A pristine checkout: the files of its commit, each of them there and of the right size.

A name that would reach outside the folder refuses the whole repository.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.documents import show
from reb_action.errors import SourceError
from reb_action.sandbox.archive import EARLIEST
from reb_action.source.git import run_git

LIMIT_BYTES: Final = 4 * 1024**3
"""Largest checkout, without `.git`; the largest of the corpus has about a tenth of it."""

LIMIT_FILES: Final = 200_000

_LATEST: Final = 2**33
_LINK: Final = "120000"
_EXECUTABLE: Final = "100755"
_SUBMODULE: Final = "160000"


@dataclass(frozen=True, kw_only=True, slots=True)
class TrackedFile:
    """A file or symbolic link of the commit; bytes of `path` that are not UTF-8 are surrogates."""

    path: str
    mode: str
    blob_sha1: str
    size_bytes: int

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return self.mode == _LINK

    @property
    def is_executable(self) -> bool:
        """Whether it is a file that may be run."""
        return self.mode == _EXECUTABLE


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A pristine checkout; `submodules` are folders that stay empty."""

    folder: Path
    commit: str
    committed_at: int
    files: tuple[TrackedFile, ...]
    submodules: tuple[str, ...]


def open_existing(folder: Path, commit: str) -> Source:
    """Return the checkout that an earlier step made; raises SourceError if it is incomplete."""
    head = folder / ".git" / "HEAD"
    if not head.is_file() or head.read_text(encoding="ascii", errors="replace").strip() != commit:
        raise SourceError(f"{folder} is no checkout of {commit}; start the trial again")
    source = read_source(folder, commit)
    demand_whole(source)
    return source


def demand_whole(source: Source) -> None:
    """Raise SourceError unless every file of the commit is there, and of the right size."""
    for file in source.files:
        if not _is_there(source.folder, file):
            raise SourceError(
                f"{show(file.path)} is missing from {source.folder} or differs from the commit; "
                "a file system that ignores case causes this; use another one and start again"
            )


def read_source(folder: Path, commit: str) -> Source:
    """Return the files of the commit in `.git` of a folder; raises SourceError if it is unsafe."""
    git_dir = folder / ".git"
    time = run_git(git_dir, "show", "--no-patch", "--format=%ct", commit, to="read the commit")
    listing = run_git(
        git_dir, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, to="list its files"
    )
    entries = tuple(_entry(line) for line in listing.split(b"\0")[:-1])
    _refuse_unsafe(entries)
    return Source(
        folder=folder,
        commit=commit,
        committed_at=min(max(int(time.strip() or b"0"), EARLIEST), _LATEST),
        files=tuple(entry for entry in entries if entry.mode != _SUBMODULE),
        submodules=tuple(entry.path for entry in entries if entry.mode == _SUBMODULE),
    )


def _entry(line: bytes) -> TrackedFile:
    meta, _, path = line.partition(b"\t")
    mode, _, blob, size = meta.decode("ascii").split()
    size_bytes = 0 if size == "-" else int(size)
    return TrackedFile(path=os.fsdecode(path), mode=mode, blob_sha1=blob, size_bytes=size_bytes)


def _refuse_unsafe(entries: tuple[TrackedFile, ...]) -> None:
    paths = {entry.path for entry in entries}
    if len(entries) > LIMIT_FILES or sum(entry.size_bytes for entry in entries) > LIMIT_BYTES:
        raise SourceError(
            f"the repository has more than {LIMIT_FILES} files or {LIMIT_BYTES} bytes"
        )
    if len(paths) < len(entries):
        raise SourceError("the repository names a file twice; its tree is malformed")
    for entry in entries:
        if any(_unsafe(part) for part in entry.path.split("/")):
            raise SourceError(f"the repository has a file {show(entry.path)}, which git forbids")
        if any(folder in paths for folder in list_parents(entry.path)):
            raise SourceError(f"{show(entry.path)} lies below a file; the tree is malformed")


def _unsafe(part: str) -> bool:
    return part.lower() in ("", ".", "..", ".git", "git~1")


def list_parents(path: str) -> Iterator[str]:
    """Yield each folder above a path."""
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts)))


def _is_there(folder: Path, file: TrackedFile) -> bool:
    try:
        status = (folder / file.path).lstat()
    except OSError:
        return False
    is_kind = stat.S_ISLNK if file.is_link else stat.S_ISREG
    return is_kind(status.st_mode) and status.st_size == file.size_bytes
