"""How things are called on the site: agents for people, files for a server."""

import hashlib
import re
from typing import Final

from reb_action.model.scoreboard import AgentScore, Published, TrialRow

_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}")
_HASHED: Final = re.compile(r"(?:^|-)[0-9a-f]{12}$")
"""How a name with a digest ends; a plain one that ends so gets one of its own."""


def agent_of(one: AgentScore | Published | TrialRow) -> str:
    """Return an agent, with its model where it has one."""
    return one.agent if one.model is None else f"{one.agent} ({one.model})"


def folder_of(score: AgentScore) -> str:
    """Return the name of an agent's folder of badges; of two agents or models it is never one."""
    agent, model = score.agent, score.model
    if "--" in agent or agent.endswith("-"):
        # Where its name ends and that of a model begins could not be told.
        return _hashed(f"{agent} {model or ''}", repr((agent, model)))
    return safe(agent if model is None else f"{agent}--{model}")


def page_of(trial: str) -> str:
    """Return the address of a trial's page, from the root of the site."""
    return f"trials/{safe(trial)}.html"


def safe(name: str) -> str:
    """Return a name that is safe in a path and an address; different names stay different."""
    if _PLAIN.fullmatch(name) and ".." not in name and not _HASHED.search(name):
        return name
    return _hashed(name, name)


def _hashed(shown: str, name: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9]+", "-", shown).strip("-")[:60]
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{kept}-{digest}" if kept else digest


def badge_of(score: AgentScore, level: str) -> str:
    """Return the address of a badge without its ending, from the root of the site."""
    return f"badges/{folder_of(score)}/{level}"
