"""The agent phase with a model: through the gateway, within limits, leaking nothing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_fixtures import KINDS, docker_image
from talker import talker
from test_trial import DEMO, silent

from reb_action import manifest, trial
from reb_action.demo import committed
from reb_action.layout import SessionLayout
from reb_action.model.agent import AgentRun, Dialect, Ending
from reb_action.model.agent import Key as KeyPlace
from reb_action.sandbox.protocol import Kind, Limits, Network
from reb_action.session import AgentChoice, ModelChoice
from tests.model_server import KEY, ModelServer
from tests.model_server.scenarios import COMMANDS

ENVIRON = {"REB_MODEL_KEY": KEY}


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("mirror")
    committed(DEMO, place)
    return place


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as one:
        yield one


@pytest.fixture
def choice(server: ModelServer, tmp_path: Path) -> AgentChoice:
    model = ModelChoice(
        name="scripted-1", url=server.url(Dialect.ANTHROPIC, "multi", run=tmp_path.name)
    )
    return AgentChoice(
        name=str(talker(tmp_path)), argument=None, total_seconds=120, setup_seconds=60, model=model
    )


def scenario(choice: AgentChoice, name: str, **other: object) -> AgentChoice:
    """Return the choice with another scenario of the model, and another budget."""
    url = choice.model.url.replace("/multi/", f"/{name}/")
    return replace(choice, model=replace(choice.model, url=url, **other))


def options(
    kind: Kind, choice: AgentChoice, mirror: Path, tmp_path: Path, **other: object
) -> trial.Options:
    return trial.Options(
        manifest=manifest.load(DEMO / "manifest.yaml"),
        agent=choice,
        folder=tmp_path / "results",
        kind=kind,
        image=docker_image() if kind is Kind.DOCKER else None,
        mirror=mirror,
        limits=Limits(memory_mib=1024, shm_mib=64, processes=200, seconds=900),
        **other,
    )


def work(chosen: trial.Options) -> AgentRun:
    """Run a trial to the end of its agent, then remove its sandbox."""
    layout = SessionLayout(folder=chosen.folder)
    trial.start(chosen, owner=1, tell=silent)
    try:
        return trial.run_agent(layout, environ=ENVIRON, tell=silent)
    finally:
        trial.stop(layout, tell=silent)


def kept(folder: Path) -> dict[str, bytes]:
    """Return every file that a trial leaves."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_agent_works_with_a_model_that_it_never_reaches(
    kind: Kind, choice: AgentChoice, server: ModelServer, mirror: Path, tmp_path: Path
):
    network = Network.NONE if kind is Kind.DOCKER else Network.OPEN
    done = work(options(kind, choice, mirror, tmp_path, network=network))
    truth = server.run(tmp_path.name)
    assert (done.ending, done.detail, done.exit_code) == (Ending.DONE, None, 0)
    assert (done.model, done.key, done.network) == ("scripted-1", KeyPlace.GATEWAY, str(network))
    assert done.usage == truth.usage
    assert truth.statuses == [200] * (len(COMMANDS) + 2)
    layout = SessionLayout(folder=tmp_path / "results")
    assert len(layout.model_calls.read_text().splitlines()) == len(truth.statuses)
    assert len((layout.trajectory / "sessions" / "session.jsonl").read_text().splitlines()) == 4
