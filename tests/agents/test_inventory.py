"""`reb agents` says what each agent is and what this machine lacks for it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from reb_action import documents
from reb_action.agents.catalogue import AGENTS
from reb_action.agents.inventory import Here, inventory
from reb_action.cli.main import cli
from reb_action.model.agent import AgentList, ListedAgent
from reb_action.render.agent_list import agent_lines
from reb_action.sandbox.docker import connection
from reb_action.sandbox.protocol import Kind


def listed(here: Here, name: str) -> ListedAgent:
    return next(agent for agent in inventory(here).agents if agent.name == name)


def test_agent_without_a_model_lacks_nothing(tmp_path: Path) -> None:
    here = Here(kind=Kind.LOCAL, image=None, environ={}, cache=tmp_path)
    found = listed(here, "pip")
    assert (found.needs, found.missing, found.installed) == (("network",), (), True)


def test_agent_with_a_model_lacks_its_key_and_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    here = Here(kind=Kind.LOCAL, image=None, environ={}, cache=tmp_path)
    assert listed(here, "codex").missing == ("REB_MODEL_KEY", "npm")
    assert listed(here, "nexau").missing == ("REB_MODEL_KEY", "uv", "git")
    assert listed(here, "nexau").needs == ("a model", "Python >=3.12,<3.14")
    with_key = Here(kind=Kind.LOCAL, image=None, environ={"REB_MODEL_KEY": "k"}, cache=tmp_path)
    assert listed(with_key, "codex").missing == ("npm",)


def test_missing_engine_is_missing_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    # Another test of this process may have connected already.
    monkeypatch.setattr(connection, "connect", connection.connect.__wrapped__)
    here = Here(kind=Kind.DOCKER, image="x", environ={"REB_MODEL_KEY": "k"}, cache=tmp_path)
    for agent in inventory(here).agents:
        assert [fault.partition(" tcp")[0] for fault in agent.missing] == [
            "the sandbox: DOCKER_HOST is"
        ]


def test_list_fits_into_80_columns(tmp_path: Path) -> None:
    here = Here(kind=Kind.LOCAL, image=None, environ={}, cache=tmp_path)
    assert max(map(len, agent_lines(inventory(here)))) <= 80


def test_command_prints_the_document() -> None:
    done = CliRunner().invoke(cli, ["agents", "--sandbox", "local", "--json"])
    data = done.output.encode()
    found = documents.decode(data, AgentList, kind="agents", name="agents.json")
    assert [agent.name for agent in found.agents] == list(AGENTS)
    assert json.loads(data)["document"] == "agents"
