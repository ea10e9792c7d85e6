"""Packs what a machine with two GPUs and no network needs.

    python -m tests.gpu.bundle OUT.tar [CELL…] --folder FOLDER

FOLDER may have `system/` with shared libraries. It has `reb/` and `wheels/` with wheels, `mirror/`
with git repositories, and `cells.json`:

    {"torchft": {"repository": "meta-pytorch/torchft", "wheels": ["torchdata-0.11.0-….whl"]}}
"""

import argparse
import io
import json
import tarfile
import zipfile
from pathlib import Path


def pure(paths, folder):
    """Return wheels of Python code alone, uncompressed, in one tar.xz: a third smaller so."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:xz", preset=4) as tar:
        for path in paths:
            plain = io.BytesIO()
            with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(plain, "w") as copy:
                for member in wheel.infolist():
                    copy.writestr(member.filename, wheel.read(member))
            add(tar, path.relative_to(folder).as_posix(), plain.getvalue())
    return packed.getvalue()


def add(tar, name, data):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def main():
    """Pack the cells that are named, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("cells", nargs="*")
    options = parser.parse_args()
    cells = json.loads((options.folder / "cells.json").read_text())
    cells = {name: cells[name] for name in options.cells or cells}
    names = sorted({wheel for cell in cells.values() for wheel in cell["wheels"]})
    wheels = [options.folder / "wheels" / name for name in names]
    wheels += sorted((options.folder / "reb").glob("*.whl"))
    mirrors = [cell["repository"].replace("/", "+") + ".git" for cell in cells.values()]
    others = [options.folder / "mirror" / name for name in mirrors] + [options.folder / "system"]
    others += [path for path in wheels if "-none-any" not in path.name]
    with tarfile.open(options.out, "w") as bundle:
        for path in filter(Path.exists, others):
            bundle.add(path, path.relative_to(options.folder))
        add(bundle, "cells.json", json.dumps(cells).encode())
        code = [path for path in wheels if "-none-any" in path.name]
        add(bundle, "pure.tar.xz", pure(code, options.folder))


if __name__ == "__main__":
    main()
