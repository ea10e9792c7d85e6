"""Takes out of a sandbox the files that an agent wrote about its own run."""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from reb_action import documents
from reb_action.agents.spec import AgentSpec
from reb_action.errors import SandboxError
from reb_action.redaction import redact
from reb_action.sandbox.archive import safe_members
from reb_action.sandbox.protocol import Command, Sandbox

FILES: Final = 200
TOTAL_BYTES: Final = 32 * 1024 * 1024
_SECONDS: Final = 120
_HEADERS_BYTES: Final = FILES * 4096

_PACK: Final = Path(__file__).parents[1] / "inside" / "pack.py"


def collect(sandbox: Sandbox, spec: AgentSpec, folder: Path, *, secrets: Iterable[str]) -> None:
    """Keep the files of the state folder that match the agent's patterns, without these secrets.

    Files that the agent made unreadable are skipped without an error.
    """
    if not spec.sessions:
        return
    limits = (str(FILES), str(TOTAL_BYTES))
    script = _PACK.read_text(encoding="utf-8")
    argv = (sandbox.trusted_python, "-I", "-c", script, sandbox.layout.state, *limits)
    packed = sandbox.run(
        Command(
            argv=(*argv, *spec.sessions),
            cwd="/",
            timeout_seconds=_SECONDS,
            output_limit_bytes=TOTAL_BYTES + _HEADERS_BYTES,
        )
    )
    if packed.exit_code != 0 or packed.dropped_bytes:
        return
    hidden = tuple(secrets)
    with suppress(SandboxError):
        for member, content in safe_members(packed.stdout):
            if content is not None:
                _keep(folder / _name(member.name, hidden), redact(content, hidden))


def _keep(path: Path, content: bytes) -> None:
    # The name is too long, or another file needs a folder of this name: only it is lost.
    with suppress(OSError):
        documents.write_bytes(path, content)


def _name(name: str, hidden: tuple[str, ...]) -> str:
    """Return a name without these values that every artifact store takes.

    One that a store does not take loses the whole upload.
    """
    # Again at the end: replaced characters may have turned the name into a secret.
    return _clean(_clean(name, hidden), hidden)


def _clean(name: str, hidden: tuple[str, ...]) -> str:
    shown = redact(name.encode("utf-8", "replace"), hidden).decode("utf-8", "replace")
    return re.sub(r"[^A-Za-z0-9._+@=,/-]", "_", shown)
