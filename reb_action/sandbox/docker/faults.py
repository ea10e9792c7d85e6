"""Turns errors of the engine, or of the connection to it, into one plain sentence."""

from docker.errors import APIError

_LENGTH = 300

_OF_THE_ENGINE = (
    (
        "no such image",
        "build or pull it on this machine, as docs/self-hosted.md says, and try again",
    ),
    ("could not select device driver", "install the NVIDIA container toolkit for the engine"),
    ("nvidia-container-cli", "check that nvidia-smi works and lists enough GPUs"),
    ("no space left on device", "free space where the engine keeps its data"),
    ("is not running", "it was stopped, or its time limit was reached; start the trial again"),
    ("no such container", "it was removed; start the trial again"),
    ("no such exec", "the sandbox has ended; start the trial again"),
)

_OF_THE_CONNECTION = (
    (
        "permission denied",
        "let this user use the engine's socket (group docker) or set DOCKER_HOST",
    ),
    ("timed out", "check the engine's log; the engine does not answer"),
    ("", "start the Docker engine, or set DOCKER_HOST to its socket"),
)


def explain(error: Exception, *, action: str, where: str) -> str:
    """Return what failed, where, and what to do."""
    if isinstance(error, APIError):
        reason, advices = error.explanation or str(error), _OF_THE_ENGINE
    else:
        reason, advices = str(error), _OF_THE_CONNECTION
    reason = _say_once(" ".join(reason.split())[:_LENGTH].rstrip("."), action)
    advice = [text for needle, text in advices if needle in reason.lower()]
    return "; ".join([f"Docker at {where} could not {action}: {reason}", *advice[:1]]) + "."


def _say_once(reason: str, action: str) -> str:
    """Return a reason without the parts that it repeats, or that the action has named already.

    Engines nest errors: "no such image: X: No such image: X".
    """
    parts = {part.lower(): part for part in reversed(reason.split(": "))}
    new = [part for part in reversed(parts.values()) if not action.endswith(f" {part}")]
    return ": ".join(new) or reason
