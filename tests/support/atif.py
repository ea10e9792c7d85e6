"""Checks a trajectory as Harbor does: its schema, and the rules that a schema cannot say.

`tests/recorded/atif/schema.json` is the JSON schema of the models of the package harbor 0.25.0,
without texts. Where REB_HARBOR names a folder with that package, its own models check as well.
"""

import importlib
import json
import os
import sys
from pathlib import Path

from jsonschema_rs import validator_for

SCHEMA = json.loads((Path(__file__).parents[1] / "recorded" / "atif" / "schema.json").read_text())
AGENT_ONLY = ("model_name", "reasoning_content", "tool_calls", "metrics")


def demand_valid(document):
    """Fail unless a document is a valid trajectory."""
    faults = [
        f"{list(error.instance_path)}: {error.message}"
        for error in validator_for(SCHEMA).iter_errors(document)
    ]
    assert faults == []
    steps = document["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    for step in steps:
        assert step["source"] == "agent" or not set(AGENT_ONLY) & set(step)
        calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        results = step.get("observation", {}).get("results", ())
        assert {result["source_call_id"] for result in results} <= calls
    if folder := os.environ.get("REB_HARBOR"):
        sys.path.insert(0, folder)
        importlib.import_module("harbor.models.trajectories").Trajectory.model_validate(document)
