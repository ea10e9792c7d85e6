"""Tells third-party names from the standard library's and the repository's own: the strict C0."""

import sys
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

_PYTHON_2: Final = """
    BaseHTTPServer CGIHTTPServer ConfigParser Cookie HTMLParser Queue SimpleHTTPServer SocketServer
    StringIO Tkinter UserDict UserList UserString __builtin__ anydbm cPickle cStringIO commands
    cookielib copy_reg dummy_thread exceptions htmlentitydefs httplib md5 sets sha thread
    tkFileDialog tkMessageBox urllib2 urlparse xmlrpclib
"""

_REMOVED: Final = """
    _dummy_threading aifc asynchat asyncore audioop binhex cgi cgitb chunk crypt distutils
    dummy_threading formatter imghdr imp lib2to3 macpath mailcap msilib nis nntplib ossaudiodev
    parser pipes smtpd sndhdr spwd sunau symbol telnetlib uu xdrlib
"""

_ADDED: Final = "annotationlib compression tomllib zoneinfo graphlib"

_NEVER_INSTALLED: Final = "__main__ _typeshed test"

STANDARD_LIBRARY: Final = sys.stdlib_module_names | frozenset(
    f"{_PYTHON_2} {_REMOVED} {_ADDED} {_NEVER_INSTALLED}".split()
)
"""Top-level names that no environment is asked to install.

The running interpreter's own list, and what it lacks of other versions' lists, so that a verdict
does not hang on the harness's Python: names renamed in 3.0, removed in 3.8 to 3.13, added since
3.9; and three that exist without being listed. Source: "What's New in Python", 3.0 to 3.14.
"""


def third_party(names: Iterable[str], *, local: frozenset[str]) -> frozenset[str]:
    """Return the names that somebody has to install: neither standard library nor `local`."""
    return frozenset(names) - STANDARD_LIBRARY - local


def local_names(imports: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Return the top-level names that the repository itself provides.

    `imports` has, for every counted path, the names that the file imports. The repository provides

    - folders of the root with a counted file somewhere below;
    - modules and regular packages (with an `__init__.py`) that stand in no regular package, at
      any depth, so in a folder that can be on the search path, such as the root, `src`, `tools`;
    - anything by that name which every file that imports it has beside or above itself, where
      pyright, and Python running that file as a script, find it.

    So neither `pkg/datasets/` in a regular package nor `train/datasets/` full of scripts makes
    `datasets` local, if `tests/` needs the distribution of that name.
    """
    paths = [PurePosixPath(path) for path in imports]
    packages = {path.parent for path in paths if path.name == "__init__.py"}
    places = _places(paths)
    return frozenset(
        name
        for name, standing in places.items()
        if any(_can_be_found(place, packages) for place in standing)
        or _is_always_near(name, {place.parent for place in standing}, imports)
    )


def _places(paths: Iterable[PurePosixPath]) -> dict[str, set[PurePosixPath]]:
    """Return, for every name, the modules (by file) and folders of that name."""
    places: dict[str, set[PurePosixPath]] = {}
    for path in paths:
        for inner in (path, *path.parents[:-1]):
            places.setdefault(inner.stem if inner == path else inner.name, set()).add(inner)
    places.pop("__init__", None)
    return places


def _can_be_found(place: PurePosixPath, packages: set[PurePosixPath]) -> bool:
    is_root = place.parent == PurePosixPath()
    is_regular = place.suffix == ".py" or place in packages
    return is_root or (is_regular and packages.isdisjoint(place.parents))


def _is_always_near(
    name: str, folders: set[PurePosixPath], imports: Mapping[str, frozenset[str]]
) -> bool:
    importing = [PurePosixPath(path) for path, names in imports.items() if name in names]
    return bool(importing) and not any(folders.isdisjoint(path.parents) for path in importing)
