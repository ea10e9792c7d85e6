"""Makes a library lack exported symbols, as an older one would: `python older.py LIBRARY NAME…`."""

import sys
from pathlib import Path


def main(path, *names):
    """Rename each symbol, which so is not found any more; a link gives way to the new file."""
    library = path.read_bytes()
    for name in map(str.encode, names):
        if name + b"\0" not in library:
            sys.exit(f"{path} does not export {name.decode()}")
        library = library.replace(name + b"\0", name[:4] + b"_" + name[5:] + b"\0")
    path.unlink()
    path.write_bytes(library)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
