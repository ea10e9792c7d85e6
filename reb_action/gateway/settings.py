"""Settings of a gateway: the model behind it and the agent's budget."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from reb_action.model.agent import Dialect

DEFAULT_URLS: Final[Mapping[Dialect, str]] = {
    Dialect.ANTHROPIC: "https://api.anthropic.com",
    Dialect.RESPONSES: "https://api.openai.com/v1",
    Dialect.CHAT: "https://api.openai.com/v1",
    Dialect.GEMINI: "https://generativelanguage.googleapis.com",
}
"""Base URL of each dialect; it includes the version where vendors disagree on its path."""


class HostedTools(StrEnum):
    """What happens to tools that the vendor would run, and content that it would fetch."""

    FORWARD = "forward"
    REMOVE = "remove"


@dataclass(frozen=True, kw_only=True, slots=True)
class Upstream:
    """The vendor's base URL, the real API key, and the only model allowed (None allows any)."""

    dialect: Dialect
    base_url: str
    key: str = field(repr=False)
    model: str | None = None
    hosted_tools: HostedTools = HostedTools.FORWARD


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """Limits for the model calls of one trial; None means no limit.

    `tokens` is the sum of input and output tokens. `first_byte_seconds` is the longest silence of
    the model, before and within an answer. `repeats` limits identical requests, and identical tool
    calls with identical results among twice as many. `drain_seconds` is how long an answer is read
    on after the agent closed its connection, so that its usage is still counted. `retry_seconds`
    is how long one call may wait for an overloaded model before the agent gets the error.
    """

    calls: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    first_byte_seconds: float = 600.0
    repeats: int | None = None
    drain_seconds: float = 10.0
    retry_seconds: float = 240.0
