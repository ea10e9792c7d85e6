"""Spoils a copy of a CUDA library, so that it no longer fits the card or what was linked to it.

    python spoil.py other-cards LIBRARY     all its kernels are for cards that are not there
    python spoil.py older LIBRARY NAME…     it lacks these exported symbols, as an older one would

The layout of a fat binary is that of `fatbinary.h` in NVIDIA's toolkit: a magic number, a header,
then entries, each with its size and the architecture that it is for.
"""

import struct
import sys
from pathlib import Path

MAGIC = bytes.fromhex("50ed55ba")
HEADER = struct.Struct("<IHHQ")  # magic, version, size of the header, size of the entries
ENTRY = struct.Struct("<HHIQIIHHI")  # kind, attributes, header, payload, four more, architecture
ARCHITECTURE = 28  # its offset in an entry
OTHER = 120


def other_cards(library):
    """Set the architecture of each entry, and return how many there were.

    >>> payload = ENTRY.pack(2, 1, 64, 0, 0, 0, 0, 0, 90).ljust(64, bytes(1))
    >>> library = bytearray(b"head" + HEADER.pack(0xBA55ED50, 1, 16, 64) + payload)
    >>> other_cards(library), ENTRY.unpack_from(library, 20)[-1]
    (1, 120)
    """
    changed, place = 0, library.find(MAGIC)
    while place >= 0:
        _, _, header, size = HEADER.unpack_from(library, place)
        here, end = place + header, place + header + size
        while here < end:
            _, _, head, payload, *_ = ENTRY.unpack_from(library, here)
            struct.pack_into("<I", library, here + ARCHITECTURE, OTHER)
            here, changed = here + head + payload, changed + 1
        place = library.find(MAGIC, end)
    return changed


def older(library, *names):
    """Rename each exported symbol, which so is not found any more; return how often one was met.

    >>> library = bytearray(b"pncclNew" + bytes(1))
    >>> older(library, "ncclNew"), bytes(library)
    (1, b'pnccl_ew\\x00')
    """
    changed = 0
    for name in map(str.encode, names):
        changed += library.count(name + b"\0")
        library[:] = library.replace(name + b"\0", name[:4] + b"_" + name[5:] + b"\0")
    return changed


def main(way, path, *names):
    library = bytearray(Path(path).read_bytes())
    changed = other_cards(library) if way == "other-cards" else older(library, *names)
    if not changed:
        sys.exit(f"{path}: nothing there to spoil")
    # The file may be a link to the right one: what is written takes the link's place.
    Path(path).unlink()
    Path(path).write_bytes(library)


if __name__ == "__main__":
    main(*sys.argv[1:])
