"""Separates a repository's own modules from third-party modules: the strict C0.

The decision is made for each file, by what Python would import there. The search path of a file has

- the root of the repository, and its `src`;
- the folders that its build files name; only packages in them count;
- the folder where the file's own package begins; outside packages, the file's own folder (unless
  others import the file as a part of that folder), as for every script with a `__main__`;
- the folders above it that contain scripts and are not packages;
- the folders that the file adds to `sys.path`, if its text shows which;
- the search path of every file that imports it, because they run in one process.

A file never imports itself. A folder without `__init__.py` provides the modules in it, but not its
own name. A folder that takes parts from elsewhere provides the parts that it has.
"""

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from reb_action.imports.build_files import declared_roots
from reb_action.imports.evaluation import CHECKOUT
from reb_action.imports.files import Files
from reb_action.imports.modules import Found, Modules, above
from reb_action.imports.providers import Ownership
from reb_action.imports.syntax import Contents, Import, read_contents

_ROUNDS: Final = 20


def owners(files: Files, *, version: tuple[int, int]) -> Ownership:
    """Decide for each import of each counted file whether the repository provides it."""
    return _Search(files, version).run()


class _Search:
    """A repository under analysis: the folders on the search path of each file."""

    def __init__(self, files: Files, version: tuple[int, int]) -> None:
        self._read = {
            path: read_contents(text, path=path, version=version)
            for path, text in files.counted.items()
        }
        known = [*files.counted, *files.others]
        self._modules = Modules(known, texts=files.counted, links=files.links)
        self._packages = declared_roots(files.build) - {""}
        src = () if self._modules.is_package("src") else ("src",)
        self._common = {"", *src, *files.paths}
        self._bare: frozenset[tuple[str, str]] = frozenset()
        self._scripted: set[str] = set()

    def run(self) -> Ownership:
        self._start(frozenset())
        self._spread()
        self._start(self._members())
        self._spread()
        own: set[str] = set()
        wanted: dict[Import, set[str]] = {}
        lent: dict[Import, set[str]] = {}
        for path, each, root in self._decided():
            if root is None:
                wanted.setdefault(each, set()).update(self._open_folders(path, each))
                continue
            own.add(each.name)
            if self._is_bare_folder(root, each):
                lent.setdefault(each, set()).add(posixpath.join(root, each.name))
        beside = {one: frozenset(folders) for one, folders in (lent | wanted).items() if folders}
        return Ownership(own=frozenset(own), wanted=tuple(wanted), lent=tuple(lent), beside=beside)

    def _decided(self) -> Iterator[tuple[str, Import, str | None]]:
        """Yield each absolute import, its file, and the folder that provides it, if one does."""
        flags = frozenset[str]().union(*(contents.flags for contents in self._read.values()))
        for path, contents in self._read.items():
            for each in (part for one in contents.imports for part in _by_name(one)):
                root, _ = self._provider(path, each) or (None, ())
                # Under a flag for the module's presence, an absent module is not missing.
                optional = each.optional or bool(each.given & flags)
                yield path, replace(each, optional=optional, given=frozenset()), root

    def _open_folders(self, path: str, each: Import) -> set[str]:
        """Return the folders of a name that Python joins to an installed package."""
        found = {root: self._modules.find(root, each.name) for root in self._roots[path]}
        return {
            posixpath.join(root, each.name)
            for root, seen in found.items()
            if seen is not None and not seen.is_closed
        }

    def _is_bare_folder(self, root: str, each: Import) -> bool:
        seen = self._modules.find(root, each.name)
        return seen is not None and not seen.is_closed and not seen.files

    def _start(self, members: frozenset[str]) -> None:
        """Give each file the search path that it brings itself."""
        scripts = {posixpath.dirname(path) for path in self._read if path not in members}
        self._scripted = {one for one in scripts if not self._modules.is_package(one)}
        self._roots = {path: self._common | self._base(path, members) for path in self._read}
        self._bare = self._confirmed()

    def _members(self) -> frozenset[str]:
        """Return the files that others import as a part of a folder without `__init__.py`.

        Without `__main__` they are not scripts, so their folder is on no search path.
        """
        found: set[str] = set()
        for path, contents in self._read.items():
            for each in (one for one in contents.imports if not one.level):
                root, files = self._provider(path, each) or ("", ())
                found.update(
                    self._modules.real(file) for file in files if posixpath.dirname(file) != root
                )
        return frozenset(path for path in found - {""} if not self._is_script(path))

    def _is_script(self, path: str) -> bool:
        return path in self._read and self._read[path].is_script

    def _base(self, path: str, members: frozenset[str]) -> set[str]:
        """Return the folders of the search path that follow from a file's place."""
        contents, base = self._read[path], self._modules.base_of(path)
        added = {folder for name in contents.folders for folder in _inside(name, path)}
        added |= {posixpath.dirname(path)} if contents.is_script else set()
        added |= self._scripted & {*above(path)} - {posixpath.dirname(path)}
        # A folder without `__init__.py` inside a package is part of it.
        while base and self._modules.is_in_package(base):
            base = self._modules.base_of(base)
        is_member = path in members and base == posixpath.dirname(path)
        return added if is_member else {base, *added}

    def _confirmed(self) -> frozenset[tuple[str, str]]:
        """Return the folders without `__init__.py` from which some file imports a module.

        Only then the folder's name alone refers to the repository's folder.
        """
        found: set[tuple[str, str]] = set()
        for path, contents in self._read.items():
            for each in (one for one in contents.imports if not one.level):
                for root in self._roots[path]:
                    seen = self._modules.find(root, each.module)
                    if seen is not None and seen.is_whole and self._has(seen, each):
                        found.add((root, each.name))
        return frozenset(found)

    def _has(self, seen: Found, each: Import) -> bool:
        """Return whether a complete name provides the import: a file, or a part by name."""
        if seen.folder is None:
            return True
        if self._modules.is_package(seen.folder):
            # One that takes parts from elsewhere may lack this one.
            whole = seen.is_closed or not each.names or each.module != each.name
            init = seen.files[-1]
            if whole or any(self._modules.can_have(init, name) for name in each.names):
                return True
        return any(self._part(seen.folder, name) for name in each.names if name != "*")

    def _part(self, folder: str, name: str) -> bool:
        place = posixpath.join(folder, name)
        found = self._modules.find(folder, name)
        return found is not None and (bool(found.files) or place in self._modules.folders)

    def _provider(self, path: str, each: Import) -> tuple[str, tuple[str, ...]] | None:
        """Return from which folder an absolute import runs which files; None if it has none."""
        for root in (*sorted(self._roots[path]), *sorted(self._packages)):
            seen = self._modules.find(root, each.module)
            if seen is None or self._is_itself(path, seen):
                continue
            only_packages = root in self._packages and root not in self._roots[path]
            if only_packages and posixpath.join(root, each.name) not in self._modules.folders:
                continue
            is_own = seen.is_closed and (seen.is_whole or not self._is_loose(root, path))
            if is_own or (seen.is_whole and self._is_there(root, path, each, seen)):
                return root, (*seen.files, *self._parts(seen, each))
        return None

    def _is_loose(self, root: str, path: str) -> bool:
        """Return whether a folder is on the path of a script only if it is run as a module."""
        official = {*self._common, *self._packages, posixpath.dirname(path)}
        return self._is_script(path) and root not in official

    def _is_there(self, root: str, path: str, each: Import, seen: Found) -> bool:
        inside = _is_below(path, posixpath.join(root, each.name))
        is_meant = not each.names and not inside and (root, each.name) in self._bare
        return is_meant or self._has(seen, each)

    def _is_itself(self, path: str, seen: Found) -> bool:
        real = self._modules.real(path)
        is_init = posixpath.basename(path) == "__init__.py"
        return not is_init and bool(seen.files) and self._modules.real(seen.files[-1]) == real

    def _parts(self, seen: Found, each: Import) -> Iterator[str]:
        """Yield the files of submodules that `from package import names` runs."""
        for name in each.names if seen.folder is not None else ():
            found = self._modules.find(seen.folder or "", name) if name != "*" else None
            yield from found.files if found is not None else ()

    def _spread(self) -> None:
        """Give each file the search path of those that import it, until nothing changes."""
        for _ in range(_ROUNDS):
            moved = False
            for path, contents in self._read.items():
                mine = self._roots[path]
                for target in self._targets(path, contents):
                    theirs = self._roots.get(target)
                    if theirs is not None and not mine <= theirs:
                        self._roots[target] = theirs | mine
                        moved = True
            if not moved:
                return

    def _targets(self, path: str, contents: Contents) -> set[str]:
        found: set[str] = set()
        for each in contents.imports:
            if each.level:
                files = self._relative(path, each)
            else:
                _, files = self._provider(path, each) or ("", ())
            found.update(map(self._modules.real, files))
        return found

    def _relative(self, path: str, each: Import) -> tuple[str, ...]:
        folder = posixpath.dirname(path)
        for _ in range(each.level - 1):
            folder = posixpath.dirname(folder)
        seen = self._modules.find(folder, each.module)
        return () if seen is None else (*seen.files, *self._parts(seen, each))


def _inside(name: str, path: str) -> Iterator[str]:
    """Yield the folders of the repository that an entry of `sys.path` can mean."""
    if name.startswith("/"):
        bases: Iterable[str] = ("/",)
    else:
        # Relative to the working directory: the root, or the script's folder.
        bases = (CHECKOUT, f"{CHECKOUT}/{posixpath.dirname(path)}")
    for base in bases:
        whole = posixpath.normpath(posixpath.join(base, name))
        if whole == CHECKOUT:
            yield ""
        elif whole.startswith(f"{CHECKOUT}/"):
            yield whole[len(CHECKOUT) + 1 :]


def _by_name(each: Import) -> Iterator[Import]:
    """Yield an absolute import once for each name that it imports from the module."""
    if not each.level:
        yield from (replace(each, names=(name,)) for name in each.names) if each.names else (each,)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")
