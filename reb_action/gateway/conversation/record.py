"""Writes the conversation of a trial as it happens: one JSON line for each call of the model.

Long texts keep their head and tail. What is left out is marked in the text and counted in the line.
"""

import json
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.call import ModelCall
from reb_action.gateway.conversation.content import AnswerContent, Message
from reb_action.gateway.json_text import (
    get_count,
    get_list,
    get_number,
    get_text,
    parse_json,
    shorten,
)
from reb_action.redaction import redactor

TEXT_CHARACTERS: Final = 32 * 1024
"""A text above this length is cut."""
FILE_BYTES: Final = 32 * 1024 * 1024
"""When the file is this long, texts are cut to `SHORT_CHARACTERS`."""
SHORT_CHARACTERS: Final = 1024
_TAIL_SHARE: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One call of the model as the live view shows it; `arguments` are those of the first tool.

    `elapsed_seconds` is from the start of the record to the end of the call, `seconds` the time of
    the call. `tokens` and `cost_usd` are those of this call; None is unknown.
    """

    number: int
    elapsed_seconds: float
    seconds: float
    tools: tuple[str, ...]
    arguments: str
    text: str
    tokens: int | None
    cost_usd: float | None
    error: str | None


class Conversation:
    """Writes the record at `path`, without these secrets, and tells `on_turn` of each call.

    A record that exists is continued; `elapsed_seconds` are those of its part.
    """

    def __init__(
        self,
        path: Path,
        *,
        secrets: Iterable[str],
        on_turn: Callable[[Turn], None],
        elapsed_seconds: float = 0.0,
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path
        self._redact = redactor(secrets)
        self._on_turn = on_turn
        self._lock = threading.Lock()
        self._began = time.monotonic() - elapsed_seconds
        before = path.read_bytes() if path.is_file() else b""
        self._number = before.count(b"\n")
        self._size = len(before)

    def add(
        self,
        call: ModelCall,
        messages: Iterable[Message],
        content: AnswerContent,
        cost_usd: float | None,
    ) -> None:
        """Add a call that ends now."""
        with self._lock:
            self._number += 1
            limit = TEXT_CHARACTERS if self._size < FILE_BYTES else SHORT_CHARACTERS
            ended = time.monotonic()
            value: dict[str, Json] = {
                "number": self._number,
                "elapsed_seconds": round(ended - self._began, 3),
                **_times(call, ended),
                **_describe(call, messages, content, limit),
                "cost_usd": None if cost_usd is None else round(cost_usd, 6),
            }
            line = self._redact(json.dumps(value).encode()) + b"\n"
            self._size += len(line)
            with self._file.open("ab") as file:
                file.write(line)
        turn = read_turn(line)
        if turn is not None:
            self._on_turn(turn)


def read_turn(line: bytes) -> Turn | None:
    """Return the turn of a line of the record; None for anything else."""
    value = parse_json(line)
    number = get_count(value, "number")
    if number is None:
        return None
    used = get_count(value, "input_tokens"), get_count(value, "output_tokens")
    calls = get_list(value, "calls")
    return Turn(
        number=number,
        elapsed_seconds=get_number(value, "elapsed_seconds") or 0.0,
        seconds=get_number(value, "seconds") or 0.0,
        tools=tuple(shorten(get_text(call, "name")) for call in calls),
        arguments=get_text(calls[0], "arguments") if calls else "",
        text=get_text(value, "text"),
        tokens=None if None in used else sum(count or 0 for count in used),
        cost_usd=get_number(value, "cost_usd"),
        error=get_text(value, "error") or None,
    )


def cut(text: str, limit: int) -> tuple[str, int]:
    """Return a text of about `limit` characters, and how many were left out of its middle."""
    left_out = len(text) - limit
    if left_out <= 0:
        return text, 0
    tail = limit // _TAIL_SHARE
    middle = f"\n[reb left out {left_out} characters]\n"
    return f"{text[: limit - tail]}{middle}{text[-tail:]}", left_out


def _times(call: ModelCall, ended: float) -> dict[str, Json]:
    seconds = ended - call.started
    began = datetime.fromtimestamp(time.time() - seconds, UTC)
    return {"time": began.isoformat(timespec="milliseconds"), "seconds": round(seconds, 3)}


def _describe(
    call: ModelCall, messages: Iterable[Message], content: AnswerContent, limit: int
) -> dict[str, Json]:
    tokens = call.summary.tokens
    return {
        "model": shorten(call.summary.model or call.model),
        "course": str(call.status),
        "error": call.error or call.summary.error,
        "messages": [
            {"call": message.call, **_text("text", message.text, limit)} for message in messages
        ],
        **_text("text", content.text, limit),
        **_text("reasoning", content.reasoning_text, limit),
        "calls": [
            {"id": one.id, "name": one.name, **_text("arguments", one.arguments, limit)}
            for one in content.calls.values()
        ],
        "answer_left_out": content.left_out,
        "input_tokens": tokens.input,
        "cache_read_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
    }


def _text(name: str, text: str, limit: int) -> dict[str, Json]:
    kept, left_out = cut(text, limit)
    return {name: kept, f"{name}_left_out": left_out} if left_out else {name: kept}
