"""Has a repository at its pinned commit: nothing of its later history, nothing of this machine.

The folder that results belongs to the harness; a sandbox gets copies of it as archives. Nothing in
a repository is run or obeyed: no hooks, filters, submodules or configuration, and a name that would
reach outside the folder refuses the whole repository.
"""

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from reb_action.archive import EARLIEST, Member, pack
from reb_action.documents import show
from reb_action.errors import SourceError
from reb_action.git import git, has_commit
from reb_action.model.manifest import Manifest

LIMIT_BYTES: Final = 4 * 1024**3
"""Largest checkout, without `.git`; the largest of the corpus has about a tenth of it."""

LIMIT_FILES: Final = 200_000

FETCH_SECONDS: Final = 1800
_LATEST: Final = 2**33
_LINK: Final = "120000"
_EXECUTABLE: Final = "100755"
_SUBMODULE: Final = "160000"

_CONFIG: Final = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"

_ATTRIBUTES: Final = "* -text -eol -ident -filter -working-tree-encoding\n"
"""Strongest of all attributes: what is checked out is, byte for byte, what is in the commit."""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A pristine checkout; `submodules` are folders that stay empty."""

    folder: Path
    commit: str
    committed_at: int
    files: tuple[TrackedFile, ...]
    submodules: tuple[str, ...]


def checkout(
    manifest: Manifest, *, folder: Path, mirror: Path | None, origin: str = "https://github.com"
) -> Source:
    """Check the pinned commit out into a new `folder`, from `mirror` where it has the repository.

    Raises SourceError; then there is no `folder`.
    """
    _demand_pinned(manifest)
    url = _url(manifest, mirror, origin)
    folder = folder.absolute()
    if folder.is_symlink() or (folder.exists() and any(folder.iterdir())):
        raise SourceError(f"{folder} exists already; name a folder that does not")
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        _fetch(part / ".git", url, manifest)
        _lay_out(part, manifest.commit)
        source = open_existing(part, manifest.commit)
        part.chmod(0o755)
        part.replace(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return replace(source, folder=folder)


def open_existing(folder: Path, commit: str) -> Source:
    """Return the checkout that an earlier step made; raises SourceError when it is not whole."""
    head = folder / ".git" / "HEAD"
    if not head.is_file() or head.read_text(encoding="ascii", errors="replace").strip() != commit:
        raise SourceError(f"{folder} is no checkout of {commit}; start the trial again")
    source = _source(folder, commit)
    for file in source.files:
        if not _is_there(folder, file):
            raise SourceError(
                f"{show(file.path)} is missing from {folder} or not as in the commit; this"
                " happens on a file system that ignores case; use another one and start again"
            )
    return source


def in_mirror(mirror: Path, repository: str) -> Path | None:
    """Return where a folder of mirrors has a repository, as `owner/name` or flat; None if not."""
    mirror = mirror.absolute()
    if not mirror.is_dir():
        raise SourceError(f"the mirror {mirror} is not a folder; correct the path or leave it out")
    owner, _, name = repository.partition("/")
    stems = (f"{owner}+{name}/repo", f"{owner}+{name}", f"{owner}__{name}", f"{owner}/{name}", ".")
    places = [mirror / f"{stem}{end}" for stem in stems for end in ("", ".git")]
    return next((place for place in places if _is_repository(place)), None)


def archive(source: Source) -> bytes:
    """Return the whole work tree with `.git` as a tar archive, links last."""
    everything = (*_git_members(source.folder), *_members(source, source.files, source.submodules))
    return pack(everything, mtime=source.committed_at)


def archive_of(source: Source, paths: Iterable[str]) -> bytes:
    """Return some tracked files, with the folders above them, as a tar archive."""
    by_path = {file.path: file for file in source.files}
    wanted = sorted(set(paths))
    unknown = [path for path in wanted if path not in by_path]
    if unknown:
        raise SourceError(f"{show(unknown[0])} is not a tracked file of {source.commit}")
    members = _members(source, [by_path[path] for path in wanted], ())
    return pack(members, mtime=source.committed_at)


def _demand_pinned(manifest: Manifest) -> None:
    owner, _, name = manifest.repository.partition("/")
    if not all(re.fullmatch(r"(?!\.+$)[\w.-]+", part, re.ASCII) for part in (owner, name)):
        raise SourceError(f"{show(manifest.repository)} is not the owner/name of a repository")
    if not re.fullmatch("[0-9a-f]{40}", manifest.commit):
        raise SourceError(f"{show(manifest.commit)} is not a full commit id of 40 digits")


def _url(manifest: Manifest, mirror: Path | None, origin: str) -> str:
    found = None if mirror is None else in_mirror(mirror, manifest.repository)
    if found is not None:
        _demand_commit(found, manifest)
        return found.as_uri()
    parts = urlsplit(origin)
    if parts.scheme not in ("https", "file") or "@" in parts.netloc:
        raise SourceError(
            "the origin must be an https:// URL without a user name or password;"
            " for a private repository, name a mirror that holds a clone of it"
        )
    return f"{origin.rstrip('/')}/{manifest.repository}"


def _is_repository(place: Path) -> bool:
    bare = (place / "HEAD").is_file() and (place / "objects").is_dir()
    return bare or (place / ".git").exists()


def _demand_commit(place: Path, manifest: Manifest) -> None:
    inside = place / ".git" if (place / ".git").exists() else place
    if not has_commit(inside, manifest.commit):
        raise SourceError(
            f"the mirror {place} of {manifest.repository} does not have commit {manifest.commit};"
            " fetch it there, or leave the mirror out"
        )


def _fetch(git_dir: Path, url: str, manifest: Manifest) -> None:
    git(git_dir, "init", "--quiet", "--template=", to="prepare the checkout")
    (git_dir / "config").write_text(_CONFIG, encoding="ascii")
    git(
        git_dir,
        *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--"),
        *(url, manifest.commit),
        to=f"fetch {manifest.repository} at {manifest.commit} from {url}",
        seconds=FETCH_SECONDS,
        protocol=urlsplit(url).scheme,
    )
    kind = git(git_dir, "cat-file", "-t", manifest.commit, to="look the commit up").decode().strip()
    if kind != "commit":
        raise SourceError(f"{manifest.commit} of {manifest.repository} is a {kind}, not a commit")


def _lay_out(folder: Path, commit: str) -> None:
    git_dir = folder / ".git"
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text(_ATTRIBUTES, encoding="ascii")
    # Refuses what must not be written, before anything is.
    _source(folder, commit)
    git(git_dir, "read-tree", commit, to="read the commit")
    # Unlike `git checkout` it runs nothing and leaves no times or owners in the index.
    to = ("checkout-index", "--all", "--quiet")
    git(git_dir, f"--work-tree={folder}", *to, to="check the commit out")
    (git_dir / "HEAD").write_text(f"{commit}\n", encoding="ascii")


def _source(folder: Path, commit: str) -> Source:
    git_dir = folder / ".git"
    time = git(git_dir, "show", "--no-patch", "--format=%ct", commit, to="read the commit")
    listing = git(git_dir, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, to="list its files")
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
        if any(folder in paths for folder in _above(entry.path)):
            raise SourceError(f"{show(entry.path)} lies below a file; the tree is malformed")


def _unsafe(part: str) -> bool:
    return part.lower() in ("", ".", "..", ".git", "git~1")


def _above(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts)))


def _is_there(folder: Path, file: TrackedFile) -> bool:
    try:
        status = (folder / file.path).lstat()
    except OSError:
        return False
    is_kind = stat.S_ISLNK if file.is_link else stat.S_ISREG
    return is_kind(status.st_mode) and status.st_size == file.size_bytes


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
    for folder in sorted({folder for path in paths for folder in _above(path)}):
        yield Member(path=folder, folder=True)
    yield from (_member(source, file) for file in files)


def _member(source: Source, file: TrackedFile) -> Member:
    path = source.folder / file.path
    is_link = file.is_link
    content = os.fsencode(path.readlink()) if is_link else path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    if blob != file.blob_sha1:
        raise SourceError(
            f"{show(file.path)} in {source.folder} has changed; start the trial again"
        )
    if is_link:
        return Member(path=file.path, link=os.fsdecode(content))
    return Member(path=file.path, content=content, executable=file.mode == _EXECUTABLE)
