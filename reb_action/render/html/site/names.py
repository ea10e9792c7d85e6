"""Names on the site: agents for people, files for a server."""

import hashlib
import re
from typing import Final

from reb_action.model.scoreboard import AgentScore

_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}")
_HASHED: Final = re.compile(r"(?:^|-)[0-9a-f]{12}$")
"""The end of a name with a digest; a plain name with this end gets a digest too."""


def folder_of(score: AgentScore) -> str:
    """Return the folder of a contestant's badges; no two contestants share one."""
    agent, model = (score.agent, score.model) if score.has_default_name else (score.name, None)
    if "--" in agent or agent.endswith("-"):
        # The end of the agent's name and the start of the model's would be ambiguous.
        return _hashed(f"{agent} {model or ''}", repr((agent, model)))
    return safe_name(agent if model is None else f"{agent}--{model}")


def contestant_page(score: AgentScore) -> str:
    """Return the address of a contestant's page, from the root of the site."""
    return f"contestants/{folder_of(score)}.html"


def page_of(trial: str) -> str:
    """Return the address of a trial's page, from the root of the site."""
    return f"trials/{safe_name(trial)}.html"


def safe_name(name: str) -> str:
    """Return a name that is safe in a path and an address; different names stay different."""
    if _PLAIN.fullmatch(name) and ".." not in name and not _HASHED.search(name):
        return name
    return _hashed(name, name)


def badge_of(score: AgentScore, level: str) -> str:
    """Return the address of a badge without its ending, from the root of the site."""
    return f"badges/{folder_of(score)}/{level}"


def _hashed(shown: str, name: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9]+", "-", shown).strip("-")[:60]
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{kept}-{digest}" if kept else digest
