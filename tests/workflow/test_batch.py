"""A batch: what is finished, what starts again, who gets which GPU and key, what is shown."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.cli.batch import _take_keys
from reb_action.cli.batch_view import BatchView
from reb_action.errors import UsageError
from reb_action.model.contestant import Contestant
from reb_action.model.manifest import Level
from reb_action.sandbox.protocol import Kind
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, Phase, process
from reb_action.trial.options import Options
from reb_action.workflow.batch import Job
from reb_action.workflow.capacity import choose_jobs
from reb_action.workflow.continuation import clear_unfinished, find_sealed, restore_earlier
from reb_action.workflow.gpus import GpuPool
from reb_action.workflow.usage import Spending, SpendingMeter
from tests.act.act_consumer import make_mirror
from tests.support.scoreboards import evidence_of
from tests.support.trial_folders import put

WHO = Contestant(id="codex", digest="a" * 64)
LEVELS = tuple(Level)
MAIN = Path(__file__).parents[2] / "reb_action" / "__main__.py"
"""What the actions run."""
TRIAL = "hustvl__Vim.codex.1"


def sealed(folder, **changes):
    evidence = evidence_of("hustvl/Vim", "codex", 1)
    trial = replace(evidence.trial, contestant=WHO)
    return put(folder, replace(evidence, trial=trial, **changes))


def set_session(folder, **changes):
    layout = SessionLayout(folder=folder)
    state.save(layout, replace(state.load(layout), **changes))


def test_finished_trial_is_found_and_others_are_not(tmp_path):
    verdict = sealed(tmp_path / "done")
    assert find_sealed(tmp_path / "done", WHO, LEVELS) == verdict
    assert find_sealed(tmp_path / "nowhere", WHO, LEVELS) is None
    sealed(tmp_path / "invalid", gpus_promised=0)
    assert find_sealed(tmp_path / "invalid", WHO, LEVELS) is None
    for name, spoil in (
        ("killed", lambda folder: (folder / "verdict.json").unlink()),
        ("changed", lambda folder: (folder / "agent.log").write_text("x")),
        ("running", lambda folder: set_session(folder, phase=Phase.FROZEN)),
        ("other", lambda folder: (folder / "session.json").write_text("{}")),
        ("fewer levels", lambda folder: set_session(folder, levels=(Level.C0,))),
    ):
        sealed(tmp_path / name)
        spoil(tmp_path / name)
        assert find_sealed(tmp_path / name, WHO, LEVELS) is None, name


def test_folder_of_another_definition_is_refused(tmp_path):
    sealed(tmp_path)
    with pytest.raises(UsageError, match=r"another definition of codex \(aaaaaaaa, now b{8}\)"):
        find_sealed(tmp_path, replace(WHO, digest="b" * 64), LEVELS)


def test_unfinished_trial_is_removed_unless_it_runs(tmp_path):
    folder = tmp_path / "x"
    assert not clear_unfinished(folder)
    sealed(folder)
    me = process(os.getpid())
    set_session(folder, phase=Phase.AGENT, owner=me, busy=me)
    with pytest.raises(UsageError, match="a trial still runs in"):
        clear_unfinished(folder)
    set_session(folder, owner=replace(me, started=1))
    assert clear_unfinished(folder)
    assert not folder.exists()
    (folder / "session.json").parent.mkdir()
    (folder / "session.json").touch()
    assert clear_unfinished(folder)


def test_trials_of_earlier_attempts_come_back_once(tmp_path):
    for number in (1, 2, 3):
        sealed(tmp_path / "earlier" / f"reb.k.batch-001.a{number}" / TRIAL)
    (tmp_path / "earlier" / "reb.k.batch-001.a3" / TRIAL / "verdict.json").unlink()
    sealed(tmp_path / "earlier" / "reb.k.batch-001.a1" / "other")
    mark = tmp_path / "earlier" / "reb.k.batch-001.a2" / TRIAL / "index.html"
    mark.write_text("the second")
    wanted = {TRIAL: tmp_path / "results" / TRIAL}
    assert restore_earlier(tmp_path / "earlier", wanted) == (TRIAL,)
    assert (tmp_path / "results" / TRIAL / "index.html").read_text() == "the second"
    mark.write_text("changed since")
    assert restore_earlier(tmp_path / "earlier", wanted) == (TRIAL,)
    assert (tmp_path / "results" / TRIAL / "index.html").read_text() == "the second"
    assert restore_earlier(tmp_path / "nowhere", wanted) == ()


def test_no_gpu_is_given_twice_at_a_time():
    pool = GpuPool(["GPU-a", "GPU-b"])
    first, second = pool.take(1), pool.take(1)
    assert (first, second, pool.take(1)) == (("GPU-a",), ("GPU-b",), None)
    pool.give_back(first)
    assert (pool.take(2), pool.take(1), pool.take(0)) == (None, ("GPU-a",), ())
    # The trial itself records that the machine does not keep its promise.
    assert pool.take(3) == ()


def options(**changes):
    choice = AgentChoice(name="nop", argument=None, total_seconds=60, setup_seconds=60)
    given = {"manifest": evidence_of("hustvl/Vim", "codex", 1).trial.manifest, "agent": choice}
    return Options(**{**given, "folder": Path("x"), **changes})


@pytest.mark.parametrize(
    ("text", "changes", "gpus", "expected"),
    [
        ("4", {}, 0, 4),
        ("4", {"kind": Kind.LOCAL}, 0, 1),
        ("4", {"gpus": 1}, 2, 2),
        ("4", {"gpus": 2}, 2, 1),
        ("64", {"gpus": 1}, 0, 64),
        ("auto", {"kind": Kind.LOCAL}, 0, 1),
    ],
)
def test_number_of_trials_at_a_time(text, changes, gpus, expected):
    told = []
    assert choose_jobs(text, options(**changes), gpus=gpus, tell=told.append) == expected
    assert bool(told) == (text == "4" and expected < 4)


def test_automatic_number_is_from_the_machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    small = options(limits=replace(options().limits, memory_mib=memory + 1))
    assert choose_jobs("auto", small, gpus=0, tell=print) == 1
    assert 1 <= choose_jobs("auto", options(), gpus=0, tell=print) <= (os.cpu_count() or 1)


@pytest.mark.parametrize("text", ["0", "65", "x", "", "1.5", "\u0664"])
def test_other_numbers_are_refused(text):
    with pytest.raises(UsageError, match="use a number from 1 to 64, or auto"):
        choose_jobs(text, options(), gpus=0, tell=print)


def test_each_trial_has_its_own_key_and_no_process_inherits_any():
    environ = {"REB_MODEL_KEY": "m", "REB_ZAI_KEY": "z", "PATH": "/bin"}
    keys = _take_keys(environ, "model")
    assert (keys["model"], keys["zai"], keys["openai"]) == ("m", "z", "")
    assert environ == {"PATH": "/bin"}
    keys = _take_keys({"REB_MODEL_KEY": "of zai"}, "zai")
    assert (keys["model"], keys["zai"]) == ("", "of zai")


def call(**changes):
    line = {"input_tokens": 1000, "output_tokens": None, "cost_usd": 0.25, **changes}
    return json.dumps(line).encode() + b"\n"


def test_spending_grows_by_whole_lines(tmp_path):
    meter, record = SpendingMeter(tmp_path), tmp_path / "model-calls.jsonl"
    assert meter.read() == Spending()
    record.write_bytes(call() + call(output_tokens=500)[:20])
    assert meter.read() == Spending(calls=1, tokens=1000, cost_usd=0.25)
    record.write_bytes(call() + call(output_tokens=500, cost_usd=None) + b"{}\nno\n")
    assert meter.read() == Spending(calls=2, tokens=2500, cost_usd=0.25)


def test_view_has_a_line_for_each_event_and_one_a_minute(tmp_path):
    lines, clock = [], [0.0]
    view = BatchView(2, lines.append, now=lambda: clock[0])
    view.tell("a", "finished before")
    view.begin(Job(id="b", options=options(folder=tmp_path), environ={}))
    (tmp_path / "model-calls.jsonl").write_bytes(call() * 3)
    view.tell("b", "observing C0")
    clock[0] = 59.0
    view.refresh()
    clock[0] = 61.0
    view.refresh()
    assert view.table() == [("b", "01:01", "3 turns", "3 k tokens", "$0.75", "observing C0")]
    assert view.summary() == "1 of 2 trials ended, 1 running"
    view.end("b", "no space")
    assert lines == [
        "[00:00] a: finished before",
        "[00:00] b: begins (1 at a time)",
        "[00:00] b: observing C0",
        "[01:01] b: 01:01, 3 turns, 3 k tokens, $0.75, observing C0",
        "[01:01] b: could not run: no space; 3 turns, 3 k tokens, $0.75, 01:01 (2 of 2)",
    ]


@pytest.mark.slow
def test_interrupted_batch_keeps_what_is_finished_and_continues(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(make_mirror(tmp_path, name))
    argv = [
        *(sys.executable, "-I", str(MAIN), "batch", "--repositories", "one.yaml,two.yaml"),
        *("--agents", "nop", "--sandbox", "local", "--mirror", "mirror", "--levels", "C0,C5"),
        *("--results", "results"),
    ]
    with subprocess.Popen(argv, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as begun:
        for line in begun.stderr:
            if "example__two.nop.1: begins" in line:
                time.sleep(0.2)
                begun.send_signal(signal.SIGINT)
    assert begun.returncode == 130
    results = tmp_path / "results"
    first = (results / "example__one.nop.1" / "verdict.json").read_bytes()
    assert not (results / "example__two.nop.1" / "verdict.json").exists()
    again = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert "example__one.nop.1: finished before" in again.stderr
    assert again.stdout == "2 trials done, 0 broken, 0 left\n"
    assert (results / "example__one.nop.1" / "verdict.json").read_bytes() == first
