"""Fixtures of the tests of trials."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reb_action.demo import commit_repository
from reb_action.model.agent import Dialect
from reb_action.sandbox.local import neighbours
from reb_action.session.state import AgentChoice, ModelChoice
from tests.support.model_server import ModelServer
from tests.support.talker import talker

DEMO = Path(__file__).parents[1] / "demo"


@pytest.fixture(autouse=True)
def _no_neighbours() -> Iterator[None]:
    """Forget the local sandboxes of a test.

    Where the machine has no PID namespaces, a second local trial is refused. A test that fails
    before it stops its trial must not fail all later tests of its worker.
    """
    yield
    neighbours.forget(alive=lambda _: False)


@pytest.fixture(scope="session")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git mirror of the demonstration's repository."""
    place = tmp_path_factory.mktemp("mirror")
    commit_repository(DEMO, place)
    return place


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """A scripted model."""
    with ModelServer() as one:
        yield one


@pytest.fixture
def choice(server: ModelServer, tmp_path: Path) -> AgentChoice:
    """A small agent and the scripted model."""
    model = ModelChoice(
        name="scripted-1", url=server.url(Dialect.ANTHROPIC, "multi", run=tmp_path.name)
    )
    return AgentChoice(
        name=str(talker(tmp_path)), argument=None, total_seconds=120, setup_seconds=60, model=model
    )
