"""What a gateway is told: which model it stands for, and what an agent may spend on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from reb_action.model.agent import Dialect

DEFAULT_URLS: Final[Mapping[Dialect, str]] = {
    Dialect.ANTHROPIC: "https://api.anthropic.com",
    Dialect.RESPONSES: "https://api.openai.com/v1",
    Dialect.CHAT: "https://api.openai.com/v1",
    Dialect.GEMINI: "https://generativelanguage.googleapis.com",
}
"""Where each dialect comes from; the version is part of it only where other vendors have theirs."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Upstream:
    """The model's own address, as DEFAULT_URLS has it, and the real key.

    `model` is the one that may be asked; any may without it.
    """

    dialect: Dialect
    base_url: str
    key: str = field(repr=False)
    model: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """What an agent may spend; None is no limit.

    `tokens` are input and output of all calls. `first_byte_seconds` is how long a model may stay
    silent, before its answer as within it. `repeats` is how often one request may come, and how
    often one tool call may be among twice as many. `drain_seconds` is how long a model may go on
    after its agent has hung up, so that it can say what the call used.
    """

    calls: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    first_byte_seconds: float = 600.0
    repeats: int | None = None
    drain_seconds: float = 10.0
