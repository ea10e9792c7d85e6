"""Looks where else an interpreter may find the repository's own modules, without running any.

Run by the sandbox's own trusted interpreter: `python3 -I -S copies.py in.json`. The request names
`search_paths`, `own` (the folders and files of the checkout that are its modules) and `modules`:
for each top-level name the files of the commit, {path below the module: [[size, git blob hash]]},
the path being empty where the module is a file. The answer, on standard output, lists the files
that stand in a search path and not in the checkout, and are of the commit by name alone (`copies`).
It also lists the untracked modules of the checkout that Python finds before one of the standard
library or an installed one (`shadowing`): `repository` is the checkout, `tracked` its tracked files
and `standard` the names of the standard library. For each of the `hooks` it has the SHA-256 of the
`hook_files` that stand in its folder.
"""

import hashlib
import json
import os
import stat
import sys

LIMIT, LISTED, HASHED = 50, 20000, 1 << 20


def shown(path):
    """Return a path as text that JSON can carry: an agent names files in any bytes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def state(path):
    """Tell whether a regular file is there, and its size; links are followed, as Python does."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False, 0
    return stat.S_ISREG(found.st_mode), found.st_size


def differs(path, editions):
    """Tell whether a file is as in none of the editions that the commit has of it."""
    size = state(path)[1]
    wanted = [blob for bytes_of, blob in editions if bytes_of == size]
    if not wanted:
        return True
    digest = hashlib.sha1(b"blob %d\0" % size)
    try:
        with open(path, "rb") as stream:
            digest.update(stream.read(size))
    except OSError:
        return True
    return digest.hexdigest() not in wanted


def edited(place, files):
    """Return the files of a copy that differ; a module of the same name alone is no copy."""
    at = {below: os.path.join(place, below) if below else place + ".py" for below in files}
    paths = {at[below]: files[below] for below in files}
    there = [path for path in sorted(paths) if state(path)[0]]
    if 2 * len(there) < len(paths):
        return []
    return [path for path in there if differs(path, paths[path])]


def module_name(folder, name):
    """Return the module that Python makes of a name in a folder, or None."""
    if os.path.isdir(os.path.join(folder, name)):
        return name if package(os.path.join(folder, name)) else None
    stem, _, suffix = name.partition(".")
    known = suffix in ("py", "pyc", "so") or suffix.endswith(".so")
    return stem if known and state(os.path.join(folder, name))[0] else None


def package(folder):
    """Tell whether a folder is a regular package."""
    names = ("__init__.py", "__init__.pyc", "__init__.so")
    return any(state(os.path.join(folder, name))[0] for name in names)


def is_installed(module, folders):
    """Tell whether a module is in one of the folders."""
    for folder in folders:
        place = os.path.join(folder, module)
        if package(place) or state(place + ".py")[0]:
            return True
    return False


def shadowing(request):
    """Return the untracked modules of the checkout that stand for others, as paths in it."""
    root = os.path.realpath(request["repository"])
    tracked = set(request["tracked"])
    tracked |= {os.path.dirname(path) for path in tracked}
    inside, outside = [], []
    for folder in dict.fromkeys(os.path.realpath(path) for path in request["search_paths"]):
        own = folder == root or folder.startswith(root + os.sep)
        # An environment in the checkout is no part of it.
        (inside if own and "site-packages" not in folder else outside).append(folder)
    found = []
    for folder in inside:
        try:
            names = sorted(os.listdir(folder))[:LISTED]
        except OSError:
            continue
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            module = None if path in tracked else module_name(folder, name)
            standard = module in request["standard"]
            if module and (standard or is_installed(module, outside)):
                found.append(path)
    return found


def hashes(folder, names):
    """Return the SHA-256 of those of the names that are small files of a folder."""
    found = {}
    for name in names:
        path = os.path.join(folder, name)
        there, size = state(path)
        if there and size < HASHED:
            try:
                with open(path, "rb") as stream:
                    found[name] = hashlib.sha256(stream.read(HASHED)).hexdigest()
            except OSError:
                continue
    return found


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], "rb") as stream:
        request = json.loads(stream.read().decode())
    own = {os.path.realpath(path) for path in request["own"]}
    found = []
    for folder in dict.fromkeys(request["search_paths"]):
        for name, files in sorted(request["modules"].items()):
            place = os.path.join(folder, name)
            if os.path.realpath(place) not in own and os.path.realpath(place + ".py") not in own:
                packaged = {below: files[below] for below in files if below}
                alone = {below: files[below] for below in files if not below}
                found += edited(place, packaged) if packaged else []
                found += edited(place, alone) if alone else []
    answer = {
        "copies": [shown(path) for path in found[:LIMIT]],
        "hooks": {
            hook: hashes(os.path.dirname(hook.partition(": ")[2]), request["hook_files"])
            for hook in request["hooks"]
        },
        "shadowing": [shown(path) for path in shadowing(request)[:LIMIT]],
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
