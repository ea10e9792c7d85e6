"""Describes files of the sandbox for `survey.py`, without running them.

A helper module of the probe: it is imported from the read-only folder of the probes.
"""

import hashlib
import itertools
import os
import stat

from hook_files import configuration_text, links, versions

LISTED_LIMIT, ENTRIES_LIMIT, READ_LIMIT = 20000, 1000000, 256 << 20


def shown(path):
    """Return a path as text that JSON can carry: an agent names files in any bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def mode_of(path):
    """Return the mode of a path itself, without following links; 0 if it does not exist."""
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return 0


def allow(path, mode):
    """Give a file or folder the mode of the commit; without permission a later step fails."""
    try:
        os.chmod(path, mode)
    except OSError:
        return


def open_up(folder):
    """Restore the owner's permissions on its own folder, which an agent may have removed."""
    mode = mode_of(folder)
    if stat.S_ISDIR(mode) and mode & 0o700 != 0o700:
        allow(folder, 0o755)


def listed(folder):
    """Return the names in a folder, of very many only the first."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in itertools.islice(entries, LISTED_LIMIT)]
    except OSError:
        return []


def inits(folder):
    """Return the names that may make a package of a folder, among however many others."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.startswith("__init__.")]
    except OSError:
        return []
    return sorted(name for name in names if name.endswith((".py", ".pyc", ".so")))


def stamp(path):
    """Return the change time of a file, in ns: only the kernel sets it."""
    try:
        return os.lstat(path).st_ctime_ns
    except (OSError, ValueError):
        return 0


def blob(path, is_link, size):
    """Return git's hash of a file's content, or of a symbolic link's target."""
    digest = hashlib.sha1(b"blob %d\0" % size)
    if is_link:
        digest.update(os.fsencode(os.readlink(path)))
        return digest.hexdigest()
    with open(path, "rb") as stream:
        while size > 0:
            block = stream.read(min(size, 1 << 20))
            digest.update(block)
            size = size - len(block) if block else 0
    return digest.hexdigest()


def walk(root):
    """Yield (folder, names of folders, names of files) like os.walk, to any depth.

    The last one is (None, [], []) if there were too many entries to read all of them.
    """
    waiting, left = [root], ENTRIES_LIMIT
    while waiting and left > 0:
        folder, names, files = waiting.pop(), [], []
        open_up(folder)
        try:
            with os.scandir(folder) as entries:
                for entry in itertools.islice(entries, left):
                    (names if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        except OSError:
            continue
        left -= 1 + len(names) + len(files)
        yield folder, names, files
        waiting += [os.path.join(folder, name) for name in names]
    if left <= 0:
        yield None, [], []


def is_native(path):
    """Return whether a file is an ELF file, which Python may load under the name of a module.

    Its content is not read: the entry point of a module may be in a library that it needs.
    """
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as stream:
            return stream.read(4) == b"\x7fELF"
    except OSError:
        return False


def identity(path):
    """Return a hash of all that decides which program a path runs, and from which folders.

    The links on the way, the content of the file, and the pyvenv.cfg of each.
    """
    digest = hashlib.sha256()
    for place in links(path):
        settings = configuration_text(place)
        digest.update(b"%s\0%s\0" % (os.fsencode(place), settings or b""))
    try:
        with open(path, "rb") as stream:
            digest.update(stream.read(READ_LIMIT))
    except (OSError, ValueError):
        digest.update(b"cannot be read")
    return digest.hexdigest()


def interpreter(path):
    """Return facts about the file: `kind` (elf, script, other, missing...), `cpython`, `resolved`.

    `identity` changes with any part of it. `versions` are the texts in a program with a built-in
    interpreter that look like its version; empty if a library has the interpreter.
    """
    seen = {"resolved": shown(os.path.realpath(path)), "kind": "missing", "cpython": False}
    seen["identity"] = identity(path) if os.path.isfile(path) else ""
    if not os.path.exists(path):
        return dict(seen, kind="broken link" if os.path.islink(path) else "missing")
    if not os.path.isfile(path):
        return dict(seen, kind="not a file")
    if not os.access(path, os.X_OK):
        return dict(seen, kind="not executable")
    try:
        with open(path, "rb") as stream:
            data = stream.read(READ_LIMIT)
    except OSError:
        return dict(seen, kind="not readable")
    if data.startswith(b"\x7fELF"):
        marks = (b"Py_BytesMain", b"Py_RunMain", b"libpython3")
        found = [mark for mark in marks if mark in data]
        whole = bool(found) and b"libpython3" not in data
        return dict(seen, kind="elf", cpython=bool(found), versions=versions(data) if whole else [])
    return dict(seen, kind="script" if data.startswith(b"#!") else "other")
