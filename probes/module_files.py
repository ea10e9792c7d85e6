"""Finds the modules of a folder's files for `copies.py`: by names only, without running code.

A helper module of the probe: it is imported from the read-only folder of the probes.
"""

import os
import stat

# Every suffix of a module that any version of CPython imports ends with one of these.
SUFFIXES = (".py", ".pyc", ".so")


def state(path):
    """Return whether a regular file is there, and its size; links are followed, as Python does."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False, 0
    return stat.S_ISREG(found.st_mode), found.st_size


def names_in(folder):
    """Yield the names in a folder, in no special order; of very many none is left out."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry.name
    except (OSError, ValueError):
        return


def package(folder):
    """Return whether a folder is a regular package, under any suffix."""
    if state(os.path.join(folder, "__init__.py"))[0]:
        return True
    inits = (name for name in names_in(folder) if name.partition(".")[0] == "__init__")
    return any(name.endswith(SUFFIXES) and state(os.path.join(folder, name))[0] for name in inits)


def module_name(folder, name):
    """Return the module that Python makes of a name in a folder, or None."""
    path = os.path.join(folder, name)
    if name.isidentifier() and os.path.isdir(path):
        return name if package(path) else None
    stem = name.partition(".")[0]
    return stem if stem.isidentifier() and name.endswith(SUFFIXES) and state(path)[0] else None


def shadowing(request):
    """Return the paths of untracked modules of the checkout that are imported before others."""
    root = os.path.realpath(request["repository"])
    tracked = set(request["tracked"])
    tracked |= {os.path.dirname(path) for path in tracked}
    inside, outside = [], []
    for folder in dict.fromkeys(os.path.realpath(path) for path in request["search_paths"]):
        own = folder == root or folder.startswith(root + os.sep)
        # An environment in the checkout is not part of it.
        (inside if own and "site-packages" not in folder else outside).append(folder)
    installed = (module_name(folder, name) for folder in outside for name in names_in(folder))
    others, found = set(request["standard"]) | set(installed), []
    for folder in inside:
        for name in names_in(folder):
            path = os.path.relpath(os.path.join(folder, name), root)
            if name.partition(".")[0] in others and path not in tracked:
                found += [path] if module_name(folder, name) else []
    return sorted(found)
