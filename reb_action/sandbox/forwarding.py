"""Opens loopback ports in a sandbox that lead to sockets of the harness."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reb_action.errors import SandboxError
from reb_action.sandbox.protocol import Command, Sandbox, User

FORWARDER: Final = "reb-forward"
"""Its name among the processes of a sandbox."""

_SCRIPT: Final = Path(__file__).with_name("forward.py")
_SECONDS: Final = 60


def forward(sandbox: Sandbox, ports: Mapping[int, str]) -> None:
    """Let each port on 127.0.0.1 inside lead to the socket with this name in `layout.gateway`.

    As root, without a capability, so that an agent that ends all its own processes does not cut
    itself off. It ends with everything else at the freeze.
    """
    folder = sandbox.layout.gateway
    words = [word for port, name in ports.items() for word in (str(port), f"{folder}/{name}")]
    done = sandbox.run(
        Command(
            argv=(sandbox.trusted_python, "-I", "-S", "-", *words),
            cwd="/",
            timeout_seconds=_SECONDS,
            user=User.ROOT,
            stdin=_SCRIPT.read_bytes(),
        )
    )
    if done.exit_code != 0:
        said = "".join(done.stderr.decode("utf-8", "replace").splitlines()[-1:])[:200]
        message = f"The sandbox cannot be joined to the model gateway ({said}); start it again."
        raise SandboxError(message)
