"""The recorded parts of a conversation: new messages of a request, text and calls of an answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from reb_action.documents import Json
from reb_action.gateway.json_text import encode_json, get_text

_ANSWER_CHARACTERS: Final = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A new message to the model: a tool's result if `call` names its call, or else a user's text.

    `call` is the id of the call, or the name of the tool if the dialect has no ids.
    """

    text: str
    call: str | None = None


@dataclass(kw_only=True, slots=True)
class ToolCall:
    """A tool call of an answer; its arguments may come in parts."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(kw_only=True, slots=True)
class AnswerContent:
    """Text, reasoning and tool calls of an answer, updated while it streams.

    Text beyond 4 MiB is counted in `left_out` and not kept.
    """

    texts: dict[str, str] = field(default_factory=dict[str, str])
    reasoning: dict[str, str] = field(default_factory=dict[str, str])
    calls: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    left_out: int = 0
    _kept: int = 0

    def add_text(self, position: str, text: str) -> None:
        """Append to the text at this position."""
        self.texts[position] = self.texts.get(position, "") + self._take(text)

    def add_reasoning(self, position: str, text: str) -> None:
        """Append to the reasoning at this position."""
        self.reasoning[position] = self.reasoning.get(position, "") + self._take(text)

    def add_call(
        self, position: str, *, call_id: str = "", name: str = "", arguments: str = ""
    ) -> None:
        """Append to the tool call at this position."""
        call = self.calls.setdefault(position, ToolCall())
        call.id += call_id
        call.name += name
        call.arguments += self._take(arguments)

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(filter(None, self.texts.values()))

    @property
    def reasoning_text(self) -> str:
        """The whole reasoning."""
        return "\n".join(filter(None, self.reasoning.values()))

    def _take(self, text: str) -> str:
        taken = text[: max(0, _ANSWER_CHARACTERS - self._kept)]
        self._kept += len(taken)
        self.left_out += len(text) - len(taken)
        return taken


@dataclass(frozen=True, kw_only=True, slots=True)
class ContentRules:
    """How a dialect is read: one event or a whole answer, and the new messages of a request."""

    read_answer: Callable[[Json, AnswerContent], None]
    read_messages: Callable[[Json], tuple[Message, ...]]


def flatten(value: Json) -> str:
    """Return the text of a message: a text, a list of parts, or other JSON unchanged.

    A part without a text, such as an image, is named.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, (_part(part) for part in value)))
    return "" if value is None else encode_json(value).decode()


def _part(part: Json) -> str:
    if isinstance(part, str):
        return part
    text = get_text(part, "text")
    return text or (f"[{get_text(part, 'type')}]" if get_text(part, "type") else "")
