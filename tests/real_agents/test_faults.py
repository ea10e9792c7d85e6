"""Whatever goes wrong, a run ends in time, as is documented, and nothing is lost or leaked."""

import json
import sys
import threading
import time

import pytest

from reb_action.model.agent import Ending
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Command
from reb_action.session import state
from tests.real_agents.real_agents import AGENTS
from tests.support.model_server import KEY

SECONDS = 180

# What goes wrong, with which limits, and how that ends.
FAULTS = {
    "e401": ({}, Ending.MODEL_ERROR),
    "e429": ({"calls": 15}, Ending.MODEL_ERROR),
    "e500": ({"calls": 15}, Ending.MODEL_ERROR),
    "cut": ({"calls": 15}, Ending.MODEL_ERROR),
    "loop": ({}, Ending.LIMIT),
    "silence": ({"idle": 25}, Ending.IDLE),
    "sleep": ({"seconds": 45}, Ending.TIMED_OUT),
    "crash": ({}, Ending.CRASHED),
    "no-report": ({}, Ending.GAVE_UP),
    "huge": ({}, Ending.DONE),
    "huge-output": ({}, Ending.DONE),
    "invalid-utf8": ({}, Ending.DONE),
    "invalid-output": ({}, Ending.DONE),
}

OTHERWISE = {
    # A command that takes more than ten seconds is handed back to its model, which gives up then.
    ("codex", "sleep"): Ending.GAVE_UP,
    # The others read over bytes that are no UTF-8.
    ("codex", "invalid-utf8"): Ending.MODEL_ERROR,
    # Its own search for loops takes the repeated text for one.
    ("gemini-cli", "huge"): Ending.LIMIT,
    ("nexau", "invalid-utf8"): Ending.MODEL_ERROR,
    ("mini-swe-agent", "invalid-utf8"): Ending.MODEL_ERROR,
}
# Its second answer is the broken one: the report is there by then.
REPORTED = {("codex", "invalid-utf8"), ("gemini-cli", "huge"), ("mini-swe-agent", "invalid-utf8")}


# These programs end themselves on an error in an answer; no limit of ours does.
TRANSIENT = {
    ("gemini-cli", "failed-once"): Ending.GAVE_UP,
    ("qwen-code", "failed-once"): Ending.MODEL_ERROR,
}


def show_bounds(name, scenario, played):
    """Leave a line with what was counted, the bounds of the rest, and the server's own count."""
    run, truth = played.run, [one.true_counts for one in played.model.seen if one.true_counts]
    spent = sum(one.input + one.output for one in truth)
    counted = (run.usage.input_tokens or 0) + (run.usage.output_tokens or 0)
    low = high = counted
    if run.estimate is not None:
        low += run.estimate.input_tokens_min + run.estimate.output_tokens_min
        high += run.estimate.input_tokens_max + run.estimate.output_tokens_max
    calls = len(played.model.seen)
    sys.stdout.write(
        f"BOUNDS {name}|{scenario}|{run.ending}|{calls}|{counted}|{low}|{high}|{spent}\n"
    )
    assert low <= spent <= high


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("scenario", ["cut-once", "failed-once"])
def test_one_transient_error_ends_neither_a_budget_nor_the_count(play, name, scenario):
    played = play(name, scenario, seconds=SECONDS, tokens=2_000_000)
    run = played.run
    show_bounds(name, scenario, played)
    assert run.ending is TRANSIENT.get((name, scenario), Ending.DONE), run.detail
    seen = [one for one in played.model.seen if one.status == 200]
    assert run.usage.input_tokens == sum(one.counts.input for one in seen if one.counts)
    lost = [one.true_counts for one in seen if one.counts is None]
    if scenario == "failed-once" and run.estimate is None:
        # Its failed answer said what it used all the same.
        return
    assert run.estimate.calls == len(lost) == 1
    estimate = run.estimate
    assert estimate.input_tokens_min <= lost[0].input <= estimate.input_tokens_max
    assert estimate.output_tokens_min <= lost[0].output <= estimate.output_tokens_max


OVERLOADS = {
    # Status, and the least that the gateway waits: what was asked for, but at least 2 s.
    name: (int(name[:3]), 2.0)
    for name in ("429-retry-after", "429-bare", "529-retry-after", "529-bare")
}
OVERLOADED = [
    *((name, scenario) for name in ("claude-code", "codex") for scenario in OVERLOADS),
    *((name, "429-bare") for name in AGENTS if name not in ("claude-code", "codex")),
]


@pytest.mark.parametrize(("name", "scenario"), OVERLOADED)
def test_gateway_waits_out_an_overload_and_the_agent_never_sees_it(play, name, scenario):
    status, seconds = OVERLOADS[scenario]
    played = play(name, scenario, seconds=SECONDS, calls=15)
    run = played.run
    assert run.ending is Ending.DONE, run.detail
    assert run.vendor.retried == {str(status): 1}
    assert run.vendor.waited_seconds >= seconds
    # The agent saw one answer less than the model gave, and nothing was lost or counted twice.
    assert played.model.statuses.count(status) == 1
    assert run.usage.input_tokens == played.model.usage.input_tokens


@pytest.mark.parametrize("name", AGENTS)
def test_agent_that_polls_is_not_taken_for_a_loop(play, name):
    played = play(name, "poll", seconds=SECONDS, repeats=5)
    run = played.run
    if name in ("gemini-cli", "qwen-code"):
        # Their own search for loops ends them; ours does not.
        assert run.ending is Ending.LIMIT
        assert "itself" in run.detail
        return
    assert run.ending is Ending.DONE, run.detail
    assert run.usage.tool_calls >= 13


@pytest.mark.parametrize("name", ["claude-code", "codex", "mini-swe-agent"])
def test_answer_of_another_model_makes_the_run_invalid(play, name):
    run = play(name, "other-model").run
    assert "answers came from cheap-model-9, not from scripted-1" in run.invalid
    assert set(run.vendor.models) == {"cheap-model-9"}


@pytest.mark.parametrize(("name", "tool"), [("codex", "web_search")])
def test_search_by_the_vendor_is_taken_from_an_agent_without_a_network(play, name, tool):
    played = play(name, "ok")
    assert played.run.vendor.removed[tool] > 0
    assert all(b'"type": "web_search"' not in seen.body for seen in played.model.seen)
    assert all(b'"type":"web_search"' not in seen.body for seen in played.model.seen)


# Sends SIGTERM to the agent itself, once its command is at work: no parent inside, and our program.
TERMINATE = """
import os, signal, time
def processes():
    for pid in set(filter(str.isdigit, os.listdir("/proc"))) - {str(os.getpid())}:
        try:
            words = open(f"/proc/{pid}/cmdline").read()
            parent = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1]
        except OSError:
            continue
        yield int(pid), int(parent), words
for _ in range(600):
    found = list(processes())
    if any("time.sleep(3600)" in words and "python3" in words[:20] for _, _, words in found):
        break
    time.sleep(0.1)
time.sleep(1)
for pid, parent, words in found:
    if parent == 0 and "/opt/cli" in words:
        os.kill(pid, signal.SIGTERM)
        print("sent")
"""


def seen(name, fault, played):
    """Leave a line for the table of what was really seen."""
    run = played.run
    sys.stdout.write(
        f"SEEN {name}|{fault}|{run.ending}|{run.exit_code}|{run.seconds}|{run.detail}\n"
    )


def check_nothing_is_lost_or_leaked(played):
    lines = played.layout.model_calls.read_text().splitlines()
    repeated = sum(played.run.vendor.retried.values())
    assert len(lines) + repeated >= len(played.model.statuses) > 0
    assert all(json.loads(line) for line in lines)
    assert played.layout.agent_log.exists()
    assert played.layout.freeze.exists()
    assert played.trajectory["steps"]
    assert not [path for path, content in played.everything() if KEY.encode() in content]


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_has_its_ending(play, name, fault):
    limits, ending = FAULTS[fault]
    ending = OTHERWISE.get((name, fault), ending)
    limits = {"seconds": SECONDS, "idle": SECONDS, **limits}
    began = time.monotonic()
    played = play(name, fault, **limits)
    assert time.monotonic() - began < limits["seconds"] + 90
    seen(name, fault, played)
    assert played.run.ending is ending, played.run.detail
    reported = ending is Ending.DONE or (name, fault) in REPORTED
    assert (played.report is not None) is reported
    check_nothing_is_lost_or_leaked(played)


@pytest.mark.parametrize("name", AGENTS)
def test_agent_that_is_told_to_end_has_crashed(play, name):
    sent = []

    def terminate(layout):
        begun = state.load(layout)
        sandbox = select.attach(begun.spec, begun.handle)
        argv = ("/usr/bin/python3", "-c", TERMINATE)
        command = Command(argv=argv, cwd="/", timeout_seconds=100)
        sent.append(sandbox.run(command).stdout)

    played = play(
        name,
        "sleep",
        seconds=60,
        during=lambda layout: threading.Thread(target=terminate, args=(layout,)).start(),
    )
    seen(name, "SIGTERM", played)
    assert sent == [b"sent\n"]
    assert played.run.ending is Ending.CRASHED
    check_nothing_is_lost_or_leaked(played)
