"""The paper's protocol in a trial: its task, its one retry, root where the agent had root."""

from dataclasses import replace

import pytest

from reb_action.corpus import manifests
from reb_action.documents import read
from reb_action.model.agent import AgentRun, Ending, Protocol
from reb_action.model.report import Report
from reb_action.sandbox.protocol import Kind, Limits, Network
from reb_action.session.layout import SessionLayout
from reb_action.session.report import parse
from reb_action.session.state import AgentChoice
from reb_action.trial import agent, start, stop
from reb_action.trial.options import Options
from tests.support.model_server.scenarios import REPORT, VENV
from tests.support.sandbox_fixtures import docker_image
from tests.trial.test_trial import DEMO, silent

MARK = "reb-was-here"


@pytest.fixture
def play(mirror, tmp_path):
    """Return a function that runs a shell script as the agent, in a trial of its own."""

    def begin(script, *, kind=Kind.LOCAL, agent_file=None, **change):
        path = tmp_path / "agent.sh"
        path.write_text(script)
        choice = AgentChoice(
            name=str(agent_file or "command"),
            argument=None if agent_file else f"sh {path}",
            total_seconds=60,
            setup_seconds=60,
        )
        layout = SessionLayout(folder=tmp_path / "trial")
        options = Options(
            manifest=manifests.load(DEMO / "manifest.yaml"),
            agent=replace(choice, **change),
            folder=layout.folder,
            kind=kind,
            image=docker_image() if kind is Kind.DOCKER else None,
            mirror=mirror,
            network=Network.NONE if kind is Kind.DOCKER else Network.OPEN,
            limits=Limits(memory_mib=1024, shm_mib=64, processes=200, seconds=600),
        )
        start.start(options, owner=1, tell=silent)
        try:
            agent.run_agent(layout, environ={}, tell=silent)
        finally:
            stop.stop(layout, tell=silent)
        return read(layout.agent_run, AgentRun, kind="agent_run"), layout

    return begin


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_agent_without_a_report_is_started_once_more(play, tmp_path):
    script = tmp_path / "good.sh"
    script.write_text(f"{VENV}\n{REPORT}\n")
    mark = tmp_path / MARK
    run, layout = play(
        f"cat; if [ -e {mark} ]; then exec sh {script}; fi; touch {mark}; exit 3",
        protocol=Protocol.PAPER,
    )
    assert (run.ending, run.attempts, run.protocol) == (Ending.DONE, 2, Protocol.PAPER)
    assert isinstance(parse(layout.report.read_bytes()), Report)
    told = one_line(layout.agent_log.read_text())
    assert told.count("Environment setup for a machine learning repository") == 2
    assert told.count("Your last run left no valid report") == 1


@pytest.mark.parametrize(
    ("protocol", "script", "attempts"),
    [
        (Protocol.STANDARD, "exit 3", 1),
        (Protocol.PAPER, "exit 3", 2),
        (Protocol.PAPER, 'echo "{}" > "$REB_REPORT"', 2),
        (Protocol.PAPER, f"{VENV} && {REPORT}", 1),
    ],
)
def test_only_the_paper_starts_again_and_only_without_a_usable_report(
    play, protocol, script, attempts
):
    run, _ = play(script, protocol=protocol)
    assert (run.attempts, run.protocol) == (attempts, protocol)


def test_agent_that_was_ended_by_its_clock_is_not_started_again(play):
    run, _ = play("sleep 60", protocol=Protocol.PAPER, total_seconds=2, idle_seconds=60)
    assert (run.ending, run.attempts) == (Ending.TIMED_OUT, 1)


AGENT = """
name: rooted
title: Rooted
argv: [sh, -c, 'id -u; touch /etc/reb && chown 1234 /etc/reb && stat -c %u /etc/reb']
"""


@pytest.mark.docker
@pytest.mark.parametrize(
    ("protocol", "paper", "said"),
    [
        (Protocol.PAPER, "paper: { root: true }", ["0", "1234"]),
        (Protocol.PAPER, "", ["1000"]),
        (Protocol.STANDARD, "paper: { root: true }", ["1000"]),
    ],
)
def test_agent_is_root_in_its_container_as_in_the_paper(play, tmp_path, protocol, paper, said):
    path = tmp_path / "rooted.yaml"
    path.write_text(AGENT.lstrip() + paper)
    run, layout = play("", kind=Kind.DOCKER, agent_file=path, protocol=protocol)
    lines = layout.agent_log.read_text().splitlines()
    assert [line for line in lines if line.isdigit()][: len(said)] == said
    assert run.root == (said[0] == "0")


@pytest.mark.docker
def test_environment_of_a_root_agent_is_observed(play, tmp_path):
    path = tmp_path / "rooted.yaml"
    script = f"{VENV} && {REPORT}".replace("'", "''")
    path.write_text(
        f"name: rooted\ntitle: Rooted\npaper: {{ root: true }}\nargv: [sh, -c, '{script}']\n"
    )
    run, layout = play("", kind=Kind.DOCKER, agent_file=path, protocol=Protocol.PAPER)
    assert (run.root, run.ending) == (True, Ending.DONE)
    assert layout.interpreter.is_file()
