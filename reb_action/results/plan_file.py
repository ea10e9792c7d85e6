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


def write_plan(plan: Plan, path: Path) -> None:
    """Write plan.json."""
    documents.write(path, plan, kind="plan")


def read_plan(path: Path) -> Plan:
    """Read plan.json; raises DocumentError."""
    return documents.read(path, Plan, kind="plan")


def entries_json(plan: Plan) -> str:
    """Return the value of `matrix.entry`: one line of JSON."""
    return json.dumps([_entry(entry.name, entry.trials) for entry in plan.entries])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Planned:
    trials: tuple[PlannedTrial, ...]


def parse_trials(text: str) -> tuple[PlannedTrial, ...]:
    """Parse the trials of one matrix entry, as `entries_json` writes them."""
    try:
        value = parse_json(text.encode())
    except NotJsonError as error:
        raise UsageError(f"--trials is not JSON: {error}") from None
    fields = {"id", "repository", "agent", "argument", "attempt"}
    if not isinstance(value, list) or not all(
        isinstance(trial, dict) and set(trial) == fields for trial in value
    ):
        raise UsageError(
            f"--trials: each trial must have exactly the keys {', '.join(sorted(fields))}"
        )
    planned = documents.answer_of(b'{"trials": ' + text.encode() + b"}", _Planned)
    if planned is None:
        raise UsageError("--trials: a value has the wrong type; use the output of reb plan")
    for trial in planned.trials:
        # The id is the name of a folder.
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", trial.id):
            raise UsageError(
                f"{show(trial.id)} is not the id of a trial; use the output of reb plan"
            )
    return planned.trials


def _entry(name: str, trials: tuple[PlannedTrial, ...]) -> Mapping[str, Json]:
    return {
        "name": name,
        "count": len(trials),
        "trials": [cast(dict[str, Json], documents.to_json(trial)) for trial in trials],
    }
