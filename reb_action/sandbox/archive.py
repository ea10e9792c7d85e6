"""Packs tar archives for sandboxes; reads them, refusing what could reach outside a folder."""

import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from reb_action.errors import SandboxError


def safe_members(archive: bytes) -> Iterator[tuple[tarfile.TarInfo, bytes | None]]:
    """Yield the folders, regular files (with their content) and symbolic links of an archive.

    Names are relative and without `..`; modes have no setuid bits. A symlink may point anywhere,
    because repositories have such symlinks. The caller must not write through one.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as tar:
            for member in tar:
                _require_harmless(member)
                stream = tar.extractfile(member) if member.isreg() else None
                content = None if stream is None else stream.read()
                # Debian 12's Python is 3.11.2, whose members have no `replace` yet.
                member.mode &= 0o777
                yield member, content
    except tarfile.TarError as error:
        message = f"The archive to put into the sandbox cannot be read ({error}); make it again."
        raise SandboxError(message) from error


def _require_harmless(member: tarfile.TarInfo) -> None:
    name = PurePosixPath(member.name)
    kind_is_fine = member.isreg() or member.isdir() or member.issym()
    if name.is_absolute() or ".." in name.parts or not kind_is_fine:
        message = f"The archive to put into the sandbox has {member.name!r}, which may be outside "
        raise SandboxError(message + "its folder or is not a file, folder or link; remove it.")


EARLIEST: Final = 315_619_200
"""1980-01-02 UTC: wheels are zip files, which have no earlier time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A folder, a symlink or otherwise a file; `path` is relative."""

    path: str
    content: bytes = b""
    executable: bool = False
    folder: bool = False
    link: str | None = None


def pack(members: Iterable[Member], *, mtime: int = EARLIEST) -> bytes:
    """Return a tar archive in GNU format: names of any bytes and length, owner 0, no user names."""
    buffer = io.BytesIO()
    with tarfile.open(
        fileobj=buffer,
        mode="w",
        format=tarfile.GNU_FORMAT,
        encoding="utf-8",
        errors="surrogateescape",
    ) as archive:
        for member in members:
            archive.addfile(_header(member, mtime), io.BytesIO(member.content))
    return buffer.getvalue()


def _header(member: Member, mtime: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(member.path)
    header.mtime = mtime
    header.size = len(member.content)
    header.mode = 0o755 if member.executable or member.folder else 0o644
    if member.folder:
        header.type = tarfile.DIRTYPE
    elif member.link is not None:
        header.type, header.linkname, header.mode = tarfile.SYMTYPE, member.link, 0o777
    return header
