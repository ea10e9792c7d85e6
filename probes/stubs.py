"""Checks whether modules have code, without running them.

Run by the sandbox's own trusted interpreter: `python3 -I -S stubs.py in.json`. The request has
`search_paths` (of the reported interpreter), `names` (top-level modules), `native` (paths of
extension modules built in the checkout), `skipped` (paths that count for no name) and `led` ([name,
path] of modules that the reported interpreter finds elsewhere). The answer, on standard output:
`modules`, for each existing name, whether the metadata of a distribution or a .pth file lists it,
and how many bytes of code it has, up to a limit; `built`, which of `native` can initialise their
module. An unreadable file has no code: an environment may contain any file under any name.
"""

import functools
import glob
import json
import os
import sys
import urllib.parse
import zipfile

# The interpreter runs isolated, so the folder of the probes is not on its path.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from module_code import (  # noqa: E402
    CODE_LIMIT,
    SOURCE_LIMIT,
    code_in,
    code_of_text,
    content,
    defines,
    initialises,
)

METADATA_LIMIT, METADATA_TOTAL = 16 << 20, 64 << 20
ENTRIES_LIMIT, MANY = 4000, 500
NO_PATH = ("#", "import ", "import\t")
LIBRARIES = ("site-packages", "dist-packages", "lib-dynload")


class Metadata:
    """The files that distributions list; each file is read once, all up to a limit."""

    def __init__(self, wanted):
        self.wanted, self.names, self.folders = wanted, set(), set()
        self.left, self.seen, self.editable = METADATA_TOTAL, set(), set()

    def lines(self, path):
        """Return the lines of a metadata file that was not read before."""
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            return []
        if (found.st_dev, found.st_ino) in self.seen:
            return []
        self.seen.add((found.st_dev, found.st_ino))
        data = content(path, min(METADATA_LIMIT, self.left))
        self.left -= len(data)
        return data.decode("utf-8", "replace").splitlines()

    def read(self, folder):
        """Add the files that the distributions in one search path list."""
        for place in glob.iglob(os.path.join(glob.escape(folder), "*.dist-info")):
            for line in self.lines(os.path.join(place, "RECORD")):
                first = line.split(",")[0].split("/")[0]
                self.names |= {first.split(".")[0]} & self.wanted
            self.read_origin(place)
        for path in sorted(glob.iglob(os.path.join(glob.escape(folder), "*.pth")))[:MANY]:
            lines = (line.strip() for line in self.lines(path))
            named = (
                one for one in lines if one and "\0" not in one and not one.startswith(NO_PATH)
            )
            self.folders |= {os.path.realpath(os.path.join(folder, one)) for one in named}
        found = glob.iglob(os.path.join(glob.escape(folder), "*-info", "top_level.txt"))
        for path in [*found, os.path.join(folder, "EGG-INFO", "top_level.txt")]:
            for line in self.lines(path):
                self.names |= set(line.split()) & self.wanted

    def read_origin(self, place):
        """Add the folder that a distribution is an editable install of."""
        try:
            origin = json.loads("".join(self.lines(os.path.join(place, "direct_url.json"))))
            if origin["dir_info"]["editable"] and origin["url"].startswith("file:///"):
                self.editable.add(os.path.realpath(urllib.parse.unquote(origin["url"][7:])))
        except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
            return

    def is_editable(self, path):
        """Return whether a path lies in a folder that a distribution is an editable install of."""
        real = os.path.realpath(path)
        return any(real.startswith(os.path.join(one, "")) for one in self.editable)


@functools.lru_cache(None)
def is_library(folder):
    """Return whether a folder holds installed modules, or the standard library."""
    if os.path.basename(folder) in LIBRARIES:
        return True
    # A package may have its own `os.py`, as aiofiles does. The standard library is not a package.
    inside = [os.path.isfile(os.path.join(folder, name)) for name in ("os.py", "__init__.py")]
    return inside == [True, False]


def is_another(path, name):
    """Return whether a file, links followed, is a module that is installed under another name."""
    folder, below = os.path.split(os.path.realpath(path))
    while folder != "/":
        if is_library(folder):
            return below.split(".")[0] != name
        folder, below = os.path.split(folder)
    return False


def files_of(place):
    """Yield the files of a module: itself, or those below its folder, up to a limit."""
    if not os.path.isdir(place):
        yield place
        return
    waiting, seen = [place], 0
    while waiting and seen < ENTRIES_LIMIT:
        try:
            entries = sorted(os.scandir(waiting.pop(0)), key=lambda entry: entry.name)
        except OSError:
            continue
        seen += len(entries)
        waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        for entry in entries[:ENTRIES_LIMIT]:
            if os.path.isfile(entry.path):
                yield entry.path


def places(folder, wanted, skipped=()):
    """Return {name: [paths]} of the files that a folder has for the wanted names."""
    found = {}
    try:
        entries = os.listdir(folder)
    except (OSError, ValueError):
        return found
    for entry in entries:
        path, name = os.path.join(folder, entry), entry.split(".")[0]
        plain = entry == name and os.path.isdir(path)
        if (
            name in wanted
            and path not in skipped
            and (plain or entry.endswith((".py", ".so", ".pyc")))
        ):
            found.setdefault(name, []).append(path)
    return found


def zipped(path, metadata):
    """Return {name: bytes of code} of a search path that is a zip archive, as eggs may be."""
    found = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for one in archive.infolist():
                name = one.filename.split("/")[0].split(".")[0]
                if one.filename == "EGG-INFO/top_level.txt":
                    metadata.names |= set(archive.open(one).read(METADATA_LIMIT).decode().split())
                if name in metadata.wanted and one.filename.endswith((".py", ".pyc")):
                    found.setdefault(name, 0)
                    if found[name] < CODE_LIMIT:
                        data = archive.open(one).read(SOURCE_LIMIT)
                        found[name] += code_of_text(data, one.filename)
    except Exception:
        # A broken archive fails in many ways; keep the part that was read.
        return found
    return found


def code_of(name, paths):
    """Return how much code the places of a module have, up to a limit."""
    code = 0
    for path in (path for place in paths for path in files_of(place)):
        code += 0 if is_another(path, name) else code_in(path)
        if code >= CODE_LIMIT:
            break
    return min(code, CODE_LIMIT)


def defines_something(places_of_module):
    """Return whether a module has a definition or an import, and not only values.

    Anyone can name a folder in a .pth file. So a module with only a few values there is a stub.
    """
    files = (path for place in places_of_module for path in files_of(place))
    return any(defines(path) for path in files)


def look(request):
    """Return the answer to a request."""
    wanted, standing, packed = set(request["names"]), {}, {}
    skipped = frozenset(request["skipped"])
    paths = [path for path in dict.fromkeys(request["search_paths"]) if "\0" not in path]
    metadata = Metadata(wanted)
    for folder in paths:
        metadata.read(folder)
        for name, code in zipped(folder, metadata).items() if os.path.isfile(folder) else ():
            packed[name] = packed.get(name, 0) + code
        for name, found in places(folder, wanted, skipped).items():
            standing.setdefault(name, []).extend(found)
    for folder in paths:
        if os.path.realpath(folder) in metadata.folders:
            found = places(folder, wanted).items()
            metadata.names |= {name for name, stood in found if defines_something(stood)}
    for name, place in request["led"]:
        standing.setdefault(name, []).append(place)
        metadata.names |= {name} if metadata.is_editable(place) else set()
    modules = []
    for name in sorted({*standing, *packed}):
        code = min(code_of(name, standing.get(name, ())) + packed.get(name, 0), CODE_LIMIT)
        modules.append({"name": name, "listed": name in metadata.names, "code_bytes": code})
    built = [path for path in request["native"] if initialises(path)]
    return {"modules": modules, "built": built}


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], "rb") as stream:
        request = json.loads(stream.read().decode())
    sys.stdout.write(json.dumps(look(request)))


if __name__ == "__main__":
    main()
