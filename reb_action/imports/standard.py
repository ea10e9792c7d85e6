"""The top-level names of the standard library, by version of Python."""

import sys
from collections.abc import Mapping
from typing import Final

_PYTHON_2: Final = """
    BaseHTTPServer CGIHTTPServer ConfigParser Cookie HTMLParser Queue SimpleHTTPServer SocketServer
    StringIO Tkinter UserDict UserList UserString __builtin__ anydbm cPickle cStringIO commands
    cookielib copy_reg dummy_thread exceptions htmlentitydefs httplib md5 sets sha thread
    tkFileDialog tkMessageBox urllib2 urlparse xmlrpclib
"""

# They cannot be installed, and no Python 3 has them under this name.
_NEVER_INSTALLED: Final = "__main__ _typeshed test"

_ADDED: Final[Mapping[int, str]] = {
    9: "graphlib zoneinfo",
    11: "tomllib",
    14: "annotationlib compression",
}

_REMOVED: Final[Mapping[int, str]] = {
    8: "macpath",
    9: "_dummy_threading dummy_threading",
    10: "formatter parser symbol",
    11: "binhex",
    12: "asynchat asyncore distutils imp smtpd",
    13: """
        aifc audioop cgi cgitb chunk crypt imghdr lib2to3 mailcap msilib nis nntplib ossaudiodev
        pipes sndhdr spwd sunau telnetlib uu xdrlib
    """,
}

_LATER_OR_EARLIER: Final = " ".join((*_ADDED.values(), *_REMOVED.values()))

STANDARD_LIBRARY: Final = sys.stdlib_module_names | frozenset(
    f"{_PYTHON_2} {_LATER_OR_EARLIER} {_NEVER_INSTALLED}".split()
)
"""Top-level names that no environment has to install.

The running interpreter's own list, and the names of other versions that it lacks, so that a verdict
does not depend on the harness's Python: names renamed in 3.0, removed in 3.8 to 3.13, added since
3.9; and three unlisted ones. Source: "What's New in Python", 3.0 to 3.14.
"""


def is_standard(name: str, *, version: tuple[int, int]) -> bool:
    """Return whether a Python of this version has the name, or no Python 3 ever had it.

    What that version lacks, an environment has to bring, or has to be of another version.
    """
    return name in STANDARD_LIBRARY and not is_absent(name, version=version)


def is_absent(name: str, *, version: tuple[int, int]) -> bool:
    """Return whether only the standard library of another Python 3 has the name."""
    minor = version[1]
    removed = any(name in names.split() for since, names in _REMOVED.items() if minor >= since)
    return removed or any(name in names.split() for since, names in _ADDED.items() if minor < since)
