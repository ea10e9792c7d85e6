"""The ways in which `reb` itself can be stopped; a failing agent is a result, not an error."""

from typing import ClassVar


class RebError(Exception):
    """Something stops us; the message says what happened, where, and what to do.

    The exit code belongs to the type. 0: the command did its work, whatever the agent achieved.
    """

    exit_code: ClassVar[int] = 1


class UsageError(RebError):
    """What the caller asked for cannot be done as asked (same code as click's own)."""

    exit_code = 2


class DocumentError(RebError):
    """A manifest, session or other document of ours is missing, malformed or tampered with."""

    exit_code = 3


class SandboxError(RebError):
    """The sandbox cannot be started, reached or trusted: the runner's fault, not the agent's."""

    exit_code = 4


class UnendedError(SandboxError):
    """A process of the sandbox cannot be ended, so that nothing more may be measured in it."""


class SourceError(RebError):
    """The repository cannot be had at its pinned commit."""

    exit_code = 5


class ToolchainError(RebError):
    """Something the harness brings itself (pyright, node, probes) is missing or broken."""

    exit_code = 6


class GateError(RebError):
    """What `--fail-on` names has occurred: the one way in which a result fails a job."""

    exit_code = 7


class DeadlineError(RebError):
    """The job has too little time left for the next step; what was seen so far is kept."""

    exit_code = 8


class PlaceError(RebError):
    """A file or folder of the caller cannot be used: no room, no permission, no such place."""

    exit_code = 9


class GitHubError(RebError):
    """GitHub cannot be read or written as asked; what was measured is not touched by it."""

    exit_code = 10


class SignatureError(RebError):
    """Nobody who is trusted vouches for a folder: it is unsigned, or somebody else signed it."""

    exit_code = 11


def told(error: Exception) -> str:
    """Return what is to be known of an error: of one that nobody foresaw, also what it is."""
    if isinstance(error, RebError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {error.filename or 'an output'}; see to it"
    return f"a fault of reb itself, please report it: {type(error).__name__}: {error}"
