"""Tells third-party names from the standard library's and the repository's own: the strict C0."""

import sys
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from reb_action.imports.counting import is_counted

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


def local_names(paths: Iterable[str]) -> frozenset[str]:
    """Return the top-level names that the repository itself provides, from its tracked paths.

    A name is local if it is a counted `NAME.py`, or a folder `NAME` with a counted file somewhere
    below, and stands in a folder that can be on the search path: one that is no regular package
    (has no `__init__.py` of its own), such as the root, `src` or `tools`. So `src/pkg/datasets/`
    does not make `datasets` local, if `pkg` is a package.
    """
    counted = [PurePosixPath(path) for path in paths if is_counted(path)]
    packages = {path.parent for path in counted if path.name == "__init__.py"}
    return frozenset(
        inner.stem if inner.suffix == ".py" else inner.name
        for path in counted
        for inner in (path, *path.parents)
        if inner.name and inner.name != "__init__.py" and inner.parent not in packages
    )
