"""Looks at the sandbox's files without running any of them.

Run by the sandbox's own trusted interpreter: `python3 -I -S survey.py in.json`. The request names
`repository`, `tracked` ([path, executable, is link, git blob hash] each) and `interpreter`; the
answer is JSON on standard output: changed tracked files, what shadowed them, untracked native
modules, and what kind of file the interpreter is.
"""

import hashlib
import json
import os
import shutil
import stat
import sys

NATIVE_LIMIT = 2000
FOLDERS_LIMIT = 200_000
SKIPPED = {".git", "node_modules"}
ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")


def blob(path, is_link):
    """Return git's hash of a file's content, or of a symbolic link's target."""
    if is_link:
        data = os.fsencode(os.readlink(path))
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    digest = hashlib.sha1(b"blob %d\0" % os.lstat(path).st_size)
    with open(path, "rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def change(root, path, executable, is_link, expected):
    """Return how a tracked file differs from the commit, or None."""
    full = os.path.join(root, path)
    try:
        mode = os.lstat(full).st_mode
    except OSError:
        return "deleted"
    right_type = stat.S_ISLNK(mode) if is_link else stat.S_ISREG(mode)
    if not right_type or (not is_link and bool(mode & 0o100) != executable):
        return "modified"
    try:
        return None if blob(full, is_link) == expected else "modified"
    except OSError:
        return "modified"


def is_module(path):
    """Tell whether a file is an extension module: an ELF that can initialise a module."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as stream:
            data = stream.read(256 << 20)
    except OSError:
        return False
    return data.startswith(b"\x7fELF") and b"PyInit_" in data


def open_up(folders):
    """Give the owner back what it needs of its own folders: an agent may have taken it away."""
    for folder in folders:
        if os.path.isdir(folder) and not os.path.islink(folder):
            try:
                os.chmod(folder, 0o755)
            except OSError:
                continue


def walk(root):
    """Yield (folder, names of folders, names of files) like os.walk, however deep it goes."""
    waiting, seen = [root], 0
    while waiting and seen < FOLDERS_LIMIT:
        folder, seen = waiting.pop(), seen + 1
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        files = [entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)]
        yield folder, names, files
        waiting += [os.path.join(folder, name) for name in names]


def stale(root, tracked):
    """Remove and return what would run in the place of a tracked module.

    Bytecode beside the sources, and folders that are packages of the same name as a module.
    """
    removed = []
    for folder, names, _ in walk(root):
        for name in list(names):
            full = os.path.join(folder, name)
            path = os.path.relpath(full, root)
            shadow = path + ".py" in tracked and not os.path.islink(full)
            if name in SKIPPED or not (name == "__pycache__" or shadow):
                continue
            if not any(other.startswith(path + "/") for other in tracked):
                shutil.rmtree(full, ignore_errors=True)
                names.remove(name)
                removed += [path] if shadow else []
    return sorted(removed)[:NATIVE_LIMIT]


def native(root, tracked):
    """Return untracked extension modules of the checkout: what was built in place."""
    found = []
    for folder, names, files in walk(root):
        names[:] = [name for name in names if name not in SKIPPED]
        if any(os.path.exists(os.path.join(folder, mark)) for mark in ENVIRONMENTS):
            names[:] = []
            continue
        paths = (os.path.relpath(os.path.join(folder, name), root) for name in files)
        paths = [path for path in paths if path.endswith(".so") and path not in tracked]
        found += [path for path in paths if is_module(os.path.join(root, path))]
    return sorted(found)[:NATIVE_LIMIT]


def interpreter(path):
    """Return what the file is: `resolved`, `kind` (elf, script, other, missing...), `cpython`."""
    seen = {"resolved": os.path.realpath(path), "kind": "missing", "cpython": False}
    if not os.path.exists(path):
        return dict(seen, kind="broken link" if os.path.islink(path) else "missing")
    if not os.path.isfile(path):
        return dict(seen, kind="not a file")
    if not os.access(path, os.X_OK):
        return dict(seen, kind="not executable")
    try:
        with open(path, "rb") as stream:
            data = stream.read(256 << 20)
    except OSError:
        return dict(seen, kind="not readable")
    if data.startswith(b"\x7fELF"):
        marks = (b"Py_BytesMain", b"Py_RunMain", b"libpython3")
        return dict(seen, kind="elf", cpython=any(mark in data for mark in marks))
    return dict(seen, kind="script" if data.startswith(b"#!") else "other")


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], "rb") as stream:
        request = json.loads(stream.read().decode())
    root = request["repository"]
    open_up([*request["folders"], root])
    names = {entry[0] for entry in request["tracked"]}
    changes = ((entry[0], change(root, *entry)) for entry in request["tracked"])
    answer = {
        "touched": [pair for pair in changes if pair[1] is not None],
        "shadows": stale(root, names),
        "native": native(root, names),
        "interpreter": interpreter(request["interpreter"]) if request["interpreter"] else None,
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
