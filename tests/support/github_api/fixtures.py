"""The loopback GitHub as a fixture, for both editions, and the clients that talk to it."""

import os
from contextlib import contextmanager

import pytest

from tests.support.github_api import describe


@pytest.fixture
def api():
    """Yield a GitHub as on github.com; its messages were as described, or the test fails."""
    with serve("github") as served:
        yield served


@pytest.fixture
def enterprise_api():
    """Yield a GitHub Enterprise Server: another base path, no limits."""
    with serve("ghes") as served:
        yield served


@contextmanager
def serve(edition):
    # Not at the top: every test's run loads this file.
    from tests.support.github_api.server import GitHubApi  # noqa: PLC0415

    if not describe.cut().exists():
        program = ".venv/bin/python tests/support/github_api/describe.py"
        missing = f"GitHub's description is not here: {program}"
        if os.environ.get("REB_DESCRIPTION") == "required":
            pytest.fail(missing)
        pytest.skip(missing)
    with GitHubApi(edition) as served:
        yield served
        assert (served.faults, served.refused) == ([], [])


def client_of(api, *, token="token", **pacing):
    """Return a client of the loopback GitHub, on its clock."""
    from reb_action.github.api.client import Client  # noqa: PLC0415
    from reb_action.model.github import Pacing, Server  # noqa: PLC0415

    server = Server(token=token, repository=api.world.repository, api_url=api.url)
    chosen = Pacing(**{"between_writes": 0, **pacing})
    return Client(server, pacing=chosen, clock=api.clock, sleep=api.clock.sleep)
