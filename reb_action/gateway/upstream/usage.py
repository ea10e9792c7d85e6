"""Content of one model answer that the gateway uses: tokens, tool calls, end and error."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenCounts:
    """Tokens of one call; None is unknown. Input includes cache, output includes reasoning.

    `cache_write_long` is the part of `cache_write` with a lifetime of one hour. `searches` are web
    searches of the vendor, which it charges one by one.
    """

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_long: int | None = None
    output: int | None = None
    searches: int | None = None

    def updated(self, later: "TokenCounts") -> "TokenCounts":
        """Return these counts, replaced by the known ones of `later`."""
        return self._combine(later, lambda old, new: old if new is None else new)

    def plus(self, other: "TokenCounts") -> "TokenCounts":
        """Return the sum; unknown counts add nothing."""
        return self._combine(other, lambda a, b: (a or 0) + b if b is not None else a)

    def _combine(
        self, other: "TokenCounts", join: Callable[[int | None, int | None], int | None]
    ) -> "TokenCounts":
        return TokenCounts(
            input=join(self.input, other.input),
            cache_read=join(self.cache_read, other.cache_read),
            cache_write=join(self.cache_write, other.cache_write),
            cache_write_long=join(self.cache_write_long, other.cache_write_long),
            output=join(self.output, other.output),
            searches=join(self.searches, other.searches),
        )


@dataclass(kw_only=True, slots=True)
class AnswerSummary:
    """Summary of an answer, updated while it streams.

    `tool_calls` maps a call's position to its name and arguments. `ended` is set by the answer's
    final event or field. `model` is the one that the answer names.
    """

    tokens: TokenCounts = field(default_factory=TokenCounts)
    tool_calls: dict[str, str] = field(default_factory=dict[str, str])
    ended: bool = False
    error: str | None = None
    model: str | None = None

    def update_tokens(self, tokens: TokenCounts) -> None:
        """Take over the known counts; later ones replace earlier ones."""
        self.tokens = self.tokens.updated(tokens)

    def add_tool_text(self, position: str, text: str) -> None:
        """Append a piece of the tool call at this position."""
        self.tool_calls[position] = self.tool_calls.get(position, "") + text
