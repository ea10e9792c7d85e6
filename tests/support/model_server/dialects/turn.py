"""What all dialects share: a request as it matters here, and one turn of the model."""

from dataclasses import dataclass


class BadRequestError(Exception):
    """The request does not have the shape of its dialect; the message says why."""


def require(condition, message):
    """Refuse a request that is not so."""
    if not condition:
        raise BadRequestError(message)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """A request: the tools that it offers and how many results of tools it brings."""

    model: str
    stream: bool
    tools: tuple
    results: int
    wants_usage: bool = True


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One turn: a call of `tool`, or `text` alone."""

    text: str = ""
    tool: str | None = None
    arguments: dict | None = None
    call: str = "call_0"


def pieces(text):
    """Cut text into three parts, as a stream brings it."""
    third = max(len(text) // 3, 1)
    return [part for part in (text[:third], text[third : 2 * third], text[2 * third :]) if part]
