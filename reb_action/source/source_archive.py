"""Makes copies of a pristine checkout for a sandbox, each file as the commit has it."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from reb_action.documents import show
from reb_action.errors import SourceError
from reb_action.sandbox.archive import Member, pack
from reb_action.source.pristine import Source, TrackedFile, list_parents


def pack_source(source: Source) -> bytes:
    """Return the whole work tree with `.git` as a tar archive, links last."""
    everything = (*_git_members(source.folder), *_members(source, source.files, source.submodules))
    return pack(everything, mtime=source.committed_at)


def pack_files(source: Source, paths: Iterable[str]) -> bytes:
    """Return some tracked files, with the folders above them, as a tar archive."""
    by_path = {file.path: file for file in source.files}
    wanted = sorted(set(paths))
    unknown = [path for path in wanted if path not in by_path]
    if unknown:
        raise SourceError(f"{show(unknown[0])} is not a tracked file of {source.commit}")
    members = _members(source, [by_path[path] for path in wanted], ())
    return pack(members, mtime=source.committed_at)


def _git_members(folder: Path) -> Iterator[Member]:
    for place, folders, names in os.walk(folder / ".git"):
        folders.sort()
        here = Path(place)
        yield Member(path=str(here.relative_to(folder)), folder=True)
        for name in sorted(names):
            path = here / name
            yield Member(path=str(path.relative_to(folder)), content=path.read_bytes())


def _members(
    source: Source, files: Iterable[TrackedFile], submodules: tuple[str, ...]
) -> Iterator[Member]:
    files = sorted(files, key=lambda file: (file.is_link, file.path))
    paths = (*(file.path for file in files), *(f"{path}/" for path in submodules))
    for folder in sorted({folder for path in paths for folder in list_parents(path)}):
        yield Member(path=folder, folder=True)
    yield from (_member(source, file) for file in files)


def _member(source: Source, file: TrackedFile) -> Member:
    path = source.folder / file.path
    is_link = file.is_link
    # Not `Path.readlink`, which drops the slash at the end of `../folder/`.
    content = os.fsencode(os.readlink(path)) if is_link else path.read_bytes()  # noqa: PTH115
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    if blob != file.blob_sha1:
        raise SourceError(
            f"{show(file.path)} in {source.folder} has changed; start the trial again"
        )
    if is_link:
        return Member(path=file.path, link=os.fsdecode(content))
    return Member(path=file.path, content=content, executable=file.is_executable)
