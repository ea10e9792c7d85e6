"""Reads and writes plan.json and the entries of the matrix."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from reb_action import documents
from reb_action.documents import Json, NotJsonError, parse_json, show
from reb_action.errors import UsageError
from reb_action.model.plan import Plan, PlannedTrial


def write(plan: Plan, path: Path) -> None:
    """Write plan.json."""
    documents.write(path, plan, kind="plan")


def read(path: Path) -> Plan:
    """Read plan.json; raises DocumentError."""
    return documents.read(path, Plan, kind="plan")


def entries_json(plan: Plan) -> str:
    """Return the value of `matrix.entry`: one line of JSON."""
    return json.dumps([_entry(entry.name, entry.trials) for entry in plan.entries])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Planned:
    trials: tuple[PlannedTrial, ...]


def trials(text: str) -> tuple[PlannedTrial, ...]:
    """Read the trials of one entry, as `entries_json` wrote them."""
    try:
        value = parse_json(text.encode())
    except NotJsonError as error:
        raise UsageError(f"the trials are not readable as JSON: {error}") from None
    fields = {"id", "repository", "agent", "argument", "attempt"}
    if not isinstance(value, list) or not all(
        isinstance(one, dict) and set(one) == fields for one in value
    ):
        raise UsageError(f"each trial has exactly the keys {', '.join(sorted(fields))}")
    planned = documents.answer_of(b'{"trials": ' + text.encode() + b"}", _Planned)
    if planned is None:
        raise UsageError("a trial has a value of the wrong type; give what reb plan wrote")
    for one in planned.trials:
        # It names a folder.
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", one.id):
            raise UsageError(f"{show(one.id)} is not the id of a trial; give what reb plan wrote")
    return planned.trials


def _entry(name: str, chosen: tuple[PlannedTrial, ...]) -> Mapping[str, Json]:
    return {
        "name": name,
        "count": len(chosen),
        "trials": [cast(dict[str, Json], documents.to_json(trial)) for trial in chosen],
    }
