"""What a person sees while an agent works: its turns, a heartbeat, and the same from elsewhere."""

import os
import threading
import time
from dataclasses import replace

import pytest

from reb_action.errors import UsageError
from reb_action.gateway.conversation.record import Turn
from reb_action.render.turn_lines import TurnTotals, first_line, turn_line
from reb_action.sandbox.protocol import Kind
from reb_action.session.layout import SessionLayout
from reb_action.trial import agent, start, stop
from reb_action.trial.live import LiveView
from reb_action.trial.watch import watch
from tests.support.model_server.scenarios import COMMANDS
from tests.trial.test_agent import ENVIRON, options

TURN = Turn(
    number=3,
    elapsed_seconds=221.4,
    seconds=4.2,
    tools=("bash",),
    arguments='{"command": "pip install torch\\necho done"}',
    text="",
    tokens=45_300,
    cost_usd=0.12,
    error=None,
)


def line(*turns):
    totals = TurnTotals()
    for turn in turns:
        totals.add(turn)
    return turn_line(turns[-1], totals)


@pytest.mark.parametrize(
    ("turn", "shown"),
    [
        (TURN, "turn 3 at 03:41: bash: pip install torch (4.2 s; 45.3 k tokens, $0.12 in all)"),
        (
            replace(TURN, tools=("a", "b", "c"), cost_usd=None),
            "turn 3 at 03:41: a and 2 more: pip install torch (4.2 s; 45.3 k tokens in all)",
        ),
        (
            replace(TURN, tools=(), arguments="", text="All is ready.\nBye"),
            "turn 3 at 03:41: says: All is ready. (4.2 s; 45.3 k tokens, $0.12 in all)",
        ),
        (
            replace(TURN, tools=(), text="", tokens=None, cost_usd=None, error="overloaded"),
            "turn 3 at 03:41: no whole answer: overloaded (4.2 s; at least 0 tokens in all)",
        ),
        (
            replace(TURN, arguments='{"command": "::error::x \\u001b[31m"}'),
            "turn 3 at 03:41: bash: ::error::x (4.2 s; 45.3 k tokens, $0.12 in all)",
        ),
    ],
)
def test_turn_is_one_line(turn, shown):
    assert line(turn) == shown


def test_tokens_and_cost_add_up():
    assert line(TURN, TURN).endswith("(4.2 s; 90.6 k tokens, $0.24 in all)")
    assert line(TURN, replace(TURN, tokens=None)).endswith("at least 45.3 k tokens, $0.24 in all)")


@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ('{"cmd": ["bash", "-lc", "ls -la"], "workdir": "/"}', "bash -lc ls -la"),
        ('{"file_path": "/workspace/a.py", "content": "x"}', "/workspace/a.py"),
        ('{"other": 1}', '{"other": 1}'),
        ("*** Begin Patch\n*** End", "*** Begin Patch"),
        ("", ""),
        ('{"command": ""}', '{"command": ""}'),
        ("3", "3"),
    ],
)
def test_first_line_of_a_command(arguments, first):
    assert first_line(arguments) == first


def test_heartbeat_comes_when_nothing_was_shown():
    told = []
    view = LiveView(told.append, shows_turns=True, heartbeat_seconds=0.2)
    view.beat("Collecting torch")
    assert told == []
    time.sleep(0.3)
    view.beat("Collecting torch")
    view.beat("Collecting torch")
    assert len(told) == 1
    assert told[0].startswith("still running: nothing new for 0.")
    assert told[0].endswith("its last output: Collecting torch")
    view.add_turn(TURN)
    time.sleep(0.3)
    view.beat("")
    assert told[2].startswith("still running: 1 turn, 45.3 k tokens, $0.12; nothing new for 0.")


def test_turns_can_be_turned_off():
    told = []
    view = LiveView(told.append, shows_turns=False, heartbeat_seconds=0.0)
    view.add_turn(TURN)
    assert told == []
    view.beat("")
    assert len(told) == 1


def play(choice, mirror, tmp_path, **fields):
    """Run a trial to the end of its agent; return all lines, and those of a second watcher."""
    chosen = options(Kind.LOCAL, choice, mirror, tmp_path)
    layout = SessionLayout(folder=chosen.folder)
    shown, watched = [], []
    start.start(chosen, owner=os.getpid(), tell=shown.append)
    watcher = threading.Thread(
        target=watch, args=(layout,), kwargs={"tell": watched.append, "poll_seconds": 0.05}
    )
    watcher.start()
    try:
        agent.run_agent(layout, environ=ENVIRON, tell=shown.append, **fields)
    finally:
        watcher.join(20)
        stop.stop(layout, tell=shown.append)
    return shown, watched


def turns(lines):
    return [one.partition(" (")[0].partition(": ")[2] for one in lines if one.startswith("turn ")]


def test_agent_is_watched_turn_by_turn_from_two_places(choice, mirror, tmp_path):
    shown, watched = play(choice, mirror, tmp_path)
    first = [f"bash: {command[:120]}".rstrip() for command in (*COMMANDS, "ls ..")]
    seen = turns(shown)
    assert len(seen) == 4
    for line_, wanted in zip(seen, first, strict=False):
        assert line_[:60] == wanted[:60]
    assert seen[3].startswith("says: # Done")
    assert turns(watched) == seen
    assert watched[0].endswith("ready for the agent") or "the agent works" in watched[0]
    assert "frozen" in watched[-1] or "ended" in watched[-1]


def test_no_live_shows_no_turn(choice, mirror, tmp_path):
    shown, watched = play(choice, mirror, tmp_path, live=False)
    assert turns(shown) == []
    assert len(turns(watched)) == 4


def test_folder_without_a_trial_cannot_be_watched(tmp_path):
    with pytest.raises(UsageError, match="there is no trial in"):
        watch(SessionLayout(folder=tmp_path), tell=print)
