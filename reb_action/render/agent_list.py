"""The agents that there are, as plain lines of at most 80 characters, but for a fault's own."""

from collections.abc import Iterator
from typing import Final

from reb_action.model.listing import AgentList, ListedAgent
from reb_action.render.escape import log

_COMMIT: Final = 12
"""So many digits of a commit are shown."""


def agent_lines(found: AgentList) -> Iterator[str]:
    """Yield what each agent is, needs and lacks here; what several lack is said once, last."""
    width = max(len(agent.name) for agent in found.agents)
    lacking = _lacking(found)
    for agent in found.agents:
        first, *rest = _facts(agent)
        yield f"{agent.name:{width}}  {first}"
        own = (f"missing here: {log(one)}" for one in agent.missing if len(lacking[one]) == 1)
        yield from (f"{'':{width}}  {line}" for line in (*rest, *own))
    for fault, names in lacking.items():
        if len(names) == len(found.agents) > 1:
            yield f"missing here for every agent: {log(fault)}"
        elif len(names) > 1:
            yield f"missing here for {len(names)} agents: {log(fault)}"
            yield f"  {', '.join(names)}"


def _lacking(found: AgentList) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for agent in found.agents:
        for fault in agent.missing:
            names.setdefault(fault, []).append(agent.name)
    return names


def _facts(agent: ListedAgent) -> Iterator[str]:
    needs = (f"needs {', '.join(_needs(agent))}",) if agent.needs else ()
    if agent.program is None:
        yield "; ".join((agent.title, *needs))
    else:
        yield f"{agent.title} {_pinned(agent)}"
        yield "; ".join(("installed" if agent.installed else "not installed", *needs))


def _pinned(agent: ListedAgent) -> str:
    version, program = agent.version or "", agent.program or ""
    shown = version[:_COMMIT] if program.startswith("git:") else version
    return f"{shown} ({program})"


def _needs(agent: ListedAgent) -> Iterator[str]:
    for need in agent.needs:
        speaking = need == "a model" and agent.dialect is not None
        yield f"{need} speaking {agent.dialect}" if speaking else need
