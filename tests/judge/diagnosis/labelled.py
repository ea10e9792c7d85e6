"""Reads the labelled messages and splits them into a development and a held-out part."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import yaml

from reb_action.judge.diagnosis import Cause, Facts

_FOLDER = Path(__file__).parent / "messages"
_LATER = Path(__file__).parent / "later"


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A public error message, what caused it (None: nothing), and where it was found."""

    text: str
    cause: Cause | None
    source: str
    facts: Facts

    @property
    def held_out(self) -> bool:
        """Whether the message only measures the rules, and must not be looked at to write them."""
        return sha256(self.text.encode()).digest()[0] % 3 == 0


def read_messages() -> tuple[Message, ...]:
    """Return every labelled message; the file's name is its cause."""
    return tuple(
        _message(entry, name=path.stem)
        for path in sorted(_FOLDER.glob("*.yaml"))
        for entry in yaml.safe_load(path.read_text())
    )


def read_later_messages(part: str) -> tuple[Message, ...]:
    """Return the messages of `kinds` (rules were written for them) or `blind` (never)."""
    entries = yaml.safe_load((_LATER / f"{part}.yaml").read_text())
    return tuple(_message(entry, name=entry["cause"]) for entry in entries)


def _message(entry: Mapping[str, object], *, name: str) -> Message:
    return Message(
        text=entry["text"],
        cause=None if name == "none" else Cause(name),
        source=entry["source"],
        facts=Facts(**entry.get("facts", {})),
    )
