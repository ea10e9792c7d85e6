"""Fits and saves a line: `python train.py --epochs 200`."""

import argparse
import json
import pathlib

import leastsquares
from slopes.data import points


def main():
    """Fit the line and save it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=200)
    options = parser.parse_args()
    line = leastsquares.Line()
    data = points(200, 2.0, seed=7)
    for epoch in range(1, options.epochs + 1):
        loss = line.step(data, rate=0.5)
        if epoch % 50 == 0:
            print(f"epoch {epoch} loss {loss:.4f}")
    print(f"slope {line.slope:.3f}")
    folder = pathlib.Path("outputs")
    folder.mkdir(exist_ok=True)
    (folder / "line.json").write_text(json.dumps({"slope": line.slope, "shift": line.shift}))


if __name__ == "__main__":
    main()
