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
from pathlib import Path


def main():
    """Pack the cells that are named, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("cells", nargs="*")
    options = parser.parse_args()
    cells = json.loads((options.folder / "cells.json").read_text())
    cells = {name: cells[name] for name in options.cells or cells}
    wheels = sorted({wheel for cell in cells.values() for wheel in cell["wheels"]})
    mirrors = [cell["repository"].replace("/", "+") + ".git" for cell in cells.values()]
    text = json.dumps(cells).encode()
    with tarfile.open(options.out, "w") as bundle:
        for name in ("reb", *(f"wheels/{n}" for n in wheels), *(f"mirror/{n}" for n in mirrors)):
            bundle.add(options.folder / name, name)
        if (options.folder / "system").is_dir():
            bundle.add(options.folder / "system", "system")
        member = tarfile.TarInfo("cells.json")
        member.size = len(text)
        bundle.addfile(member, io.BytesIO(text))


if __name__ == "__main__":
    main()
