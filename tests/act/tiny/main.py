"""Counts epochs, and writes what came out, with a package that only the environment can bring."""

import sys
from pathlib import Path

import tinydep


def main() -> None:
    """Train for three epochs."""
    total = 0
    for epoch in range(3):
        total = tinydep.add(total, epoch)
        print(f"epoch {epoch} total {total}")
    Path(sys.argv[1]).joinpath("total.txt").write_text(f"{total}\n")


main()
