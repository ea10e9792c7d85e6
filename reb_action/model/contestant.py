"""A contestant: an id that the user gives, and a digest of its definition."""

import re
from dataclasses import dataclass
from typing import Final

ID_CHARACTERS: Final = 60
ID_PATTERN: Final = rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{ID_CHARACTERS - 1}}}"
"""An id is a part of a trial's id, which dots separate, and of names of files and artifacts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contestant:
    """The stable name of a contestant, and the digest (SHA-256) of its definition.

    The digest covers the agent or the agent file, the model with its address and protocol, the
    options and the budgets, but not the version of the agent's program. Two contestants are the
    same if both are equal.
    """

    id: str
    digest: str

    @property
    def short_digest(self) -> str:
        """The first characters of the digest, for people."""
        return self.digest[:8]


def default_id(agent: str, model: str | None) -> str:
    """Return the id of a contestant to which the user gave none: the agent, and its model."""
    name = agent if model is None else f"{agent}-{model}"
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-_")[:ID_CHARACTERS] or "agent"


def is_id(text: str) -> bool:
    """Return whether a text can be the id of a contestant."""
    return re.fullmatch(ID_PATTERN, text) is not None


MODEL_KEY: Final = "model"
KEY_NAMES: Final = (
    *(MODEL_KEY, "anthropic", "openai", "gemini", "deepseek", "dashscope"),
    *("moonshot", "openrouter", "zai", "other"),
)
"""Names of vendors' keys: `<name>-key` is the workflow's secret, `REB_<NAME>_KEY` the variable."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ContestantEntry:
    """A contestant as a file or a list of agents defines it; None is as the command has it.

    `key` is the name of the vendor's key, `id` None for the default id.
    """

    agent: str
    id: str | None = None
    argument: str | None = None
    model: str | None = None
    model_url: str | None = None
    key: str = MODEL_KEY
    protocol: str | None = None
    agent_seconds: int | None = None
    idle_seconds: int | None = None
    budget_calls: int | None = None
    budget_tokens: int | None = None
    budget_usd: float | None = None
    repeat_limit: int | None = None
    accept_other_model: bool | None = None
    direct_key: bool | None = None


def key_variable(name: str) -> str:
    """Return the environment variable of a vendor's key."""
    return f"REB_{name.upper()}_KEY"
