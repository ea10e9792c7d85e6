"""Who competes: an id that the user gives, and a digest of everything that decides who ran."""

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
