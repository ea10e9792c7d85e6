"""Surveys the sandbox's files without running them, and makes room for the commit's files.

Run by the sandbox's own trusted interpreter: `python3 -I -S survey.py in.json`. The request names
`repository`, `removed` (a folder to create for files that are moved away), `tracked` ([path,
executable, is link, size, git blob hash] each) and `interpreter`. The answer is JSON on standard
output: changed tracked files by their index, the change time of each (0 if it is missing),
shadowing files that were moved away or could not be, untracked native modules, and the kind of the
interpreter's file. The size of the commit limits the time: files of the agent are never listed,
read or removed without a limit.
"""

import itertools
import json
import os
import stat
import sys

# The interpreter runs isolated, so the folder of the probes is not on its path.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from hook_files import list_hooks  # noqa: E402
from survey_files import (  # noqa: E402
    LISTED_LIMIT,
    allow,
    blob,
    inits,
    interpreter,
    is_native,
    listed,
    mode_of,
    open_up,
    shown,
    stamp,
    walk,
)

NATIVE_LIMIT = 2000
SKIPPED = {".git", "node_modules"}
ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
CACHE = "__pycache__"


class Checkout:
    """The checkout, and the files moved out of it: renaming takes no time for any size."""

    def __init__(self, root, tracked, removed):
        """Take the root, the tracked paths, and the folder for what goes."""
        self.root, self.removed = root, removed
        self.tracked = set(tracked)
        parts = (path.split("/")[:-1] for path in tracked)
        self.folders = {"/".join(part[:end]) for part in parts for end in range(len(part) + 1)}
        self.shadows, self.stuck, self.count = [], [], itertools.count()

    def at(self, path):
        """Return the absolute path of a path of the checkout."""
        return os.path.join(self.root, path) if path else self.root

    def move(self, path, told=True):
        """Move a path away and return its new path; record whether it was moved or stays."""
        full = self.at(path)
        open_up(full)
        try:
            os.makedirs(self.removed, exist_ok=True)
            place = os.path.join(self.removed, str(next(self.count)))
            os.rename(full, place)
        except OSError:
            self.stuck.append(path)
            return None
        self.shadows += [path] if told else []
        return place

    def open_folders(self):
        """Make every tracked folder a folder again, not a link, and its owner's to change."""
        for path in sorted(self.folders):
            mode = mode_of(self.at(path))
            if mode and not stat.S_ISDIR(mode):
                self.move(path)
            open_up(self.at(path))

    def clear_caches(self):
        """Move away the bytecode of tracked sources, which may come from other sources."""
        for folder in sorted(self.folders):
            path = os.path.join(folder, CACHE)
            mode = mode_of(self.at(path))
            if mode and path not in self.tracked:
                odd = not stat.S_ISDIR(mode) or self.is_unchecked(path)
                if path in self.folders and self.is_emptied(path, told=odd):
                    continue
                place = self.move(path, told=odd)
                if path in self.folders and place:
                    self.bring_back(path, place)

    def is_emptied(self, path, told):
        """Move untracked files out of a tracked folder, unless there are too many.

        Tracked files stay where they are: they may belong to root, and a move would change them.
        """
        names = listed(self.at(path))
        if not stat.S_ISDIR(mode_of(self.at(path))) or len(names) == LISTED_LIMIT:
            return False
        for name in sorted(names):
            if path + "/" + name not in self.tracked | self.folders:
                self.move(path + "/" + name, told=told)
        return True

    def bring_back(self, path, place):
        """Move the tracked files of a folder back from its new place."""
        os.mkdir(self.at(path))
        for one in self.tracked:
            moved = os.path.join(place, os.path.basename(one))
            if os.path.dirname(one) == path and mode_of(moved):
                os.rename(moved, self.at(one))

    def is_unchecked(self, path):
        """Return whether a cache has bytecode that Python would not compare with its source."""
        open_up(self.at(path))
        names = listed(self.at(path))
        if len(names) == LISTED_LIMIT:
            return True
        for name in names:
            full = os.path.join(self.at(path), name)
            if name.endswith(".pyc") and stat.S_ISREG(mode_of(full)):
                try:
                    with open(full, "rb") as stream:
                        if stream.read(8)[4:] == b"\1\0\0\0":
                            return True
                except OSError:
                    continue
        return False

    def clear_shadows(self):
        """Move away files that would be imported instead of a tracked module.

        That is a package, or a symlink to one, with the name of a module; of a tracked folder with
        that name, only the files that make it a package. If a folder of modules is not a package at
        the commit, it is the files that would make it one, and a module with its name.
        """
        for path in sorted(self.tracked):
            if path.endswith(".py") and path[:-3] not in self.tracked:
                name, makers = path[:-3], self.makers(path[:-3])
                if name in self.folders:
                    self.move_all(makers)
                elif makers:
                    self.move(name)
        modules = {os.path.dirname(path) for path in self.tracked if path.endswith(".py")}
        for folder in sorted(modules - {""}):
            if folder + "/__init__.py" not in self.tracked and folder + ".py" not in self.tracked:
                self.move_all([folder + ".py", folder + ".pyc", *self.makers(folder)])

    def makers(self, folder):
        """Return the files that make a folder, or a symlink's target, a package."""
        if not os.path.isdir(self.at(folder)):
            return []
        open_up(self.at(folder))
        found = [os.path.join(folder, name) for name in inits(self.at(folder))]
        return [path for path in found if mode_of(self.at(path))]

    def move_all(self, paths):
        """Move away those of the paths that are there, not tracked and not empty."""
        for path in paths:
            mode = mode_of(self.at(path))
            empty = stat.S_ISREG(mode) and os.lstat(self.at(path)).st_size == 0
            if mode and path not in self.tracked and not empty:
                self.move(path)

    def change(self, path, executable, is_link, size, expected):
        """Return how a tracked file differs from the commit, or None."""
        full = self.at(path)
        mode = mode_of(full)
        if not mode:
            return "deleted"
        if not (stat.S_ISLNK(mode) or stat.S_ISREG(mode)):
            self.move(path, told=False)
            return "modified"
        if is_link or stat.S_ISLNK(mode):
            same = is_link and stat.S_ISLNK(mode)
        else:
            same = bool(mode & 0o100) == executable
            if mode & 0o600 != 0o600:
                allow(full, 0o755 if executable else 0o644)
        try:
            # A file of another size needs no hash, so a large file of an agent costs no time.
            same = same and os.lstat(full).st_size == size
            return None if same and blob(full, is_link, size) == expected else "modified"
        except OSError:
            return "modified"


def native(checkout):
    """Return untracked native files of the checkout, and whether any may be left out."""
    found, more = [], []
    for folder, names, files in walk(checkout.root):
        if folder is None:
            more.append("and those among too many files to examine")
            break
        path = os.path.relpath(folder, checkout.root)
        tracked = path == "." or path in checkout.folders
        if not tracked and any(mark in files or mark in names for mark in ENVIRONMENTS):
            names[:] = []
            continue
        names[:] = [name for name in names if name not in SKIPPED]
        for name in (name for name in files if name.endswith(".so")):
            path = os.path.relpath(os.path.join(folder, name), checkout.root)
            if path not in checkout.tracked and is_native(os.path.join(folder, name)):
                found.append(shown(path))
    if len(found) > NATIVE_LIMIT:
        more.append("and %d more" % (len(found) - NATIVE_LIMIT))
    return sorted(found)[:NATIVE_LIMIT] + more


def main():
    """Answer the request named on the command line."""
    with open(sys.argv[1], "rb") as stream:
        request = json.loads(stream.read().decode())
    for folder in request["folders"]:
        open_up(folder)
    paths = [entry[0] for entry in request["tracked"]]
    checkout = Checkout(request["repository"], paths, request["removed"])
    checkout.open_folders()
    checkout.clear_caches()
    checkout.clear_shadows()
    changes = [checkout.change(*entry) for entry in request["tracked"]]
    answer = {
        "touched": [[index, change] for index, change in enumerate(changes) if change],
        "stamps": [stamp(checkout.at(path)) for path in paths],
        "native": native(checkout),
        "interpreter": interpreter(request["interpreter"]) if request["interpreter"] else None,
        "hooks": [shown(hook) for hook in list_hooks(request["start"])] if request["start"] else [],
        "shadows": [shown(path or ".") for path in checkout.shadows],
        "stuck": [shown(path or ".") for path in checkout.stuck],
    }
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
