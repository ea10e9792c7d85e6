"""The work of an agent as it happens: one line for each turn, and a heartbeat."""

import json
from typing import TYPE_CHECKING, Final

from reb_action.documents import Json
from reb_action.gateway.json_text import parse_json
from reb_action.model.quantity import count
from reb_action.render.escape import clean
from reb_action.render.quantities import amount, clock, dollars, duration

if TYPE_CHECKING:
    from reb_action.gateway.conversation.record import Turn

_SHOWN: Final = 120
# The arguments that say most, in the order of their worth.
_TELLING: Final = (
    *("command", "cmd", "script", "code", "file_path", "path", "filePath", "pattern", "query"),
    *("url", "prompt", "description", "input"),
)


class TurnTotals:
    """Adds up turns; without a known price there is no cost."""

    def __init__(self) -> None:
        self.turns = 0
        self._tokens = 0
        self._tokens_are_known = True
        self._cost_usd: float | None = None

    def add(self, turn: "Turn") -> None:
        """Add a turn."""
        self.turns += 1
        self._tokens += turn.tokens or 0
        self._tokens_are_known = self._tokens_are_known and turn.tokens is not None
        if turn.cost_usd is not None:
            self._cost_usd = (self._cost_usd or 0.0) + turn.cost_usd

    def __str__(self) -> str:
        """Return tokens and cost so far."""
        least = "" if self._tokens_are_known else "at least "
        cost = "" if self._cost_usd is None else f", {dollars(self._cost_usd)}"
        return f"{least}{amount(self._tokens)} tokens{cost}"


def turn_line(turn: "Turn", totals: TurnTotals) -> str:
    """Return a turn in one line: number, time since the start, what it does, and the totals."""
    return (
        f"turn {turn.number} at {clock(turn.elapsed_seconds)}: {_action(turn)}"
        f" ({turn.seconds:.1f} s; {totals} in all)"
    )


def heartbeat_line(totals: TurnTotals, *, quiet_seconds: float, output: str) -> str:
    """Return that an agent still works, and the last line of its output."""
    turns = f"{count(totals.turns, 'turn')}, {totals}; " if totals.turns else ""
    shown = clean(output, limit=_SHOWN)
    last = f"; its last output: {shown}" if shown else ""
    return f"still running: {turns}nothing new for {duration(quiet_seconds)}{last}"


def first_line(arguments: str) -> str:
    """Return the first line of a tool call's command, from its arguments as JSON or text."""
    value: Json = parse_json(arguments.encode("utf-8", "replace"))
    if isinstance(value, dict):
        fields = value
        value = next((fields[name] for name in _TELLING if fields.get(name)), value)
    if isinstance(value, list):
        value = " ".join(str(word) for word in value)
    text = arguments if value is None else value if isinstance(value, str) else json.dumps(value)
    return next(iter(text.strip().splitlines()), "")


def _action(turn: "Turn") -> str:
    first, *others = turn.tools or ("",)
    if first:
        more = f" and {len(others)} more" if others else ""
        return f"{first}{more}: {clean(first_line(turn.arguments), limit=_SHOWN)}"
    if turn.error:
        return f"no whole answer: {clean(turn.error, limit=_SHOWN)}"
    return f"says: {clean(first_line(turn.text), limit=_SHOWN) or 'nothing'}"
