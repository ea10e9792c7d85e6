"""Opens a loopback port in a sandbox that leads to a socket of the harness."""

from pathlib import Path
from typing import Final

from reb_action.errors import SandboxError
from reb_action.sandbox.protocol import Command, Sandbox, User

PORT: Final = 47801
"""The port of the harness inside the sandbox; no known service uses it."""

SOCKET: Final = "reb.sock"
"""Name of the socket in the folder that is mounted as `layout.gateway`."""

FORWARDER: Final = "reb-forward"
"""Its name among the processes of a sandbox."""

_SCRIPT: Final = Path(__file__).parent / "inside" / "forward.py"
_SECONDS: Final = 60


def forward(sandbox: Sandbox) -> None:
    """Let PORT on 127.0.0.1 inside lead to SOCKET in `layout.gateway`.

    As root, without a capability, so that an agent that ends all its own processes does not cut
    itself off. It ends with everything else at the freeze.
    """
    target = f"{sandbox.layout.gateway}/{SOCKET}"
    done = sandbox.run(
        Command(
            argv=(sandbox.trusted_python, "-I", "-S", "-", str(PORT), target),
            cwd="/",
            timeout_seconds=_SECONDS,
            user=User.ROOT,
            stdin=_SCRIPT.read_bytes(),
        )
    )
    if done.exit_code != 0:
        said = "".join(done.stderr.decode("utf-8", "replace").splitlines()[-1:])[:200]
        message = (
            f"The sandbox could not be connected to the model gateway ({said}); start it again."
        )
        raise SandboxError(message)
