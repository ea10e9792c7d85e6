"""Packs what a machine with GPUs and no network needs.

    python -m tests.gpu.bundle --folder FOLDER OUT.tar [CELL…]

FOLDER may have `system/` with shared libraries. It has `reb/` and `wheels/` with wheels, `mirror/`
with clones, each at owner+name, and `cells.json`:

    {"torchft": {"repository": "meta-pytorch/torchft", "level": "C3",
                 "wheels": ["torchdata-0.11.0-….whl"], "omit": ["docs/*"]}}

Of a clone the pinned commit travels, without the files that the clone lacks and those of `omit`.
"""

import argparse
import io
import json
import tarfile
import tempfile
import zipfile
from pathlib import Path

from reb_action.corpus import manifests
from tests.gpu import mirror


def packed(paths, folder):
    """Return wheels, uncompressed, in one tar.xz: a third smaller so."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:xz", preset=6) as tar:
        for path in paths:
            plain = io.BytesIO()
            with zipfile.ZipFile(path) as wheel, zipfile.ZipFile(plain, "w") as copy:
                for member in wheel.infolist():
                    copy.writestr(member.filename, wheel.read(member))
            add(tar, path.relative_to(folder).as_posix(), plain.getvalue())
    return written.getvalue()


def add(tar, name, data):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def mirrored(bundle, cell, folder):
    """Add the mirror of a cell's repository; return the cell, with the files that it lacks."""
    wanted = manifests.find(cell["repository"])
    name = wanted.repository.replace("/", "+")
    with tempfile.TemporaryDirectory() as place:
        target = Path(place, name)
        commit, left = mirror.make(
            folder / "mirror" / name, wanted.commit, target, cell.get("omit", ())
        )
        bundle.add(target, f"mirror/{name}.git")
    return {**cell, "commit": commit, "left_out": left}


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
    with tarfile.open(options.out, "w") as bundle:
        if (options.folder / "system").exists():
            bundle.add(options.folder / "system", "system")
        cells = {name: mirrored(bundle, cell, options.folder) for name, cell in cells.items()}
        add(bundle, "cells.json", json.dumps(cells).encode())
        add(bundle, "wheels.tar.xz", packed(wheels, options.folder))


if __name__ == "__main__":
    main()
