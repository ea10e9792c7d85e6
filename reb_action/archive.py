"""Packs files of ours into tar archives for sandboxes: same members, same bytes, on any machine."""

import io
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

EARLIEST: Final = 315_619_200
"""1980-01-02 UTC: wheels are zip files, which know no earlier time."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """A folder, a symbolic link or, when neither, a file; `path` is relative."""

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
