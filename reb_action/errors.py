"""The errors of `reb` and their exit codes. A failing agent is a result, not an error."""

from typing import ClassVar


class RebError(Exception):
    """Base of all errors; the message says what happened, where, and what to do.

    Each type has an exit code. 0 means that the command worked, even if the agent failed.
    """

    exit_code: ClassVar[int] = 1


class UsageError(RebError):
    """The request is wrong or not possible (the exit code of click's usage errors)."""

    exit_code = 2


class DocumentError(RebError):
    """A manifest, session or other document is missing, invalid or was changed."""

    exit_code = 3


class SandboxError(RebError):
    """The sandbox could not be started, reached or trusted: a fault of the runner."""

    exit_code = 4


class SandboxLostError(SandboxError):
    """The sandbox of a trial does not exist any more."""


class UnendedError(SandboxError):
    """A process of the sandbox could not be killed, so nothing can be measured in it any more."""


class SourceError(RebError):
    """The repository could not be fetched at its pinned commit."""

    exit_code = 5


class ToolchainError(RebError):
    """A tool that reb needs (pyright, node, probes) is missing or broken."""

    exit_code = 6


class GateError(RebError):
    """A result matches `--fail-on`; no other error reports a result."""

    exit_code = 7


class DeadlineError(RebError):
    """The job has too little time left for the next step; earlier results are kept."""

    exit_code = 8


class PlaceError(RebError):
    """A file or folder cannot be read or written: no space, no permission, no such path."""

    exit_code = 9


class GitHubError(RebError):
    """GitHub could not be read or written; the results are not affected."""

    exit_code = 10


class SignatureError(RebError):
    """A folder is unsigned, or its signature is invalid or from an unexpected signer."""

    exit_code = 11


class ModelError(RebError):
    """The model's vendor, key or network ended the agent: no result of the agent."""

    exit_code = 12


def describe_error(error: Exception) -> str:
    """Return the message for an error, with the type of an unexpected one."""
    if isinstance(error, RebError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.strerror or error}: {error.filename or 'an output'}; check the path"
    return f"internal error in reb, please report it: {type(error).__name__}: {error}"
