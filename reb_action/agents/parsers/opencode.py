"""OpenCode's `run --format json`: steps with tokens, and no closing event.

It is done when its last step ended with `stop`. Its input tokens leave the cache out, its output
tokens the reasoning, and the request for a title is in none of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reb_action.agents.parsers.events import Event, child, count, last, lines, moment, plus, text
from reb_action.agents.parsers.steps import Call, Reading, Speaker, Step, beside_cache, of_answers
from reb_action.model.agent import Ending, Usage


def read(folder: Path) -> Reading:
    """Read the events on standard output."""
    events = tuple(lines(folder / "stdout"))
    spoken = tuple(_steps(events))
    usages = [_usage(event) for event in events if event.get("type") == "step_finish"]
    return of_answers(spoken, usages, _ended(events))


def _ended(events: Sequence[Event]) -> tuple[Ending | None, str | None]:
    closing = last(events, "step_finish", "error")
    if closing.get("type") == "error":
        error = child(closing, "error")
        data = child(error, "data")
        said = (text(data, "message") or text(error, "name") or "no reason is given")[:300]
        status = count(data, "statusCode")
        if status is not None:
            return Ending.MODEL_ERROR, f"its model failed with {status}: {said}"
        of_model = text(error, "name") == "APIError"
        return Ending.MODEL_ERROR if of_model else Ending.CRASHED, f"it ended with an error: {said}"
    if text(child(closing, "part"), "reason") == "stop":
        return Ending.DONE, None
    return None, None


def _steps(events: Iterable[Event]) -> Iterator[Step]:
    """Yield a step for each round of the model, with all events up to its end."""
    texts: list[str] = []
    reasons: list[str] = []
    calls: list[Call] = []
    for event in events:
        kind, part = event.get("type"), child(event, "part")
        if kind == "text":
            texts.append(text(part, "text") or "")
        elif kind == "reasoning":
            reasons.append(text(part, "text") or "")
        elif kind == "tool_use":
            calls.append(_call(part))
        elif kind in ("step_finish", "error") and (texts or reasons or calls):
            yield Step(
                speaker=Speaker.AGENT,
                message="\n".join(texts),
                reasoning="\n".join(reasons) or None,
                calls=tuple(calls),
                usage=_usage(event) if kind == "step_finish" else None,
                time=moment(event.get("timestamp")),
            )
            texts, reasons, calls = [], [], []
    if texts or reasons or calls:
        yield Step(speaker=Speaker.AGENT, message="\n".join(texts), calls=tuple(calls))


def _call(part: Event) -> Call:
    state = child(part, "state")
    return Call(
        id=text(part, "callID") or "",
        tool=text(part, "tool") or "",
        arguments=dict(child(state, "input")),
        result=text(state, "output") or text(state, "error"),
    )


def _usage(event: Event) -> Usage:
    tokens = child(event, "part", "tokens")
    cache = child(tokens, "cache")
    return beside_cache(
        fresh=count(tokens, "input"),
        read=count(cache, "read"),
        written=count(cache, "write"),
        output=plus(count(tokens, "output"), count(tokens, "reasoning")),
    )
