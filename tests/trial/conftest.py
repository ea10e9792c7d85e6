"""Keeps a failed trial from failing the tests after it."""

import pytest

from reb_action.sandbox.local import neighbours


@pytest.fixture(autouse=True)
def _no_neighbours():
    """Forget the local sandboxes of a test.

    Where the machine has no PID namespaces, a second local trial is refused. A test that fails
    before it stops its trial must not fail all later tests of its worker.
    """
    yield
    neighbours.forget(alive=lambda _: False)
