"""The account and the steps that are read from the events of any agent."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from reb_action.agents.parsers.events import plus
from reb_action.documents import Json
from reb_action.model.agent import Account, Ending, Usage


class Speaker(StrEnum):
    """The speaker of a step."""

    SYSTEM = "system"
    USER = "user"
    AGENT = "agent"


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One call of a tool and its result; None is unknown.

    `left_out` counts the characters that the result lacks.
    """

    id: str
    tool: str
    arguments: Mapping[str, Json]
    result: str | None = None
    left_out: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One turn: a message, the calls that it makes and what it cost; `time` is ISO 8601.

    `seconds` is the time of the model. `course` is how the model call ended if it was not complete.
    `left_out` counts the characters that message, reasoning and arguments lack.
    """

    speaker: Speaker
    message: str = ""
    reasoning: str | None = None
    calls: tuple[Call, ...] = ()
    usage: Usage | None = None
    time: str | None = None
    model: str | None = None
    seconds: float | None = None
    course: str | None = None
    left_out: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """All that an agent's files tell."""

    account: Account = field(default_factory=Account)
    steps: tuple[Step, ...] = ()


def answered(steps: Iterable[Step], results: Mapping[str, str]) -> tuple[Step, ...]:
    """Return steps with the results of their calls, by the calls' ids."""
    return tuple(
        replace(
            step,
            calls=tuple(replace(call, result=results.get(call.id)) for call in step.calls),
        )
        for step in steps
    )


def of_answers(
    steps: tuple[Step, ...],
    usages: Iterable[Usage],
    ended: tuple[Ending | None, str | None],
    *,
    version: str | None = None,
) -> Reading:
    """Return the account of an agent that reports the usage of each answer, and no total."""
    ending, detail = ended
    usage = _total(usages, tool_calls=calls_of(steps))
    account = Account(ending=ending, detail=detail, usage=usage, version=version)
    return Reading(account=account, steps=steps)


def beside_cache(
    *, fresh: int | None, read: int | None, written: int | None, output: int | None
) -> Usage:
    """Return the usage of one answer; its input tokens exclude the cache."""
    return Usage(
        input_tokens=plus(fresh, read, written),
        cache_read_tokens=read,
        cache_write_tokens=written or None,
        output_tokens=output,
    )


def join_steps(*steps: Step) -> Step:
    """Return the parts of one turn, which some agents tell one by one, as one step."""
    first = steps[0]
    return replace(
        first,
        message="\n".join(step.message for step in steps if step.message),
        reasoning="\n".join(step.reasoning for step in steps if step.reasoning) or None,
        calls=tuple(call for step in steps for call in step.calls),
        usage=next((step.usage for step in steps if step.usage is not None), None),
        time=next((step.time for step in steps if step.time is not None), None),
    )


def join_texts(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield turns where nothing tells them apart: texts belong to the call that follows them."""
    waiting: list[Step] = []
    for step in steps:
        waiting.append(step)
        if step.calls or step.speaker is not Speaker.AGENT:
            yield from _turn(waiting)
            waiting = []
    yield from _turn(waiting)


def _turn(parts: list[Step]) -> Iterator[Step]:
    """Yield the agent's parts as one step, and the parts of others as separate steps."""
    own = [part for part in parts if part.speaker is Speaker.AGENT]
    if own:
        yield join_steps(*own)
    yield from (part for part in parts if part.speaker is not Speaker.AGENT)


def calls_of(steps: Iterable[Step]) -> int:
    """Return how many calls of tools the steps make."""
    return sum(len(step.calls) for step in steps)


def _total(usages: Iterable[Usage], *, tool_calls: int) -> Usage | None:
    """Return the sum of the known usage of single answers; None without answers."""
    known = tuple(usages)
    if not known:
        return None
    return Usage(
        input_tokens=plus(*(usage.input_tokens for usage in known)),
        cache_read_tokens=plus(*(usage.cache_read_tokens for usage in known)),
        cache_write_tokens=plus(*(usage.cache_write_tokens for usage in known)),
        output_tokens=plus(*(usage.output_tokens for usage in known)),
        turns=len(known),
        tool_calls=tool_calls,
    )
