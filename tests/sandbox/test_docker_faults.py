"""Errors of the engine, each in one sentence that says nothing twice."""

import pytest
from docker.errors import APIError

from reb_action.sandbox.docker.faults import explain


@pytest.mark.parametrize(
    ("explanation", "action", "said"),
    [
        (
            "no such image: x/y:latest: No such image: x/y:latest",
            "find the image x/y:latest",
            (
                "Docker at /sock could not find the image x/y:latest: no such image; build or pull"
                " it on this machine, as docs/self-hosted.md says, and try again."
            ),
        ),
        (
            "write /var: no space left on device",
            "start the sandbox",
            (
                "Docker at /sock could not start the sandbox: write /var: no space left on device;"
                " free space where the engine keeps its data."
            ),
        ),
        ("", "find the sandbox", "Docker at /sock could not find the sandbox: 500 Server Error."),
    ],
)
def test_reason_is_said_once(explanation, action, said):
    error = APIError("500 Server Error", explanation=explanation)
    assert explain(error, action=action, where="/sock") == said
