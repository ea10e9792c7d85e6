"""Looks which modules stand in an interpreter's search paths, as its path finder would find them.

Run by the sandbox's own trusted interpreter: `python3 -I -S modules.py in.json`; nothing is
imported. The request has `search_paths`, `version` (such as `311`), `skipped` (paths that do not
count) and `modules` ([dotted name, names imported from it] each). The answer, on standard output:
`missing`, for each module the part of its dotted name up to the first that stands nowhere, or null.
"""

import functools
import json
import os
import stat
import sys
import zipfile

TEXT_LIMIT = 256 << 10
EXTENDING = (b"extend_path", b"declare_namespace", b"__path__")


@functools.lru_cache(None)
def entries(folder):
    """Return the names in a folder."""
    try:
        return frozenset(os.listdir(folder))
    except (OSError, ValueError):
        return frozenset()


@functools.lru_cache(None)
def archived(path):
    """Return the top-level names of a search path that is a zip archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(name.split("/")[0].split(".")[0] for name in archive.namelist())
    except Exception:
        # A broken archive fails in many ways.
        return frozenset()


def text(path):
    """Return the first bytes of a regular file, or nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return stream.read(TEXT_LIMIT)
    except (OSError, ValueError):
        pass
    return b""


class Finder:
    """Finds modules by their dotted names; what a package does when it runs is not known here."""

    def __init__(self, paths, version, skipped):
        self.paths, self.skipped = paths, frozenset(skipped)
        self.endings = (".py", ".pyc", ".so", ".abi3.so")
        self.tagged = ".cpython-%s-" % version

    def file(self, folder, name):
        """Return the name of the file in a folder that is the module of this name."""
        for ending in self.endings:
            if name + ending in entries(folder):
                return name + ending
        start = name + self.tagged
        found = (one for one in entries(folder) if one.startswith(start) and one.endswith(".so"))
        return next(found, None)

    def step(self, folders, name):
        """Return the folders in which the parts of a module stand, () for a plain module, or None.

        A folder without an `__init__` is one of several portions, and counts where no package does.
        """
        portions = []
        for folder in folders:
            path = os.path.join(folder, name)
            if path in self.skipped:
                continue
            if os.path.isfile(folder) and name in archived(folder):
                return [None]
            if name in entries(folder) and os.path.isdir(path):
                init = self.file(path, "__init__")
                if init:
                    rest = folders if self.extends(os.path.join(path, init)) else ()
                    return [path, *self.others(rest, name, path)]
                portions.append(path)
            file = self.file(folder, name)
            if file and os.path.join(folder, file) not in self.skipped:
                return ()
        return portions or None

    def extends(self, init):
        """Tell whether a package takes parts from other folders of its name."""
        data = text(init)
        return any(word in data for word in EXTENDING)

    def others(self, folders, name, path):
        """Return the other folders of a name."""
        found = (os.path.join(folder, name) for folder in folders)
        return [one for one in found if one != path and os.path.isdir(one)]

    def missing(self, module, names):
        """Return the first part of a dotted name that is missing, or None."""
        folders, parts = self.paths, module.split(".")
        for depth, part in enumerate(parts, 1):
            folders = self.step(folders, part)
            if folders is None or (not folders and depth < len(parts)):
                return ".".join(parts[: depth + (folders is not None)])
            if folders == [None]:
                return None
        if not folders or any(self.file(folder, "__init__") for folder in folders):
            return None
        lost = (name for name in names if name != "*" and self.step(folders, name) is None)
        return next((module + "." + name for name in lost), None)


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], "rb") as stream:
        request = json.loads(stream.read().decode())
    paths = [path for path in dict.fromkeys(request["search_paths"]) if "\0" not in path]
    finder = Finder(paths, request["version"], request["skipped"])
    missing = [finder.missing(module, names) for module, names in request["modules"]]
    sys.stdout.write(json.dumps({"missing": missing}))


if __name__ == "__main__":
    main()
