"""Reads regular files, counts the code of module files, and reads the symbols of native libraries.

A module of the probe, not a probe: it is imported from the read-only folder of the probes.
"""

import os
import re
import stat
import struct

CODE_LIMIT, SOURCE_LIMIT, LINE_LIMIT = 4096, 64 << 10, 100
TABLE_LIMIT, DYNAMIC_SYMBOLS = 32 << 20, 11
# Comments and string literals, whether they end or not: no code is in them.
NO_CODE = re.compile(
    rb'#[^\n]*|(?:\b[bfru]{1,2})?(?:"""(?:\\.|[^\\])*?(?:"""|\Z)|\'\'\'(?:\\.|[^\\])*?(?:\'\'\'|\Z)'
    rb'|"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?)',
    re.DOTALL | re.IGNORECASE,
)
DEFINITION = re.compile(rb"^\s*(?:(?:async\s+)?def|class|import|from)\s", re.MULTILINE)


def opened(path):
    """Open a regular file; raises OSError for any other file, and never blocks on a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("no regular file")
    return os.fdopen(descriptor, "rb")


def content(path, limit):
    """Return the first bytes of a regular file, or nothing."""
    try:
        with opened(path) as stream:
            return stream.read(limit)
    except (OSError, ValueError):
        return b""


def exports(stream):
    """Return (symbols, names) of an ELF's dynamic symbol table; 64 bits, little end first."""
    head = stream.read(64)
    if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
        return b"", b""
    size, count = struct.unpack_from("<HH", head, 58)
    stream.seek(struct.unpack_from("<Q", head, 40)[0])
    headers = stream.read(size * count)
    sections = [struct.unpack_from("<IIQQQQII", headers, at) for at in range(0, len(headers), size)]
    for one in (one for one in sections if one[1] == DYNAMIC_SYMBOLS):
        parts = []
        for section in (one, sections[one[6]]):
            stream.seek(section[4])
            parts.append(stream.read(min(section[5], TABLE_LIMIT)))
        return parts
    return b"", b""


def initialises(path):
    """Return whether a file is a native library with the entry point of a module of its name."""
    name = b"PyInit_" + os.fsencode(os.path.basename(path).split(".")[0]) + b"\0"
    try:
        with opened(path) as stream:
            symbols, names = exports(stream)
    except (OSError, ValueError, IndexError, OverflowError, struct.error):
        return False
    at = {found.start() for found in re.finditer(re.escape(name), names)}
    whole = symbols[: len(symbols) // 24 * 24] if at else b""
    return any(one[0] in at and one[3] for one in struct.iter_unpack("<IBBHQQ", whole))


def code_in(path):
    """Return how many bytes of code a file has, without comments, strings and fillers."""
    if path.endswith(".so"):
        return CODE_LIMIT if initialises(path) else 0
    return code_of_text(content(path, SOURCE_LIMIT), path)


def defines(path):
    """Return whether a file has a definition or an import; bytecode and libraries count by size."""
    if not path.endswith(".py"):
        return code_in(path) > 0
    return bool(DEFINITION.search(NO_CODE.sub(b"", content(path, SOURCE_LIMIT))))


def code_of_text(data, name):
    """Return how many bytes of code a source or bytecode file of this content has."""
    if name.endswith(".pyc"):
        # A header of 16 bytes, whose magic number ends a line, and a code object.
        return len(data) if data[2:4] == b"\r\n" and data[16:17] in (b"\xe3", b"c") else 0
    if b"\0" in data or not name.endswith(".py"):
        return 0
    lines = (line.strip() for line in NO_CODE.sub(b"", data).splitlines())
    return sum(min(len(line), LINE_LIMIT) for line in lines if line not in (b"pass", b"..."))
