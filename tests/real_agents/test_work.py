"""Each agent builds the environment, and is counted to the token."""

import base64
import json
from dataclasses import replace
from urllib.parse import quote

import pytest

from reb_action.model.agent import Ending, Key, Usage
from tests.agents.test_pairs import examples, table
from tests.real_agents.real_agents import AGENTS
from tests.support.model_server import KEY

DOES_NOT_SAY = {"gemini-cli": {"turns": None}}


def told_by_server(played):
    """Return what the model truly said that it used; its cost is not among it."""
    return replace(played.model.usage, cost_usd=None)


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("scenario", ["ok", "multi"])
def test_agent_builds_reports_and_is_counted(play, name, scenario):
    played = play(name, scenario)
    run = played.run
    assert (run.ending, run.exit_code) == (Ending.DONE, 0)
    assert played.report["python_path"] == "/workspace/venv/bin/python"
    assert replace(run.usage, cost_usd=None) == told_by_server(played)
    assert run.reported == reported(played, name)
    assert (run.model, run.key, run.network) == ("scripted-1", Key.GATEWAY, "none")
    assert len(run.prompt_sha256) == 64


# What the examples and the table of docs/agents.md name together, as (agent, model).
NAMED = sorted(
    {(name, model) for name, model, _ in examples() if model and name in AGENTS}
    | {(name, model) for name, model, _, works in table() if works == "yes"}
)


@pytest.mark.parametrize(("name", "model"), NAMED)
def test_pair_of_the_docs_works_with_the_pinned_program(play, name, model):
    played = play(name, "ok", model=model)
    run = played.run
    assert (run.ending, run.invalid) == (Ending.DONE, None), run.detail
    assert set(run.vendor.models) == {model}
    assert replace(run.usage, cost_usd=None) == told_by_server(played)


def reported(played, name):
    """Return what an agent must say of itself: the truth, where its own events tell it."""
    if name == "nexau-paper":
        # It has no events of its turns.
        return None
    usage = replace(told_by_server(played), **DOES_NOT_SAY.get(name, {}))
    if name != "opencode":
        return usage
    # Its request for a title, which comes first or beside the first, is in none of its events.
    titles = [seen for seen in played.model.seen if not json.loads(seen.body).get("tools")]
    return Usage(
        input_tokens=usage.input_tokens - sum(seen.counts.input for seen in titles),
        cache_read_tokens=usage.cache_read_tokens - sum(one.counts.cache_read for one in titles),
        output_tokens=usage.output_tokens - sum(seen.counts.output for seen in titles),
        turns=usage.turns - len(titles),
        tool_calls=usage.tool_calls,
    )


@pytest.mark.parametrize("name", AGENTS)
def test_trajectory_is_kept_in_both_forms_without_the_key(play, name):
    played = play(name, "ok")
    whole = played.trajectory
    commands = json.dumps([step.get("tool_calls", []) for step in whole["steps"]])
    assert whole["agent"]["name"] == name
    assert whole["steps"][0]["source"] in ("user", "system")
    assert "python3 -m venv --without-pip ../venv" in commands
    assert (played.layout.trajectory / "stdout").stat().st_size > 50
    for path, content in played.everything():
        for form in (KEY, base64.b64encode(KEY.encode()).decode(), quote(KEY)):
            assert form.encode() not in content, path


def test_nexau_asks_with_the_papers_configuration(play):
    body = json.loads(play("nexau-paper", "ok").model.seen[0].body)
    assert {tool["name"] for tool in body["tools"]} == {
        *("web_search", "web_read", "todo_write", "grep", "glob", "file_read", "file_write"),
        *("file_edit", "bash", "ls", "multiedit", "run_code"),
    }
    assert (body["temperature"], body["max_tokens"], body["stream"]) == (0.2, 4096, True)
