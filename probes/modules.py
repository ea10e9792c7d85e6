"""Searches modules in an interpreter's search paths, as its path finder would.

Run by the sandbox's own trusted interpreter: `python3 -I -S modules.py in.json`; nothing is
imported. The request has `search_paths`, `version` (such as `311`), `skipped` (paths that do not
count) and `modules` ([dotted name, name imported from it or "", the repository's own folders of the
top-level name] each). The answer, on standard output: `missing`, for each module its dotted name up
to the first missing part, or null; `module:name` for a missing name.
"""

import functools
import json
import os
import re
import sys
import zipfile

# The interpreter runs isolated, so the folder of the probes is not on its path.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from module_code import opened  # noqa: E402

TEXT_LIMIT = 256 << 10
EXTENDING = (b"extend_path", b"declare_namespace", b"__path__")
# How a module gets names that its text does not have.
BINDING = re.compile(
    rb"import\s*\(?\s*\*|exec|globals|locals|vars|setattr|__dict__|__getattr__|__name__|modules"
)
# Uses of a module's own name that bind nothing.
HARMLESS = re.compile(
    rb"getLogger\(__name__\)|(extend_path|declare_namespace)\((__path__, *)?__name__\)"
)


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
    """Return the first bytes of a regular file, or None."""
    try:
        with opened(path) as stream:
            return stream.read(TEXT_LIMIT)
    except (OSError, ValueError):
        return None


def can_have(code, name):
    """Return whether a module can have a name: only a source that says nothing of it cannot."""
    data = text(code) if code.endswith(".py") else None
    if data is None or len(data) == TEXT_LIMIT or not name.isascii():
        return True
    return name.encode() in data or bool(BINDING.search(HARMLESS.sub(b"", data)))


class Finder:
    """Finds modules by their dotted names, without the effects of running a package."""

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

    def step(self, folders, name, own=()):
        """Return the folders of a module's parts and the file that it runs; None if it is missing.

        A plain module has no folders. A folder without an `__init__` is one of several portions
        without a file to run, and counts if there is no package. `own` folders are never skipped.
        """
        portions = []
        for folder in folders:
            path = os.path.join(folder, name)
            if path in self.skipped and path not in own:
                continue
            if os.path.isfile(folder) and name in archived(folder):
                return [None], None
            if name in entries(folder) and os.path.isdir(path):
                init = self.file(path, "__init__")
                if init:
                    init = os.path.join(path, init)
                    return [path, *self.others(folders, name, path)][: self.width(init)], init
                portions.append(path)
            file = self.file(folder, name)
            if file and os.path.join(folder, file) not in self.skipped:
                return [], os.path.join(folder, file)
        return (portions, None) if portions else None

    def width(self, init):
        """Return how many folders a package has: one, unless it takes parts from others."""
        data = text(init) or b""
        return None if any(word in data for word in EXTENDING) else 1

    def others(self, folders, name, path):
        """Return the other folders of a name."""
        found = (os.path.join(folder, name) for folder in folders)
        return [one for one in found if one != path and os.path.isdir(one)]

    def missing(self, module, name, own):
        """Return the first part of a dotted name that is missing, or None."""
        folders, parts, code = [*map(os.path.dirname, own), *self.paths], module.split("."), None
        for depth, part in enumerate(parts, 1):
            found = self.step(folders, part, own)
            if found is None or (not found[0] and depth < len(parts)):
                return ".".join(parts[: depth + (found is not None)])
            folders, code = found
            if folders == [None]:
                return None
        if name in ("", "*") or self.step(folders, name) or (code and can_have(code, name)):
            return None
        return module + ":" + name


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], "rb") as stream:
        request = json.loads(stream.read().decode())
    paths = [path for path in dict.fromkeys(request["search_paths"]) if "\0" not in path]
    finder = Finder(paths, request["version"], request["skipped"])
    missing = [finder.missing(*asked) for asked in request["modules"]]
    sys.stdout.write(json.dumps({"missing": missing}))


if __name__ == "__main__":
    main()
