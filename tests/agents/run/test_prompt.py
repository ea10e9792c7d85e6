"""The task of an agent: all facts of its trial, no hints, and the paper's wording by its facts."""

import re
from dataclasses import replace

import pytest

from reb_action.agents.catalogue import AGENTS, load_packaged
from reb_action.agents.run.prompt import TaskFacts, list_budget, say_duration, write_prompt
from reb_action.agents.spec import PaperSetup, Task
from reb_action.gateway.settings import Budget
from reb_action.model.agent import Protocol
from reb_action.sandbox.layout import SandboxLayout

FACTS = TaskFacts(
    repository="owner/name",
    total_seconds=3600,
    idle_seconds=1800,
    network="none",
    memory_mib=16384,
    budget=list_budget(Budget(calls=1, tokens=2_000_000, cost_usd=2.5)),
)


def text(facts=FACTS, protocol=Protocol.STANDARD, task=Task.COMMON, layout=None):
    """Return the task with its line breaks as spaces."""
    prompt = write_prompt(layout or SandboxLayout(), facts, protocol=protocol, task=task)
    return re.sub(r"\s+", " ", prompt.text)


@pytest.mark.parametrize(
    "fact",
    [
        *("owner/name", "`/workspace/repo`", "`/workspace/report.json`", "`LD_LIBRARY_PATH`"),
        *("not root", "`apt`) can install nothing", "There is no network", "16 GiB", "GPUs: none"),
        *("60 minutes from now (3600 seconds)", "stopped after 30 minutes"),
        *("1 call of the model.", "2000000 tokens", "2.5 US dollars"),
    ],
)
def test_standard_task_states_the_facts_of_the_trial(fact):
    assert fact in text()


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"network": "open"}, "The network is open."),
        ({"network": "allowed", "hosts": ("pypi.org", "*.x.org")}, "pypi.org, *.x.org."),
        ({"root": True}, "You are root in a container"),
        ({"isolated": False}, "Do not use root"),
        ({"memory_mib": 1536}, "Memory: 1.5 GiB"),
        ({"gpus": 2}, "GPUs: 2."),
        ({"total_seconds": 60}, "1 minute from now"),
        ({"idle_seconds": 90}, "stopped after 90 seconds"),
    ],
)
def test_other_facts_are_stated(change, fact):
    assert fact in text(replace(FACTS, **change))
    assert fact not in text()


def test_what_is_not_limited_is_not_stated():
    free = text(replace(FACTS, memory_mib=None, budget=()))
    assert "Memory" not in free
    assert "Budget" not in free


@pytest.mark.parametrize(
    "hint", ["logger", "optional", "native", "extension", "nvidia-smi", "driver"]
)
def test_standard_task_gives_no_cause_of_failure_away(hint):
    assert hint not in text().lower()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(60, "1 minute"), (120, "2 minutes"), (1, "1 second"), (90, "90 seconds")],
)
def test_durations_are_grammatical(seconds, words):
    assert say_duration(seconds) == words


@pytest.mark.parametrize("protocol", Protocol)
@pytest.mark.parametrize("task", Task)
def test_every_task_is_markdown_without_a_gap(protocol, task):
    prompt = write_prompt(SandboxLayout(), FACTS, protocol=protocol, task=task)
    assert prompt.text.startswith("# ")
    assert "{{" not in prompt.text
    assert "\n\n\n" not in prompt.text
    assert "/workspace/report.json" in prompt.text


def test_task_is_known_by_the_hash_of_its_template():
    one, two, paper = (
        write_prompt(SandboxLayout(), replace(FACTS, repository=name), protocol=protocol)
        for name, protocol in (
            ("a/b", Protocol.STANDARD),
            ("c/d", Protocol.STANDARD),
            ("a/b", Protocol.PAPER),
        )
    )
    assert one.template_sha256 == two.template_sha256 != paper.template_sha256
    assert one.sha256 != two.sha256


# Facts of the paper's public harness about its tasks, in words of ours.
PAPER_FACTS = {
    Task.COMMON: [
        *("C0", "C1", "C2", "C3", "C4", "C5", "fixed script", '"ddp_expected_ok": None'),
        *("prefer conda or uv", "no background jobs", "apt only if", "exactly one interpreter"),
        *(
            "do not invent fields",
            "pyproject.toml",
            "null if you are unsure",
            "Do not finish before",
        ),
    ],
    Task.NEXAU: [
        *("not disclosed", "Prefer conda or uv", "apt only if", '"ddp_expected_ok": true'),
        *("widely compatible", "main commands", "Write null for what you did not verify"),
    ],
}


@pytest.mark.parametrize(
    ("task", "fact"), [(t, f) for t, facts in PAPER_FACTS.items() for f in facts]
)
def test_task_of_the_paper_has_its_facts(task, fact):
    assert fact in text(protocol=Protocol.PAPER, task=task)


@pytest.mark.parametrize("level", ["C0", "C1", "C2", "C3", "C4", "C5"])
def test_nexau_was_not_told_the_levels(level):
    assert level not in text(protocol=Protocol.PAPER, task=Task.NEXAU)


@pytest.mark.parametrize("task", Task)
@pytest.mark.parametrize("absent", ["60 minutes", "Memory", "Budget", "network", "`environment`"])
def test_task_of_the_paper_states_no_limit(task, absent):
    assert absent not in text(protocol=Protocol.PAPER, task=task)


def test_agents_are_root_where_the_paper_ran_them_as_root():
    setups = {name: load_packaged(name).paper for name in AGENTS}
    root = {name: setup for name, setup in setups.items() if setup != PaperSetup()}
    assert root == {
        "codex": PaperSetup(root=True),
        "nexau": PaperSetup(root=True, task=Task.NEXAU),
        "nexau-paper": PaperSetup(root=True, task=Task.NEXAU),
    }
