"""Copies files into and out of the scratch folder of a local sandbox; symlinks are not trusted."""

import os
import stat
import subprocess
from pathlib import Path, PurePosixPath

from reb_action.errors import SandboxError
from reb_action.sandbox.archive import safe_members
from reb_action.sandbox.protocol import FileFault

_REMOVE_SECONDS = 600
_NO_LINK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NAME_ONLY = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


def unpack(root: Path, folder: Path, archive: bytes) -> None:
    """Unpack into a folder below root; conflicting files, especially symlinks, are replaced."""
    if not folder.is_relative_to(root) or ".." in folder.parts:
        message = f"{folder} is outside the local sandbox {root}; put files below it."
        raise SandboxError(message)
    _make_folder(root, folder)
    for member, content in safe_members(archive):
        target = folder / member.name
        if member.isdir():
            _make_folder(root, target)
            continue
        _make_folder(root, target.parent)
        _clear(target)
        if content is None:
            target.symlink_to(member.linkname)
        else:
            target.write_bytes(content)
            target.chmod(member.mode)


def read_file(root: Path, path: str, *, limit_bytes: int, whole: bool) -> bytes | FileFault:
    """Read a regular file; below root no component of its path may be a symlink.

    Files without read permission are also read, as in a container.
    """
    inside = Path(path).is_relative_to(root)
    base = root if inside else Path(path).parent
    parts = PurePosixPath(path).relative_to(base).parts
    try:
        descriptor = _open_step_by_step(base, parts, allow=inside)
    except FileNotFoundError:
        return FileFault.MISSING
    except OSError:
        # A link (ELOOP), a file as a folder (ENOTDIR), a socket (ENXIO).
        return FileFault.NOT_A_FILE
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return FileFault.NOT_A_FILE
    with os.fdopen(descriptor, "rb") as stream:
        content = stream.read(limit_bytes + whole)
    return content if len(content) <= limit_bytes else FileFault.TOO_LARGE


def measure_tree(folder: Path) -> int | None:
    """Return the bytes of disk that a folder uses; None is unknown."""
    argv = ["du", "--summarize", "--block-size=1", "--one-file-system", "--", str(folder)]
    try:
        done = subprocess.run(argv, check=False, capture_output=True, timeout=_REMOVE_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    # A file that vanishes meanwhile is an error of du, which still prints the sum.
    size = done.stdout.split(b"\t")[0]
    return int(size) if size.isdigit() else None


def put_link(root: Path, link: Path, target: Path) -> None:
    """Create a symlink below root; conflicting files, also on its path, are replaced."""
    if link.is_symlink() and link.readlink() == target and link.parent.resolve() == link.parent:
        return
    _make_folder(root, link.parent)
    _clear(link)
    link.symlink_to(target)


def remove_tree(*folders: Path) -> None:
    """Remove folders with everything below, also where an agent took away the permission.

    By `rm`, which goes as deep as folders can be nested; Python's own way ends at its stack.
    """
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
        left = [str(folder) for folder in folders if os.path.lexists(folder)]
        if not left:
            return
        argv = [*command, "--", *left]
        # Only the end of an output is waited for without pauses.
        out, err = subprocess.PIPE, subprocess.DEVNULL
        subprocess.run(argv, check=False, stdout=out, stderr=err, timeout=_REMOVE_SECONDS)
    left = [folder for folder in folders if os.path.lexists(folder)]
    if left:
        message = f"{left[0]} could not be removed; check who owns its files and remove it by hand."
        raise SandboxError(message)


def _make_folder(root: Path, folder: Path) -> None:
    path = root
    for part in folder.relative_to(root).parts:
        path /= part
        if path.is_symlink() or not path.is_dir():
            _clear(path)
            path.mkdir()


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink(missing_ok=True)


def _open_step_by_step(base: Path, parts: tuple[str, ...], *, allow: bool) -> int:
    descriptor = os.open(base, os.O_RDONLY | os.O_CLOEXEC)
    for part in parts:
        parent = descriptor
        try:
            if allow:
                _allow_owner(part, parent)
            descriptor = os.open(part, _NO_LINK, dir_fd=parent)
        finally:
            os.close(parent)
    return descriptor


def _allow_owner(name: str, parent: int) -> None:
    """Give the owner permission to read a file or folder; never through a symlink."""
    descriptor = os.open(name, _NAME_ONLY, dir_fd=parent)
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        needed = 0o500 if stat.S_ISDIR(os.fstat(descriptor).st_mode) else 0o400
        # An O_PATH descriptor allows no fchmod; its entry in /proc allows chmod.
        if mode & needed != needed:
            Path(f"/proc/self/fd/{descriptor}").chmod(mode | needed)
    finally:
        os.close(descriptor)
