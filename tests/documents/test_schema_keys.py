"""Every key that people and agents write is described, and its stated default is the real one."""

import json
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from reb_action import documents
from reb_action.agents import catalogue
from reb_action.agents.spec import AgentSpec
from reb_action.model.manifest import (
    Asset,
    CurveProof,
    Entrypoint,
    FileProof,
    LogProof,
    Manifest,
    MetricProof,
    Oracle,
    StepsProof,
)
from reb_action.session import report

FOLDER = Path(__file__).parents[2] / "schemas"
MANIFEST, AGENT, REPORT = (
    json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    for name in ("manifest", "agent", "report")
)
ENTRYPOINT = MANIFEST["$defs"]["entrypoint"]
PROOFS = ENTRYPOINT["properties"]["proofs"]["items"]["oneOf"]


def properties(part, where=""):
    """Yield every property of a schema, however deep, with where it stands."""
    if not isinstance(part, dict | list):
        return
    inner = part.items() if isinstance(part, dict) else enumerate(part)
    for name, one in inner:
        if name == "properties":
            yield from ((f"{where}.{key}", value) for key, value in one.items())
        yield from properties(one, f"{where}.{name}")


def stated(part):
    """Return the defaults that the properties of a schema state."""
    return {key: one["default"] for key, one in part["properties"].items() if "default" in one}


@pytest.mark.parametrize(
    ("schema", "deepest"),
    [
        (MANIFEST, ".$defs.entrypoint.properties.proofs.items.oneOf.3.at_least"),
        (AGENT, ".$defs.files.additionalProperties.packaged"),
        (REPORT, ".environment"),
    ],
    ids=["manifest", "agent", "report"],
)
def test_every_key_is_described(schema, deepest):
    found = {where: one.get("description", "") for where, one in properties(schema)}
    assert deepest in found
    assert [where for where, text in found.items() if not text.endswith(".")] == []


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (Manifest, MANIFEST),
        (Entrypoint, ENTRYPOINT),
        (Asset, MANIFEST["properties"]["assets"]["items"]),
        (Oracle, MANIFEST["properties"]["oracle"]),
        *zip((FileProof, LogProof, MetricProof, StepsProof, CurveProof), PROOFS, strict=True),
    ],
)
def test_stated_defaults_are_those_of_the_type(kind, part):
    made = {
        field.name: field.default if field.default_factory is MISSING else field.default_factory()
        for field in fields(kind)
    }
    # What is absent has no value that could be stated.
    values = {key: value for key, value in made.items() if value is not MISSING}
    # It is known when a checkout is chosen, and never written.
    values.pop("follows_checkout", None)
    assert stated(part) == {
        key: documents.to_json(value) for key, value in values.items() if value is not None
    }


def test_agent_that_states_every_default_is_as_one_that_states_none(tmp_path):
    least = {"name": "mine", "title": "Mine", "argv": ["x"]}
    whole = {**least, **stated(AGENT)}
    (tmp_path / "mine.yaml").write_text(json.dumps(whole), encoding="utf-8")
    bare = AgentSpec(name="mine", title="Mine", argv=("x",))
    assert catalogue.load(tmp_path / "mine.yaml") == bare
    assert set(AGENT["properties"]) == {*whole, "dialect", "install", "resume"}


def test_report_that_states_its_default_is_as_one_that_does_not():
    least = {**dict.fromkeys(REPORT["required"]), "python_path": "/p", "env_tool": "uv"}
    bare, whole = (
        report.parse(json.dumps({**least, **more}).encode()) for more in ({}, stated(REPORT))
    )
    assert bare == whole
    assert dict(bare.environment) == stated(REPORT)["environment"] == {}
