"""The agents that there are, and what this machine lacks for each."""

from dataclasses import dataclass

from reb_action.model.agent import Dialect


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedAgent:
    """One agent; `program` is its pinned package, `missing` what a trial here would fail for."""

    name: str
    title: str
    program: str | None
    version: str | None
    dialect: Dialect | None
    needs: tuple[str, ...]
    installed: bool
    missing: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentList:
    """All agents, as seen with one kind of sandbox."""

    sandbox: str
    agents: tuple[ListedAgent, ...]
