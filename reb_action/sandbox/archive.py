"""Reads tar archives member by member, refusing all that could reach outside a folder."""

import io
import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from reb_action.errors import SandboxError


def safe_members(archive: bytes) -> Iterator[tuple[tarfile.TarInfo, bytes | None]]:
    """Yield the folders, regular files (with their content) and symbolic links of an archive.

    Names are relative and without `..`; modes without setuid bits. A symbolic link may point
    anywhere, since repositories have such links: whoever unpacks must not write through one.
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
        message = f"The archive to put into the sandbox holds {member.name!r}, which may reach "
        raise SandboxError(
            message + "outside its folder or is no file, folder or link; leave it out."
        )
