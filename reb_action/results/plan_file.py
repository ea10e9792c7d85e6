"""Reads and writes plan.json and the entries of the matrix."""

import json
from collections.abc import Mapping
from pathlib import Path

from reb_action import documents
from reb_action.documents import Json
from reb_action.model.plan import Entry, Plan


def write_plan(plan: Plan, path: Path) -> None:
    """Write plan.json."""
    documents.write(path, plan, kind="plan")


def read_plan(path: Path) -> Plan:
    """Read plan.json; raises DocumentError."""
    return documents.read(path, Plan, kind="plan")


def entries_json(plan: Plan) -> str:
    """Return the value of `matrix.entry`: one line of JSON."""
    return json.dumps([_entry(entry) for entry in plan.entries], separators=(",", ":"))


def join_trials(entry: Entry) -> str:
    """Return the ids of an entry's trials, separated by spaces."""
    return " ".join(trial.id for trial in entry.trials)


def _entry(entry: Entry) -> Mapping[str, Json]:
    """Return the matrix entry of a job; a batch has only the ids of its trials."""
    common: dict[str, Json] = {
        "name": entry.name,
        "count": len(entry.trials),
        "key": entry.key,
    }
    if len(entry.trials) > 1:
        return {**common, "trials": join_trials(entry)}
    trial = next(iter(entry.trials))
    return {
        **common,
        "repository": trial.repository,
        "agent": trial.agent,
        "argument": trial.argument or "",
        "contestant": trial.contestant or "",
        "attempt": trial.attempt,
    }
