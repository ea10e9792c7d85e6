"""Reads what the agent of a running trial has used so far, from the record of its calls."""

import json
from dataclasses import dataclass
from pathlib import Path

from reb_action.session.layout import SessionLayout


@dataclass(frozen=True, kw_only=True, slots=True)
class Spending:
    """Calls of the model, tokens in and out, and US dollars, if known."""

    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class SpendingMeter:
    """Adds up the lines that a trial's record has got since the last look."""

    def __init__(self, folder: Path) -> None:
        self._path = SessionLayout(folder=folder).model_calls
        self._offset = 0
        self._seen = Spending()

    def read(self) -> Spending:
        """Return everything so far; a line that is not whole yet is read the next time."""
        try:
            with self._path.open("rb") as stream:
                stream.seek(self._offset)
                data = stream.read()
        except OSError:
            return self._seen
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            self._add(line)
        return self._seen

    def _add(self, line: bytes) -> None:
        try:
            call = json.loads(line)
            tokens = (call["input_tokens"] or 0) + (call["output_tokens"] or 0)
            self._seen = Spending(
                calls=self._seen.calls + 1,
                tokens=self._seen.tokens + tokens,
                cost_usd=self._seen.cost_usd + (call["cost_usd"] or 0.0),
            )
        except (ValueError, KeyError, TypeError):
            # The trial itself judges its record; this is only for the view.
            return
