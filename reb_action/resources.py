"""Find the data folders: next to the package or, in a wheel, inside it."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """Return the folder `probes`, `repos` or `schemas`."""
    beside = _PACKAGE.parent / name
    return beside if beside.is_dir() else _PACKAGE / "data" / name
