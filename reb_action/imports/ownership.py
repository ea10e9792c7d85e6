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

    `imports` has, for every counted path, the names that the file imports. `NAME` is provided by a
    file `NAME.py`, or a folder `NAME` with a counted file somewhere below, if it stands

    - in a folder that can be on the search path: one that is no regular package (has no
      `__init__.py`), such as the root, `src` or `tools`; or
    - for every file that imports the name: in the folder of that file or one above it, where
      pyright, and Python running the file as a script, find it.

    So `pkg/datasets/` does not make `datasets` local, if `pkg` is a package and `tests/` needs
    the distribution of that name.
    """
    places = _places(imports)
    packages = {PurePosixPath(path).parent for path in imports if path.endswith("__init__.py")}
    return frozenset(
        name
        for name, folders in places.items()
        if not folders <= packages or _is_always_near(name, folders, imports)
    )


def _places(paths: Iterable[str]) -> dict[str, set[PurePosixPath]]:
    """Return, for every name, the folders in which a module or package of that name stands."""
    places: dict[str, set[PurePosixPath]] = {}
    for path in map(PurePosixPath, paths):
        for inner in (path, *path.parents[:-1]):
            name = inner.stem if inner == path else inner.name
            places.setdefault(name, set()).add(inner.parent)
    places.pop("__init__", None)
    return places


def _is_always_near(
    name: str, folders: set[PurePosixPath], imports: Mapping[str, frozenset[str]]
) -> bool:
    importing = [PurePosixPath(path) for path, names in imports.items() if name in names]
    return bool(importing) and not any(folders.isdisjoint(path.parents) for path in importing)
