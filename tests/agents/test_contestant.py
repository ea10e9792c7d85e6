"""Who competes: the id, and the digest of everything that decides who ran."""

from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.agents.catalogue import agent
from reb_action.agents.contestant import identify
from reb_action.errors import UsageError
from reb_action.gateway.settings import Budget
from reb_action.model.agent import Key, Protocol
from reb_action.model.contestant import default_id
from reb_action.session.state import AgentChoice, ModelChoice

MODEL = ModelChoice(name="glm-4.7", url="https://api.vendor.example/anthropic")
CLAUDE = AgentChoice(
    name="claude-code", argument=None, total_seconds=3600, setup_seconds=600, model=MODEL
)
OWN = """\
name: own
title: An agent of the user's own
argv: [sh, -c, "{word}"]
install: {{npm: own-cli, version: "{version}"}}
"""


def identified(choice, given_id=None):
    return identify(agent(choice.name, argument=choice.argument), choice, given_id)


def own(folder: Path, **values):
    folder.mkdir()
    path = folder / "own.yaml"
    path.write_text(OWN.format(**{"word": "exit", "version": "1.0.0", **values}))
    return replace(CLAUDE, name=str(path), model=None)


@pytest.mark.parametrize(
    ("agent_name", "model", "expected"),
    [
        ("pip", None, "pip"),
        ("claude-code", "glm-4.7", "claude-code-glm-4-7"),
        ("nexau", "vendor/deep:seek v3.1", "nexau-vendor-deep-seek-v3-1"),
        ("x" * 80, None, "x" * 60),
        ("...", None, "agent"),
    ],
)
def test_default_id_is_agent_and_model(agent_name, model, expected):
    assert default_id(agent_name, model) == expected


def test_user_may_give_the_id():
    assert identified(CLAUDE).id == "claude-code-glm-4-7"
    assert identified(CLAUDE, "glm").id == "glm"
    assert identified(CLAUDE, "glm").digest == identified(CLAUDE).digest


@pytest.mark.parametrize("given", ["a.b", "", "-a", "a" * 61, "a/b", "a b", "\u00e9", "a\n"])
def test_id_that_cannot_be_in_a_trials_id_is_refused(given):
    with pytest.raises(UsageError, match="cannot be the id of a contestant"):
        identified(CLAUDE, given)


@pytest.mark.parametrize(
    "other",
    [
        replace(CLAUDE, name="opencode"),
        replace(CLAUDE, total_seconds=7200),
        replace(CLAUDE, idle_seconds=60),
        replace(CLAUDE, protocol=Protocol.PAPER),
        replace(CLAUDE, model=replace(MODEL, name="glm-4.6")),
        replace(CLAUDE, model=replace(MODEL, url="https://other.example")),
        replace(CLAUDE, model=replace(MODEL, key=Key.DIRECT)),
        replace(CLAUDE, model=replace(MODEL, any_model=True)),
        replace(CLAUDE, model=replace(MODEL, budget=Budget(tokens=1))),
        replace(CLAUDE, model=replace(MODEL, budget=Budget(cost_usd=0.5))),
        replace(CLAUDE, model=replace(MODEL, budget=Budget(repeats=7))),
    ],
)
def test_each_part_of_the_definition_changes_the_digest(other):
    assert identified(other).digest != identified(CLAUDE).digest


@pytest.mark.parametrize(
    "same",
    [
        replace(CLAUDE, setup_seconds=60),
        replace(CLAUDE, hosts=("pypi.org",)),
        replace(CLAUDE, model=replace(MODEL, prices="/home/me/prices.yaml")),
    ],
)
def test_place_and_prices_are_not_part_of_it(same):
    assert identified(same) == identified(CLAUDE)


def test_content_of_an_agent_file_counts_and_the_version_of_its_program_does_not(tmp_path):
    first = identified(own(tmp_path / "one"))
    assert identified(own(tmp_path / "two")) == first
    assert identified(own(tmp_path / "three", version="2.0.0")) == first
    assert identified(own(tmp_path / "four", word="true")).digest != first.digest


def test_command_and_folder_that_the_user_gives_count(tmp_path):
    command = replace(CLAUDE, name="command", argument="bash a.sh", model=None)
    assert identified(command) != identified(replace(command, argument="bash b.sh"))
    digests = set()
    for text in ("one", "two"):
        (tmp_path / text).mkdir()
        (tmp_path / text / "report.json").write_text(text)
        replay = replace(CLAUDE, name="replay", argument=str(tmp_path / text), model=None)
        digests.add(identified(replay).digest)
    assert len(digests) == 2
