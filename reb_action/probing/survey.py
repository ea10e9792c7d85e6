"""Looks at the sandbox's files with the trusted interpreter: changes, built modules, the binary."""

from dataclasses import dataclass
from typing import Final

from reb_action.copies import archive_of
from reb_action.documents import answer_of
from reb_action.errors import SandboxError
from reb_action.model.agent import Change, Touched
from reb_action.probing.room import Room, nonce
from reb_action.sandbox.protocol import Command
from reb_action.source import Source

_TIMEOUT_SECONDS: Final = 600
_LINK: Final = "120000"
_EXECUTABLE: Final = "100755"


@dataclass(frozen=True, kw_only=True, slots=True)
class InterpreterFile:
    """What a file named as interpreter is, seen without running it."""

    resolved: str
    kind: str
    cpython: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """`touched` pairs a tracked path with its change; `native` are modules built in place.

    `shadows` are folders that stood in the place of tracked modules; the survey removed them.
    """

    touched: tuple[tuple[str, Change], ...]
    shadows: tuple[str, ...]
    native: tuple[str, ...]
    interpreter: InterpreterFile | None


def survey(room: Room, source: Source, *, interpreter: str | None = None) -> Survey:
    """Hold the checkout against the commit; raises SandboxError when no answer comes."""
    question = {
        "repository": room.layout.repository,
        "folders": [room.layout.workspace, room.layout.runs, room.layout.home],
        "interpreter": interpreter,
        "tracked": [
            [file.path, file.mode == _EXECUTABLE, file.mode == _LINK, file.blob_sha1]
            for file in source.files
        ],
    }
    asked = room.ask(f"survey-{nonce()}", question)
    ended = room.sandbox.run(
        Command(
            argv=(room.sandbox.trusted_python, "-I", "-S", room.probe("survey"), asked),
            # Of ours, so that it is there whatever the agent did to its own folders.
            cwd=room.layout.tools,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    )
    seen = answer_of(ended.stdout, Survey)
    if seen is None:
        why = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise SandboxError(f"the sandbox cannot be surveyed: {why or 'no answer'}; run it again")
    return seen


def restore(room: Room, source: Source, seen: Survey) -> tuple[Touched, ...]:
    """Put tracked files back as they are at the commit, and say which, and what shadowed them."""
    if seen.touched:
        archive = archive_of(source, [path for path, _ in seen.touched])
        room.sandbox.put(room.layout.repository, archive)
    changed = [Touched(path=path, change=change) for path, change in seen.touched]
    return (*changed, *(Touched(path=path, change=Change.SHADOWED) for path in seen.shadows))
