"""Copies files into a container and out of it; files of the agent are not trusted."""

import base64
import io
import json
import tarfile
import time
from collections.abc import Iterator
from pathlib import PurePosixPath

import requests

from reb_action.errors import SandboxError
from reb_action.sandbox.archive import safe_members
from reb_action.sandbox.docker.engine import Engine
from reb_action.sandbox.layout import AGENT_UID
from reb_action.sandbox.protocol import FileFault

# Go's os.FileMode: folder, link, device, pipe, socket, character device, irregular.
_FOLDER = 1 << 31
_NOT_REGULAR = _FOLDER | 1 << 27 | 1 << 26 | 1 << 25 | 1 << 24 | 1 << 21 | 1 << 19
_OK, _NOT_FOUND = 200, 404
_ROOT = "/"
# Their parents belong to root.
_FIXED = frozenset({".", "workspace", "home", "home/agent", "opt", "tmp"})
_PLACES = frozenset({("workspace",), ("home",), ("opt",), ("tmp",)})
# Headers and padding of a tar archive with one member.
_TAR_BYTES = 64 * 1024


def repack(folder: str, archive: bytes, *, uid: int) -> bytes:
    """Return an archive for the root of a container that unpacks into `folder`, owned by uid.

    Every folder below the first one that an agent may change has its own member. So the engine
    replaces a planted symlink there. Without the member it would follow the symlink.
    """
    base = _place(folder)
    packed = _Packed(uid=uid, folder_mode=0o755)
    for parent in _folders(base):
        packed.add_folder(parent)
    packed.add_members(base, archive)
    return packed.content()


def repack_protected(folder: str, archive: bytes, *, writable: frozenset[str]) -> bytes:
    """Return an archive like that of `repack`, of which the agent can change only `writable` files.

    The parent folders in the agent's workspace belong to root too; otherwise the agent could rename
    them. All are sticky: a user who may add files cannot rename or remove files of another user.
    """
    base = _place(folder)
    packed = _Packed(uid=0, folder_mode=0o1777, writable=writable)
    for parent in (*reversed(base.parents[:-1]), base):
        packed.add_folder(parent)
    packed.add_members(base, archive)
    return packed.content()


class _Packed:
    """A tar archive in the making, which mentions each folder once."""

    def __init__(
        self, *, uid: int, folder_mode: int, writable: frozenset[str] = frozenset()
    ) -> None:
        self._uid = uid
        self._folder_mode = folder_mode
        self._writable = writable
        self._mentioned: set[PurePosixPath] = set()
        self._buffer = io.BytesIO()
        self._tar = tarfile.open(  # noqa: SIM115 - closed by `content`
            fileobj=self._buffer, mode="w", format=tarfile.PAX_FORMAT
        )

    def add_members(self, base: PurePosixPath, archive: bytes) -> None:
        """Add every member of an archive below `base`, with the folders above each."""
        for member, content in safe_members(archive):
            name = base / member.name
            for parent in _folders(name.parent):
                self.add_folder(parent)
            if member.isdir() and str(name) not in _FIXED:
                self.add_folder(name)
            if member.isdir():
                continue
            uid = AGENT_UID if member.name in self._writable else self._uid
            member.name = str(name)
            self._tar.addfile(_owned(member, uid), None if content is None else io.BytesIO(content))

    def add_folder(self, folder: PurePosixPath) -> None:
        """Add a folder, unless it was added before."""
        if folder in self._mentioned:
            return
        self._mentioned.add(folder)
        entry = tarfile.TarInfo(str(folder))
        entry.type = tarfile.DIRTYPE
        entry.mode = self._folder_mode
        # Not 1970: zip archives, and so some builds, refuse files older than 1980.
        entry.mtime = int(time.time())
        self._tar.addfile(_owned(entry, self._uid))

    def content(self) -> bytes:
        """Return the whole archive."""
        self._tar.close()
        return self._buffer.getvalue()


def read_file(
    engine: Engine, container: str, path: str, *, limit_bytes: int, whole: bool
) -> bytes | FileFault:
    """Read a regular file; no folder that the agent could have replaced may be a link."""
    for parent in _folders(PurePosixPath(path).relative_to("/").parent):
        with engine.archive("HEAD", container, f"/{parent}") as response:
            if response.status_code != _OK:
                return _fault(engine, container, response)
            if not _mode(response) & _FOLDER:
                return FileFault.NOT_A_FILE
    with engine.archive("GET", container, path) as response:
        if response.status_code != _OK:
            return _fault(engine, container, response)
        if _mode(response) & _NOT_REGULAR:
            return FileFault.NOT_A_FILE
        return _content(response, limit_bytes, whole=whole)


def _fault(engine: Engine, container: str, refusal: requests.Response) -> FileFault:
    """Return the fault of a path that the agent made; a fault of the engine raises SandboxError.

    The engine follows symlinks, so it fails at a loop of them, or at an impossible target. If it
    can still show the root of the sandbox, the path is at fault.
    """
    with engine.archive("HEAD", container, _ROOT) as response:
        if response.status_code != _OK:
            why = refusal.text.strip()[:300] or f"status {refusal.status_code}"
            message = f"Docker could not read a file of the sandbox: {why}; "
            raise SandboxError(message + "check that the sandbox still exists.")
    missing = refusal.status_code == _NOT_FOUND
    return FileFault.MISSING if missing else FileFault.NOT_A_FILE


def _content(response: requests.Response, limit_bytes: int, *, whole: bool) -> bytes | FileFault:
    if whole and int(_stat(response)["size"]) > limit_bytes:
        return FileFault.TOO_LARGE
    received = bytearray()
    for chunk in response.iter_content(_TAR_BYTES):
        received += chunk
        if len(received) > limit_bytes + _TAR_BYTES:
            if whole:
                return FileFault.TOO_LARGE
            break
    return _first_member(bytes(received), limit_bytes, whole=whole)


def _first_member(archive: bytes, limit_bytes: int, *, whole: bool) -> bytes | FileFault:
    # A live process may have changed the file since it was examined.
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            member = tar.next()
            stream = tar.extractfile(member) if member is not None and member.isreg() else None
            if stream is None:
                return FileFault.NOT_A_FILE
            content = stream.read(limit_bytes + whole)
    except tarfile.TarError:
        return FileFault.NOT_A_FILE
    return content if len(content) <= limit_bytes else FileFault.TOO_LARGE


def _mode(response: requests.Response) -> int:
    """Return the mode of a path, in Go's format."""
    return int(_stat(response)["mode"])


def _stat(response: requests.Response) -> dict[str, int | str]:
    return json.loads(base64.b64decode(response.headers["X-Docker-Container-Path-Stat"]))


def _folders(path: PurePosixPath) -> Iterator[PurePosixPath]:
    """Yield a folder and its parents, outermost first, without those that no agent can replace."""
    for folder in (*reversed(path.parents), path):
        if str(folder) not in _FIXED:
            yield folder


def _place(folder: str) -> PurePosixPath:
    """Return a folder relative to the root; raises SandboxError if the harness may not write it."""
    base = PurePosixPath(folder).relative_to("/")
    if base.parts[:1] not in _PLACES or ".." in base.parts:
        message = f"reb may not write files to /{base}; use the workspace, the home of the agent"
        raise SandboxError(message + " or its folder.")
    return base


def _owned(member: tarfile.TarInfo, uid: int) -> tarfile.TarInfo:
    # Debian 12's Python is 3.11.2, whose members have no `replace` yet.
    member.uid = member.gid = uid
    member.uname = member.gname = ""
    return member
