"""Lists the files that an interpreter's search paths have for some modules, by name alone.

Run by the sandbox's own trusted interpreter: `python3 -I -S package_names.py in.json`; nothing is
imported. The request has `search_paths`, `modules` (dotted names; `a.*` is all that stands in `a`)
and `typed` (top-level names of which the content matters).

The answer, on standard output, has `paths`, for each search path null where it is no folder, else
`folders`, `files` and `links` (to be replaced by what they are) relative to it, and `texts`, the
contents of `py.typed` by their paths.
"""

import functools
import json
import os
import re
import stat
import sys

# The interpreter runs isolated, so the folder of the probes is not on its path.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from module_code import content  # noqa: E402

TEXT_LIMIT = 256 << 10
TYPED_LIMIT = 1 << 10
SOURCES = (".py", ".pyi")
BINARIES = (".so", ".pyd", ".dylib")
IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([^\W\d]\w*)", re.MULTILINE)


@functools.lru_cache(None)
def entries(folder):
    """Return the names in a folder, each with whether it is a folder; nothing else but files."""
    found = {}
    try:
        with os.scandir(folder) as listed:
            for entry in listed:
                try:
                    mode = entry.stat().st_mode
                except (OSError, ValueError):
                    continue
                if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                    found[entry.name] = stat.S_ISDIR(mode)
    except (OSError, ValueError):
        pass
    return found


@functools.lru_cache(None)
def by_stem(folder):
    """Return the files in a folder that can be modules, by the name of the module."""
    stems = {}
    for name, is_folder in entries(folder).items():
        if not is_folder and name.endswith((*SOURCES, *BINARIES)):
            stems.setdefault(name.split(".")[0], []).append(name)
    return stems


def tree_of(modules):
    """Return dotted names as a tree of their parts."""
    root = {}
    for module in modules:
        place = root
        for part in module.split("."):
            place = place.setdefault(part, {})
    return root


class Listing:
    """What one search path has: paths relative to it."""

    def __init__(self, root, typed):
        self.root, self.typed = root, typed
        self.folders, self.files, self.links, self.texts = set(), set(), set(), {}

    def add(self, within, wanted):
        """Add the files of a folder for the wanted parts of names."""
        here = os.path.join(self.root, within)
        has = entries(here)
        if "*" in wanted:
            every = {*by_stem(here), *(one for one in has if has[one])}
            wanted = {name: wanted.get(name, {}) for name in every | set(wanted)}
        for name, parts in wanted.items():
            if not within and name in self.typed:
                self.link(name)
                continue
            for folder in (name, name + "-stubs") if not within else (name,):
                if has.get(folder):
                    self.enter(folder if not within else within + "/" + folder, parts)
            self.add_files(within, name)

    def link(self, name):
        """Add all files of a top-level name, unchanged."""
        has = entries(self.root)
        self.links |= {one for one in (name, name + "-stubs") if has.get(one)}
        self.links |= set(by_stem(self.root).get(name, ()))

    def enter(self, folder, parts):
        """Add a folder, with what makes it a package, and the parts that are wanted of it."""
        self.folders.add(folder)
        self.add_files(folder, "__init__")
        if entries(os.path.join(self.root, folder)).get("py.typed") is False:
            place = folder + "/py.typed"
            data = content(os.path.join(self.root, place), TYPED_LIMIT)
            self.texts[place] = data.decode("utf-8", "replace")
        if parts:
            self.add(folder, parts)

    def add_files(self, within, name):
        """Add the files of a module; a stub without a source is a link, as its names count."""
        found = by_stem(os.path.join(self.root, within)).get(name, ())
        only_stub = bool(found) and all(one.endswith(".pyi") for one in found)
        places = (within + "/" + one if within else one for one in found)
        (self.links if only_stub else self.files).update(places)

    def answer(self):
        """Return the listing as JSON can have it."""
        return {
            "folders": sorted(self.folders),
            "files": sorted(self.files),
            "links": sorted(self.links),
            "texts": self.texts,
        }


def closure(paths, typed):
    """Return the top-level names that these packages import as they are imported, and so on."""
    known, waiting = set(), list(typed)
    while waiting:
        name = waiting.pop()
        if name in known:
            continue
        known.add(name)
        for path in paths:
            package = os.path.join(path, name)
            files = [os.path.join(package, one) for one in by_stem(package).get("__init__", ())]
            files += [os.path.join(path, one) for one in by_stem(path).get(name, ())]
            for file in files:
                if file.endswith(SOURCES):
                    names = IMPORTED.findall(content(file, TEXT_LIMIT))
                    waiting += [one.decode() for one in names]
    return known


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], "rb") as stream:
        request = json.loads(stream.read().decode())
    paths = [path if "\0" not in path else "" for path in request["search_paths"]]
    typed = closure([path for path in paths if path], request["typed"])
    wanted = tree_of([*request["modules"], *typed])
    answers = []
    for path in paths:
        if not path or not os.path.isdir(path):
            answers.append(None)
            continue
        listing = Listing(path, typed)
        listing.add("", wanted)
        answers.append(listing.answer())
    sys.stdout.write(json.dumps({"paths": answers}))


if __name__ == "__main__":
    main()
