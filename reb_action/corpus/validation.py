"""Finds every fault of a manifest at once, each with its line."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.corpus.rules import list_broken_rules
from reb_action.documents import Json, Problem, from_json, list_problems
from reb_action.documents.strict_yaml import find_lines
from reb_action.model.manifest import Manifest

_STAND_INS: Final[dict[str, Json]] = {"repository": "owner/name", "commit": "0" * 40}
_HARMLESS: Final[Json] = {"log": "harmless"}
_ENTRYPOINT: Final[dict[str, Json]] = {"argv": ["-"], "decoy": "-.py", "proofs": [_HARMLESS]}
_ROUNDS: Final = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One fault of a manifest and its line; 0 if it concerns the document as a whole."""

    line: int
    text: str


def find_faults(data: Json, source: bytes) -> tuple[Fault, ...]:
    """Return every fault of a manifest's document by line; those without one last.

    `source` is the YAML text of `data`.
    """
    problems = list_problems(data, "manifest")
    sound = _take_sound_part(data, problems)
    if isinstance(sound, dict) and isinstance(data, dict):
        manifest = read_manifest(sound)
        problems = tuple(dict.fromkeys((*problems, *list_broken_rules(manifest, data))))
    return place(problems, source)


def place(problems: tuple[Problem, ...], source: bytes) -> tuple[Fault, ...]:
    """Return problems of the YAML text `source` as faults by line; those without one last."""
    if not problems:
        return ()
    lines = find_lines(source)
    faults = (Fault(line=_find_line(one.at, lines), text=one.text) for one in problems)
    return tuple(sorted(faults, key=lambda fault: (fault.line == 0, fault.line)))


def read_manifest(data: Json) -> Manifest:
    """Return the manifest of a sound document; `setup` as a list stands for its lines."""
    if isinstance(data, dict) and isinstance(data.get("setup"), list):
        data = {**data, "setup": {"lines": data["setup"]}}
    return from_json(data, Manifest)


def _find_line(at: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int]) -> int:
    """Return the line of a place, or of the nearest part around it that has one."""
    return next((lines[at[:end]] for end in range(len(at), 0, -1) if at[:end] in lines), 0)


def _take_sound_part(data: Json, problems: tuple[Problem, ...]) -> Json:
    """Return the document without its faulty parts, so that the other rules can be checked.

    None if no manifest is left.
    """
    sound = copy.deepcopy(data)
    for _ in range(_ROUNDS):
        if not problems:
            return sound
        if not isinstance(sound, dict):
            return None
        # The last items of a list first: then the others keep their places.
        for problem in sorted(problems, key=lambda one: list(map(str, one.at)), reverse=True):
            _remove(sound, problem.at)
        _fill(sound, _STAND_INS)
        entrypoints = sound.get("entrypoints")
        for entrypoint in entrypoints.values() if isinstance(entrypoints, dict) else ():
            if isinstance(entrypoint, dict):
                _fill(entrypoint, _ENTRYPOINT)
        problems = list_problems(sound, "manifest")
    return None


def _fill(part: dict[str, Json], required: dict[str, Json]) -> None:
    """Add the required keys that a part lacks, with values that break no rule."""
    for key, value in required.items():
        part.setdefault(key, copy.deepcopy(value))


def _remove(data: dict[str, Json], at: tuple[str | int, ...]) -> None:
    """Remove one part; a faulty proof is replaced, since rules name proofs by their numbers."""
    if not at:
        return
    *steps, last = at
    node: Json = data
    for step in steps:
        node = _step_into(node, step)
    if isinstance(node, dict):
        node.pop(str(last), None)
    elif isinstance(node, list) and isinstance(last, int) and last < len(node):
        if steps[-1:] == ["proofs"]:
            node[last] = copy.deepcopy(_HARMLESS)
        else:
            del node[last]


def _step_into(node: Json, step: str | int) -> Json:
    if isinstance(node, dict):
        return node.get(str(step))
    if isinstance(node, list) and isinstance(step, int) and step < len(node):
        return node[step]
    return None


def describe(name: str, faults: tuple[Fault, ...]) -> Iterator[str]:
    """Yield one line for each fault: file, line and what is wrong."""
    for fault in faults:
        place = f"{name}:{fault.line}" if fault.line else name
        yield f"{place}: {fault.text}"
