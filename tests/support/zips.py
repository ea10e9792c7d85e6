"""Makes zips for tests: what an upload of ours looks like, and what an attacker would send."""

import stat
import struct
import zipfile
import zlib
from io import BytesIO

END = 22
"""The bytes of a zip's last record."""
LINK = (stat.S_IFLNK | 0o777) << 16
FIFO = (stat.S_IFIFO | 0o666) << 16


def made(files, *, attributes=None, method=zipfile.ZIP_DEFLATED):
    """Return a zip of (name, content) pairs; `attributes` are of all of them."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            info.external_attr = 0o644 << 16 if attributes is None else attributes
            archive.writestr(info, content)
    return stream.getvalue()


def said_otherwise(data, old, new):
    """Return a zip in which a name of the same length stands for another, everywhere."""
    assert len(old) == len(new)
    assert old in data
    return data.replace(old, new)


def lying_about_size(name, content):
    """Return a zip whose member says that it unpacks to one byte."""
    data = made([(name, content)])
    packed = struct.pack("<L", len(content))
    return data.replace(packed, struct.pack("<L", 1))


def encrypted(data):
    """Return a zip that says of its members that they are encrypted."""
    return data.replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00"
    )


def crowded(count, *, said=None):
    """Return a zip with that many empty members of different names, made in no time."""
    crc = zlib.crc32(b"")
    names = [b"%07d" % number for number in range(count)]
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 0, 0, 0, crc, 0, 0, 7, 0)
    central = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, crc, 0, 0, 7, 0, 0, 0, 0, 0, 0
    )
    body = local + names[0]
    directory = b"".join(central + name for name in names)
    said = min(count, 0xFFFF) if said is None else said
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, said, said, len(directory), len(body), 0)
    return body + directory + end
