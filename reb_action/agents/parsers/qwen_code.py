"""Qwen Code's `stream-json`: Claude Code's format, but input tokens include the cache."""

from pathlib import Path

from reb_action.agents.parsers.claude_code import ended, results, steps
from reb_action.agents.parsers.events import child, count, last, lines, text
from reb_action.agents.parsers.steps import Reading, answered, calls_of
from reb_action.model.agent import Account, Usage


def read(folder: Path) -> Reading:
    """Read the events on standard output."""
    events = tuple(lines(folder / "stdout"))
    spoken = answered(steps(events), results(events))
    closing = last(events, "result")
    used = child(closing, "usage")
    usage = Usage(
        input_tokens=count(used, "input_tokens"),
        cache_read_tokens=count(used, "cache_read_input_tokens"),
        output_tokens=count(used, "output_tokens"),
        turns=count(closing, "num_turns"),
        tool_calls=calls_of(spoken),
    )
    ending, detail = ended(closing)
    versions = (text(event, "qwen_code_version") for event in events)
    return Reading(
        account=Account(
            ending=ending,
            detail=detail,
            usage=usage if used else None,
            version=next(filter(None, versions), None),
        ),
        steps=spoken,
    )
