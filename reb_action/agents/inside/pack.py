"""Packs what an agent wrote about its run: the newest files that match patterns below a folder.

Started as `python -I -c TEXT FOLDER FILES BYTES PATTERN...` with this text, in the sandbox's own
Python; a tar archive goes to standard output. It follows no symlink in any part of a path, and
skips unreadable files. Standard library only, Python 3.8 syntax.
"""

from __future__ import annotations

import fnmatch
import io
import os
import stat
import sys
import tarfile

DEPTH = 64
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def main() -> None:
    """Write the archive; of too many files, or too large ones, the oldest are left out."""
    root, files, left = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    wanted = {tuple(pattern.split("/")) for pattern in sys.argv[4:]}
    found: list[tuple[float, tuple[str, ...]]] = []
    top = os.open(root, FOLDER)
    look(top, wanted, (), found)
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as tar:
        for _, place in sorted(found, reverse=True):
            content = read(top, place, left + 1) if files else None
            if content is not None and len(content) <= left:
                files, left = files - 1, left - len(content)
                member = tarfile.TarInfo("/".join(place))
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))


def look(
    folder: int,
    wanted: set[tuple[str, ...]],
    at: tuple[str, ...],
    found: list[tuple[float, tuple[str, ...]]],
) -> None:
    """Add the files in an open folder that match the rest of the patterns."""
    for name in os.listdir(folder):
        left = below(wanted, name)
        if not left:
            continue
        try:
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(info.st_mode) and any(set(one) <= {"**"} for one in left):
                found.append((info.st_mtime, (*at, name)))
            elif stat.S_ISDIR(info.st_mode) and len(at) < DEPTH:
                inner = os.open(name, FOLDER, dir_fd=folder)
                try:
                    look(inner, left, (*at, name), found)
                finally:
                    os.close(inner)
        except OSError:
            continue


def below(wanted: set[tuple[str, ...]], name: str) -> set[tuple[str, ...]]:
    """Return the rest of the patterns after a name; as in a shell, `*` matches no leading dot."""
    left: set[tuple[str, ...]] = set()
    for pattern in filter(None, wanted):
        seen = pattern[0].startswith(".") or not name.startswith(".")
        if pattern[0] == "**":
            left |= below({pattern[1:]}, name)
            left |= {pattern} if seen else set()
        elif seen and fnmatch.fnmatchcase(name, pattern[0]):
            left.add(pattern[1:])
    return left


def read(top: int, place: tuple[str, ...], limit: int) -> bytes | None:
    """Return a regular file's content; None if it is not a regular file, or not any more."""
    at = os.dup(top)
    try:
        for name in place[:-1]:
            inner = os.open(name, FOLDER, dir_fd=at)
            os.close(at)
            at = inner
        handle = os.open(place[-1], FILE, dir_fd=at)
        # A folder that took the file's place is refused here.
        with os.fdopen(handle, "rb") as stream:
            return stream.read(limit) if stat.S_ISREG(os.fstat(handle).st_mode) else None
    except OSError:
        return None
    finally:
        os.close(at)


if __name__ == "__main__":
    main()
