"""Makes a CUDA library unfit for every existing card: `python other_cards.py LIBRARY`.

Every kernel in it, compiled or as PTX, is then for an architecture of its own. It runs where an
environment is built, by that environment's interpreter, and imports nothing of this package.

A library keeps its kernels in fat binaries: a magic number, a header with the size of what
follows, then entries, each with its size and the architecture that it is for (NVIDIA's CUDA
toolkit, `fatbinary_section.h`, and `cuobjdump` as the reader of reference).
"""

import struct
import sys
from pathlib import Path
from typing import Final

MAGIC: Final = bytes.fromhex("50ed55ba")
HEADER: Final = struct.Struct("<4sHHQ")  # magic, version, size of the header, size of the entries
ENTRY: Final = struct.Struct("<HHIQIIHHI")  # the third and fourth: sizes; the last: architecture
NO_CARD: Final = 999
_ARCHITECTURE: Final = ENTRY.size - 4


def change(library: bytearray) -> int:
    """Set the architecture of every kernel in place; return how many there were.

    Raises struct.error if a fat binary ends before its entries do, or if an entry is too small.
    """
    changed, place = 0, library.find(MAGIC)
    while place >= 0:
        _, _, header, size = HEADER.unpack_from(library, place)
        _demand(header >= HEADER.size)
        here, end = place + header, place + header + size
        while here < end:
            _, _, head, payload, *_ = ENTRY.unpack_from(library, here)
            _demand(head >= ENTRY.size)
            struct.pack_into("<I", library, here + _ARCHITECTURE, NO_CARD)
            here, changed = here + head + payload, changed + 1
        place = library.find(MAGIC, end)
    return changed


def _demand(large: bool) -> None:
    """Refuse a size below the minimum: a walk by such sizes would never advance."""
    if not large:
        raise struct.error("a part of a fat binary is smaller than what it must hold")


def main(path: Path) -> None:
    """Change a library's file, which may be a symlink: its target stays unchanged."""
    library = bytearray(path.read_bytes())
    if not change(library):
        sys.exit(f"{path} has no kernels; name a CUDA library")
    path.unlink()
    path.write_bytes(library)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
