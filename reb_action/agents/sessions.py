"""Takes out of a sandbox the files that an agent wrote about its own run."""

import re
from collections.abc import Iterable
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

# The newest first: of too many, the last are worth most.
_PACK: Final = """
import glob, io, os, stat, sys, tarfile
root, files, left = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def age(path):
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0
found = {path for pattern in sys.argv[4:]
         for path in glob.glob(os.path.join(glob.escape(root), pattern), recursive=True)}
found = sorted(found, key=age, reverse=True)
with tarfile.open(fileobj=sys.stdout.buffer, mode="w|") as tar:
    for path in found:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        with os.fdopen(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode) or not files:
                continue
            content = stream.read(left + 1)
        if len(content) <= left:
            files, left = files - 1, left - len(content)
            member = tarfile.TarInfo(os.path.relpath(path, root))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
"""


def collect(sandbox: Sandbox, spec: AgentSpec, folder: Path, *, secrets: Iterable[str]) -> None:
    """Keep what matches the agent's patterns below its state folder, without these values.

    What an agent made unreadable is its own loss: there is less to see, and nothing is raised.
    """
    if not spec.sessions:
        return
    limits = (str(FILES), str(TOTAL_BYTES))
    argv = (sandbox.trusted_python, "-I", "-c", _PACK, sandbox.layout.state, *limits)
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
    try:
        for member, content in safe_members(packed.stdout):
            if content is not None:
                documents.write_bytes(folder / _name(member.name), redact(content, hidden))
    except (SandboxError, OSError):
        return


def _name(name: str) -> str:
    """Return a name that every artifact store takes: one that does not loses the whole upload."""
    return re.sub(r"[^A-Za-z0-9._+@=,/-]", "_", name)
