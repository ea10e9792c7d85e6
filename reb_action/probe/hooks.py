"""Recognises what honest packages run at each start of Python, by the hashes of the files."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_PLACE: Final = Path(__file__).with_name("known_hooks.json")
_TEXT_LIMIT: Final = 500
_LIST_LIMIT: Final = 200
_EDITABLE_PTH: Final = "__editable__*.pth"

Hashes = Mapping[str, str]
"""SHA-256 of files, by their names in the folder of a hook."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StartedInterpreter:
    """All that decides which folders an interpreter searches at its start."""

    python: str
    environment: Mapping[str, str]
    home: str


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownHook:
    """The files of a hook, which must all be known; `optional` are modules that it would import.

    A hook with an optional import runs any code of that name, so it is known only if no search path
    has that module. A hook that imports a module only if one of `variables` is set is known only
    if none of them is set.
    """

    package: str
    version: str
    files: Hashes
    optional: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()


def list_files() -> tuple[str, ...]:
    """Return the names of all files that a known hook consists of."""
    return tuple(sorted({name for hook in known_hooks() for name in hook.files}))


def list_optional_modules() -> tuple[str, ...]:
    """Return the modules that known hooks import only if they exist."""
    return tuple(sorted({name for hook in known_hooks() for name in hook.optional}))


def identify_hook(
    hook: str, hashes: Hashes, present: Collection[str] = (), variables: Collection[str] = ()
) -> str | None:
    """Return the package that a hook belongs to, with its version, if every file of it is known.

    `hashes` are of the files in the folder of the hook, which ends with its own file's name;
    `present` are the optional modules that a search path has, `variables` the environment's names.
    """
    kind, name = hook.partition(": ")[0], hook.rpartition("/")[2]
    if kind != ("pth" if name.endswith(".pth") else name.partition(".")[0]):
        return None
    if name.startswith("__editable__") and name.endswith(".pth"):
        name = _EDITABLE_PTH
    for known in known_hooks():
        matches = all(hashes.get(file) == digest for file, digest in known.files.items())
        acts = set(known.optional) & set(present) or set(known.variables) & set(variables)
        if name in known.files and matches and not acts:
            return f"{known.package} {known.version}"
    return None


def list_unfound(told: Collection[str], found: Collection[str]) -> tuple[str, ...]:
    """Return hooks for start-up modules that the interpreter reports and for which no file exists.

    Only the interpreter could name their file, so they are never treated as known.
    """
    kinds = {hook.partition(": ")[0] for hook in found}
    return tuple(f"{name}: its file was not found" for name in told if name not in kinds)


def limit_hooks(hooks: Collection[str], known: Collection[str] = ()) -> tuple[str, ...]:
    """Return each hook once, and the number of those left out, so that none hides among many.

    Unknown hooks come first. A shortened name is marked, so it cannot equal another hook's name.
    """
    ordered = sorted(dict.fromkeys(hooks), key=lambda hook: hook in known)
    listed = [_shorten(hook) for hook in ordered]
    left_out = len(listed) - _LIST_LIMIT
    return (*listed[:_LIST_LIMIT], *((f"and {left_out} more",) if left_out > 0 else ()))


def _shorten(hook: str) -> str:
    return hook if len(hook) <= _TEXT_LIMIT else f"{hook[:_TEXT_LIMIT]}… (cut)"


@cache
def known_hooks() -> tuple[KnownHook, ...]:
    """Return the hooks of `known_hooks.json`."""
    entries = json.loads(_PLACE.read_text(encoding="utf-8"))
    return tuple(
        KnownHook(
            package=entry["package"],
            version=entry["version"],
            files=entry["files"],
            optional=tuple(entry.get("optional", ())),
            variables=tuple(entry.get("variables", ())),
        )
        for entry in entries
    )
