"""The modules, packages and folders of a repository, as Python's path finder would see them."""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_INIT: Final = "__init__"
_SUFFIXES: Final = (".py", ".so")
_EXTENDING: Final = (b"extend_path", b"declare_namespace", b"__path__")
# Ways in which a module gets names that its text does not have, and lookalikes that bind nothing.
_BINDING: Final = re.compile(
    rb"import\s*\(?\s*\*|exec|globals|locals|vars|setattr|__dict__|__getattr__|__name__|modules"
)
_HARMLESS: Final = re.compile(
    rb"getLogger\(__name__\)|(extend_path|declare_namespace)\((__path__, *)?__name__\)"
)
_ROUNDS: Final = 3
_LIMIT: Final = 200_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The result of a dotted name in one folder: the files that importing it runs, in order.

    `folder` is the package or folder that it ends in, if it ends in one. `is_whole`: no component
    is missing. `is_closed`: the first component is a module or package that takes no parts from
    other folders, so a part that is not in it cannot be imported.
    """

    files: tuple[str, ...]
    folder: str | None
    is_whole: bool
    is_closed: bool


class Modules:
    """The importable modules of a repository's files, with symlinks followed.

    `files` are the paths of sources and of extension modules; `links` are the repository's
    symlinks, from path to target in the repository.
    """

    def __init__(
        self, files: Iterable[str], *, texts: Mapping[str, bytes], links: Mapping[str, str]
    ) -> None:
        self._texts = texts
        self._real: dict[str, str] = {path: path for path in files if path.endswith(_SUFFIXES)}
        self._follow(links)
        self.folders = {folder for path in self._real for folder in above(path)} | {""}
        self._seen: dict[tuple[str, str], Found | None] = {}
        self._files = {_stem(path): path for path in sorted(self._real, reverse=True)}

    def _follow(self, links: Mapping[str, str]) -> None:
        for _ in range(_ROUNDS):
            for link, target in links.items():
                below = [path for path in self._real if _is_in(path, target)]
                for path in below[: _LIMIT - len(self._real)]:
                    self._real.setdefault(link + path[len(target) :], self._real[path])

    def real(self, path: str) -> str:
        """Return the file that a path leads to."""
        return self._real.get(path, path)

    def is_package(self, folder: str) -> bool:
        """Return whether a folder is a regular package."""
        return posixpath.join(folder, _INIT) in self._files

    def base_of(self, path: str) -> str:
        """Return the folder that has to be on the search path for a file to be in its package."""
        folder = posixpath.dirname(path)
        while folder and self.is_package(folder):
            folder = posixpath.dirname(folder)
        return folder

    def is_in_package(self, folder: str) -> bool:
        """Return whether a folder is below a regular package."""
        return any(above and self.is_package(above) for above in (folder, *above(folder)))

    def find(self, root: str, module: str) -> Found | None:
        """Follow a dotted name from a folder of the search path; None if it does not begin there.

        An empty name stands for the folder itself.
        """
        if (root, module) not in self._seen:
            self._seen[root, module] = self._find(root, module.split(".") if module else [])
        return self._seen[root, module]

    def _find(self, root: str, parts: list[str]) -> Found | None:
        files: list[str] = []
        folder, is_closed = root, False
        for position, part in enumerate(parts):
            place = posixpath.join(folder, part)
            is_first, is_last = position == 0, position == len(parts) - 1
            if self.is_package(place):
                files.append(self._files[posixpath.join(place, _INIT)])
                is_closed = not self._is_extending(files[-1]) if is_first else is_closed
            elif place in self._files:
                found = (*files, self._files[place])
                is_closed = is_closed or is_first
                return Found(files=found, folder=None, is_whole=is_last, is_closed=is_closed)
            elif place not in self.folders:
                lost = Found(files=tuple(files), folder=None, is_whole=False, is_closed=is_closed)
                return None if is_first else lost
            folder = place
        return Found(files=tuple(files), folder=folder, is_whole=True, is_closed=is_closed)

    def can_have(self, path: str, name: str) -> bool:
        """Return whether a source can have a name: only one that says nothing of it cannot."""
        text = self._texts.get(self.real(path))
        if text is None or not name.isascii():
            return True
        return name.encode() in text or bool(_BINDING.search(_HARMLESS.sub(b"", text)))

    def _is_extending(self, path: str) -> bool:
        text = self._texts.get(self.real(path), b"")
        return any(word in text for word in _EXTENDING)


def _stem(path: str) -> str:
    folder, name = posixpath.split(path)
    return posixpath.join(folder, name.partition(".")[0])


def above(path: str) -> Iterator[str]:
    """Yield each folder above a path."""
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(1, len(parts)))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
