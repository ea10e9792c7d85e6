"""A runner that is killed while its agent works: the trial goes on, and both parts count."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reb_action.corpus import manifests
from reb_action.documents import read
from reb_action.errors import ModelError, SandboxError, SandboxLostError, UsageError
from reb_action.gateway.ledger_state import LedgerState
from reb_action.model.agent import AgentRun, Dialect, Ending, Resume
from reb_action.model.fault import FaultCause
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Verdict
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Kind, Limits
from reb_action.session import state
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.progress import AgentProgress, load_progress, save_progress
from reb_action.session.state import AgentChoice, ModelChoice, Phase
from reb_action.trial import agent, leftovers, start, stop
from reb_action.trial import options as trial_options
from tests.support.model_server import KEY, ModelServer
from tests.support.model_server.runs import Run
from tests.support.sandbox_fixtures import KINDS, docker_image
from tests.support.talker import talker
from tests.trial.test_trial import DEMO, silent

ENVIRON = {"REB_MODEL_KEY": KEY}


@dataclass(frozen=True, kw_only=True)
class Killed:
    """A trial with a model, whose runner can be killed."""

    layout: SessionLayout
    server: ModelServer
    run: str

    @property
    def truth(self) -> Run:
        return self.server.run(self.run)

    def kill(self, moment: Callable[[], bool]) -> None:
        """Run `reb agent` in a process of its own, and kill that at a moment."""
        argv = (sys.executable, "-m", "reb_action.cli.main", "agent", str(self.layout.folder))
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        step = subprocess.Popen(argv, env={**os.environ, **ENVIRON}, **quiet)
        deadline = time.monotonic() + 120
        while not moment():
            assert time.monotonic() < deadline, "it did not come to that"
            assert step.poll() is None, "it has ended"
            time.sleep(0.02)
        step.send_signal(signal.SIGKILL)
        step.wait()

    def has_worked(self) -> bool:
        """Say whether it has been at its waiting command for two seconds."""
        path = self.layout.conversation
        if not path.exists() or path.read_bytes().count(b"\n") < 2:
            return False
        # The record of the second answer is written just before the agent gets its end.
        return time.time() > path.stat().st_mtime + 2 and load_progress(self.layout).seconds > 2

    def change_model(self, before: str, after: str) -> None:
        """Have the model do otherwise from now on, and leave the preflight out."""
        session = state.load(self.layout)
        url = session.agent.model.url.replace(f"/{before}/", f"/{after}/")
        model = replace(session.agent.model, url=url, preflight=False)
        state.save(self.layout, replace(session, agent=replace(session.agent, model=model)))

    def resume(self, how: Resume = Resume.CONTINUE) -> AgentRun:
        return agent.run_agent(self.layout, environ=ENVIRON, tell=silent, resume=how)

    def verdict(self) -> Verdict:
        return session_verdict.conclude(self.layout)


@pytest.fixture
def begin(mirror: Path, server: ModelServer, tmp_path: Path) -> Iterator[Callable[..., Killed]]:
    """Return a function that starts a trial."""
    layout = SessionLayout(folder=tmp_path / "results")

    def begun(
        kind: Kind = Kind.LOCAL, *, scenario: str = "waits-once", resumes: bool = True
    ) -> Killed:
        model = ModelChoice(
            name="scripted-1", url=server.url(Dialect.ANTHROPIC, scenario, run=tmp_path.name)
        )
        name = str(talker(tmp_path, resumes=resumes))
        options = trial_options.Options(
            manifest=manifests.load(DEMO / "manifest.yaml"),
            agent=AgentChoice(
                name=name, argument=None, total_seconds=300, setup_seconds=60, model=model
            ),
            folder=layout.folder,
            kind=kind,
            image=docker_image() if kind is Kind.DOCKER else None,
            mirror=mirror,
            levels=(Level.C0, Level.C5),
            limits=Limits(memory_mib=1024, shm_mib=64, processes=200, seconds=900),
        )
        start.start(options, owner=os.getpid(), tell=silent)
        return Killed(layout=layout, server=server, run=tmp_path.name)

    yield begun
    if layout.session.exists():
        stop.stop(layout, tell=silent)


@pytest.mark.parametrize("kind", KINDS)
def test_agent_continues_and_both_parts_are_counted(begin: Callable[..., Killed], kind: Kind):
    trial = begin(kind)
    trial.kill(trial.has_worked)
    before = load_progress(trial.layout).seconds
    run = trial.resume()
    assert trial.truth.statuses == [200] * 5
    (part,) = run.interruptions
    assert (run.ending, run.detail, run.exit_code) == (Ending.DONE, None, 0)
    assert (part.resumed, part.seconds, part.usage.turns) == (Resume.CONTINUE, before, 2)
    assert run.seconds > before > 2
    assert (run.usage.turns, run.usage.tool_calls) == (5, 4)
    assert run.usage == trial.truth.usage
    verdict = trial.verdict()
    assert (verdict.agent_run, verdict.result(Level.C5).outcome) == (run, Outcome.PASSED)
    lines = (trial.layout.trajectory / "conversation.jsonl").read_text().splitlines()
    assert [json.loads(line)["number"] for line in lines] == [1, 2, 3, 4, 5]
    assert not trial.layout.progress.exists()
    assert not trial.layout.ledger.exists()


def test_agent_without_a_session_to_continue_is_measured(begin: Callable[..., Killed]):
    trial = begin(resumes=False)
    trial.kill(trial.has_worked)
    run = trial.resume()
    assert (run.ending, run.cause) == (Ending.CRASHED, FaultCause.RUNNER_KILLED)
    assert run.interruptions[0].resumed is Resume.MEASURE
    assert run.usage.turns == 2
    result = trial.verdict().result(Level.C0)
    assert result.outcome is Outcome.INVALID
    assert result.reason == (
        "not the agent's fault (runner): the runner was killed while the agent worked (it was"
        f" interrupted after {run.seconds:.0f} s, as the runner was killed, and left no report);"
        " run the trial again"
    )


@pytest.mark.parametrize(
    ("is_right", "outcome"), [(True, Outcome.PASSED), (False, Outcome.INVALID)]
)
def test_report_of_a_measured_agent_can_pass_and_not_fail(
    begin: Callable[..., Killed], is_right: bool, outcome: Outcome
):
    trial = begin()
    trial.kill(trial.has_worked)
    place = trial.layout.work / "sandbox" / "workspace"
    claim = None if is_right else "9.9.9"
    names = ("torch_version", "cuda_available", "gpu_count", "ddp_expected_ok", "env_name", "notes")
    fields = dict.fromkeys(names)
    python = str(place / "venv" / "bin" / "python")
    report = {**fields, "python_path": python, "python_version": claim, "env_tool": "venv"}
    (place / "report.json").write_text(json.dumps(report))
    run = trial.resume(Resume.MEASURE)
    assert (run.ending, run.cause) == (Ending.DONE, FaultCause.RUNNER_KILLED)
    result = trial.verdict().result(Level.C5)
    assert result.outcome is outcome
    assert ("the runner was killed while the agent worked" in result.reason) is not is_right


def test_agent_that_was_killed_before_its_first_answer_begins_again(begin: Callable[..., Killed]):
    trial = begin(scenario="slow-headers")
    # The model is asked, and has not answered.
    trial.change_model("slow-headers", "slow-headers")

    def is_asked() -> bool:
        if not trial.layout.ledger.exists():
            return False
        return bool(read(trial.layout.ledger, LedgerState, kind="ledger").open)

    trial.kill(is_asked)
    trial.change_model("slow-headers", "ok")
    run = trial.resume()
    assert run.ending is Ending.DONE
    assert run.interruptions[0].usage.turns == 0
    # What the cut call used is not known.
    assert (run.usage.turns, run.estimate.calls) == (2, 1)
    lines = trial.layout.model_calls.read_text().splitlines()
    courses = [json.loads(line)["course"] for line in lines]
    assert courses == ["cut", "whole", "whole"]


def test_agent_that_was_killed_before_its_command_starts_then(begin: Callable[..., Killed]):
    trial = begin(scenario="ok")
    trial.kill(lambda: bool(trial.truth.preflights))
    assert state.load(trial.layout).phase in (Phase.STARTED, Phase.AGENT)
    run = trial.resume()
    assert run.ending is Ending.DONE


def test_agent_that_had_ended_is_not_run_again(begin: Callable[..., Killed]):
    trial = begin()
    trial.kill(trial.has_worked)
    ended = AgentProgress(
        has_begun=True, has_ended=True, seconds=9.5, setup_seconds=0.5, exit_code=3
    )
    save_progress(trial.layout, ended)
    run = trial.resume()
    assert (run.seconds, run.exit_code, run.interruptions) == (9.5, 3, ())
    assert run.detail == "it ended with exit code 3 and left no report"
    assert run.usage.turns == 2


def test_kill_in_the_freeze_is_finished_by_the_same_command(begin: Callable[..., Killed]):
    trial = begin(scenario="ok")
    trial.kill(lambda: state.load(trial.layout).phase is Phase.AGENT_DONE)
    run = trial.resume()
    assert (run.ending, run.interruptions) == (Ending.DONE, ())
    assert state.load(trial.layout).phase is Phase.FROZEN
    with pytest.raises(UsageError, match="has already been started"):
        trial.resume()


@pytest.mark.parametrize("kind", KINDS)
def test_lost_sandbox_is_invalid_and_says_what_is_lost(begin: Callable[..., Killed], kind: Kind):
    trial = begin(kind)
    trial.kill(trial.has_worked)
    seconds = load_progress(trial.layout).seconds
    session = state.load(trial.layout)
    select.attach(session.spec, session.handle).remove()
    with pytest.raises(
        SandboxError, match=rf"lost: {seconds:.0f} s of the agent's work, 2 answers"
    ):
        trial.resume()
    result = trial.verdict().result(Level.C0)
    assert result.outcome is Outcome.INVALID
    assert result.reason.startswith(
        "not the agent's fault (runner): the sandbox was removed before the agent had finished"
    )
    # In a new sandbox it would wait again.
    trial.change_model("waits-once", "multi")
    run = trial.resume(Resume.RESTART)
    assert run.ending is Ending.DONE
    assert run.interruptions[0].resumed is Resume.RESTART
    # The lost part is told, and is not in the sum.
    assert (run.interruptions[0].usage.turns, run.usage.turns) == (2, 4)


def test_second_kill_adds_up(begin: Callable[..., Killed]):
    trial = begin()
    trial.kill(trial.has_worked)
    sandbox = trial.layout.work / "sandbox"
    (sandbox / "workspace" / "waited").unlink()
    first = load_progress(trial.layout).seconds
    # The command that was interrupted counts as done: the next one writes the report.
    trial.kill((sandbox / "workspace" / "report.json").exists)
    run = trial.resume()
    assert run.interruptions[0].resumed is Resume.CONTINUE
    assert run.interruptions[0].seconds == first
    assert run.seconds >= first
    truth = trial.truth.usage
    if run.estimate is None:
        assert run.usage == truth
    else:
        # The second kill came during a call, which the model has answered or not.
        assert run.estimate.calls == 1
        assert truth.turns - run.usage.turns in (0, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_sweep_stops_and_keeps_what_can_be_resumed(begin: Callable[..., Killed], kind: Kind):
    trial = begin(kind)
    trial.kill(trial.has_worked)
    said: list[str] = []
    leftovers.remove(kind, beside=trial.layout.folder.parent, tell=said.append, resume_hours=1)
    (line,) = [line for line in said if str(trial.layout.folder) in line]
    assert line.startswith("kept the sandbox of the killed trial ")
    assert f"reb agent {trial.layout.folder} resumes it" in line
    assert trial.resume().ending is Ending.DONE


@pytest.mark.parametrize("kind", KINDS)
def test_sweep_removes_it_when_its_hours_are_over(begin: Callable[..., Killed], kind: Kind):
    trial = begin(kind)
    trial.kill(trial.has_worked)
    session = state.load(trial.layout)
    leftovers.remove(kind, beside=trial.layout.folder.parent, tell=silent, resume_hours=0)
    with pytest.raises(SandboxLostError):
        select.attach(session.spec, session.handle)


@pytest.mark.docker
def test_lease_that_ran_out_keeps_the_disk(begin: Callable[..., Killed]):
    trial = begin(Kind.DOCKER)
    trial.kill(trial.has_worked)
    session = state.load(trial.layout)
    # As its keeper does when the lease is over.
    sandbox = select.attach(session.spec, session.handle)
    sandbox.halt()
    assert trial.resume().ending is Ending.DONE


def test_start_in_the_folder_of_an_interrupted_trial_says_how_to_go_on(
    begin: Callable[..., Killed], mirror: Path
):
    trial = begin()
    trial.kill(trial.has_worked)
    options = trial_options.Options(
        manifest=manifests.load(DEMO / "manifest.yaml"),
        agent=AgentChoice(name="nop", argument=None, total_seconds=9, setup_seconds=9),
        folder=trial.layout.folder,
        kind=Kind.LOCAL,
        mirror=mirror,
    )
    with pytest.raises(UsageError, match=r"whose runner was killed; resume it with reb agent"):
        start.start(options, owner=os.getpid(), tell=silent)
    # Its sandbox is still there.
    assert trial.resume().ending is Ending.DONE


def test_wrong_key_at_the_second_part_leaves_the_trial_as_it_is(begin: Callable[..., Killed]):
    trial = begin()
    trial.kill(trial.has_worked)
    with pytest.raises(ModelError):
        agent.run_agent(trial.layout, environ={"REB_MODEL_KEY": "wrong"}, tell=silent)
    assert trial.resume().usage == trial.truth.usage
