"""Recognises what honest packages run at each start of Python, by the hashes of the files."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

_PLACE: Final = Path(__file__).with_name("known_hooks.json")

Hashes = Mapping[str, str]
"""SHA-256 of files, by their names in the folder of a hook."""


def file_names() -> tuple[str, ...]:
    """Return the names of all files that a known hook consists of."""
    return tuple(sorted({name for _, files in _known() for name in files}))


def recognise(hook: str, found: Hashes) -> str | None:
    """Return the package that a hook belongs to, with its version, if every file of it is known.

    `found` has the files that stand in the folder of the hook, whose own name ends `hook`.
    """
    name = hook.rpartition("/")[2]
    for package, files in _known():
        if name in files and all(found.get(file) == digest for file, digest in files.items()):
            return package
    return None


@cache
def _known() -> tuple[tuple[str, Hashes], ...]:
    entries = json.loads(_PLACE.read_text(encoding="utf-8"))
    return tuple((f"{one['package']} {one['version']}", one["files"]) for one in entries)
