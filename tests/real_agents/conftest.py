"""Real agents in containers, against the scripted model behind the gateway.

`REB_AGENTS=1 pytest tests/real_agents` runs them: they are installed from the package indexes, 2 GB
in all, once for a machine. Without the variable they are skipped. See docs/agents.md.
"""

import json
import os
import shutil
import socket
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from reb_action.agents.catalogue import load_packaged
from reb_action.demo import commit_repository
from reb_action.documents import read
from reb_action.errors import ToolchainError
from reb_action.gateway.settings import Budget
from reb_action.model.agent import AgentRun
from reb_action.sandbox.docker.connection import connect
from reb_action.sandbox.protocol import Kind, Limits, Network
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, ModelChoice
from reb_action.source.git import run_git
from reb_action.trial import agent, start, stop
from reb_action.trial import options as trial_options
from tests.support.model_server import KEY, ModelServer
from tests.support.sandbox_fixtures import docker_image

DEMO = Path(__file__).parents[1] / "demo"
LIMITS = Limits(memory_mib=4096, shm_mib=64, processes=1000, seconds=1200)


def pytest_collection_modifyitems(items):
    if os.environ.get("REB_AGENTS"):
        return
    mark = pytest.mark.skip(reason="set REB_AGENTS=1 to install and run the real agents")
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(mark)


@dataclass(frozen=True, kw_only=True)
class Played:
    """What came of an agent's work; `model` is the truth about what the model was asked."""

    run: AgentRun
    layout: SessionLayout
    model: object

    @property
    def report(self):
        place = self.layout.report
        return json.loads(place.read_text()) if place.exists() else None

    @property
    def trajectory(self):
        return json.loads((self.layout.trajectory / "trajectory.json").read_text())

    def everything(self):
        """Yield all files that the trial leaves, with their bytes."""
        for path in sorted(self.layout.folder.rglob("*")):
            if path.is_file() and self.layout.work not in path.parents:
                yield path, path.read_bytes()


@pytest.fixture(scope="session")
def image():
    return docker_image()


@pytest.fixture(scope="session")
def scripted():
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="session")
def mirror():
    """Return git's settings for containers that reach no public repository: they ask a server here.

    REB_MIRRORS is a folder of git repositories, `OWNER/NAME`.
    """
    folder = os.environ.get("REB_MIRRORS")
    if not folder:
        yield {}
        return
    bridge = connect().client.networks.get("bridge").attrs["IPAM"]["Config"][0]["Gateway"]
    with socket.socket() as free:
        free.bind((bridge, 0))
        port = free.getsockname()[1]
    argv = ("git", "daemon", "--export-all", f"--base-path={folder}", f"--listen={bridge}")
    # A pinned commit is asked for by its hash.
    wants = ("-c", "uploadpack.allowAnySHA1InWant=true", "-c", "safe.directory=*")
    with subprocess.Popen((argv[0], *wants, *argv[1:], f"--port={port}")) as server:
        yield {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.git://{bridge}:{port}/.insteadOf",
            "GIT_CONFIG_VALUE_0": "https://github.com/",
        }
        server.terminate()


@pytest.fixture
def play(tmp_path, image, scripted, mirror):
    """Return a function that lets an agent work to its end, once for each test.

    `file` is an agent file to take instead of our own, `files` what the repository brings.
    """
    begun = []

    def begin(
        name,
        scenario,
        *,
        seconds=150,
        idle=120,
        files=None,
        file=None,
        during=None,
        model="scripted-1",
        **budget,
    ):
        layout = SessionLayout(folder=tmp_path / "trial")
        begun.append(layout)
        wanted = _described(tmp_path, files or {})
        run = f"{name}-{scenario}-{os.getpid()}-{tmp_path.name}"
        dialect = load_packaged(name).dialect
        given = {"calls": 60, "repeats": 12, "first_byte_seconds": 60.0, "retry_seconds": 5.0}
        given |= budget
        choice = AgentChoice(
            name=str(file or name),
            argument=None,
            total_seconds=seconds,
            setup_seconds=600,
            idle_seconds=idle,
            model=ModelChoice(
                name=model,
                url=scripted.url(dialect, scenario, run=run),
                budget=Budget(**given),
                # Faults of the model are for the agent.
                preflight=False,
            ),
        )
        options = trial_options.Options(
            manifest=wanted,
            agent=choice,
            folder=layout.folder,
            kind=Kind.DOCKER,
            image=image,
            mirror=tmp_path / "mirror",
            network=Network.NONE,
            limits=LIMITS,
        )
        environ = {**os.environ, "REB_MODEL_KEY": KEY, **mirror}
        try:
            start.start(options, owner=os.getpid(), environ=environ, tell=print)
        except ToolchainError as error:
            if not name.startswith("nexau"):
                raise
            pytest.skip(f"NexAU is on no package index: {error}")
        if during is not None:
            during(layout)
        agent.run_agent(layout, environ=environ, tell=print)
        told = read(layout.agent_run, AgentRun, kind="agent_run")
        return Played(run=told, layout=layout, model=scripted.run(run))

    yield begin
    for layout in begun:
        if layout.session.exists():
            stop.stop(layout, tell=print)


def _described(folder, files):
    """Make the demonstration's repository with files planted in it, and return its manifest."""
    place = folder / "demo"
    shutil.copytree(DEMO, place)
    for name, text in files.items():
        path = place / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    wanted = commit_repository(place, folder / "mirror")
    head = run_git(folder / "mirror" / wanted.repository / ".git", "rev-parse", "HEAD", to="look")
    return replace(wanted, commit=head.decode().strip())
