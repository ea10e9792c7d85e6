"""The agents as plain lines of at most 80 characters; a fault may be longer."""

from collections.abc import Iterator
from textwrap import wrap
from typing import Final

from reb_action.model.agent import AgentList, ListedAgent
from reb_action.model.quantity import count
from reb_action.render.escape import log

_COMMIT_DIGITS: Final = 12
_WIDTH: Final = 80


def agent_lines(listing: AgentList) -> Iterator[str]:
    """Yield each agent with what it needs and lacks here; shared faults come once, at the end."""
    width = max(len(agent.name) for agent in listing.agents)
    faults = _agents_by_fault(listing)
    for agent in listing.agents:
        first, *rest = (line for fact in _facts(agent) for line in wrap(fact, _WIDTH - width - 2))
        yield f"{agent.name:{width}}  {first}"
        own = (f"missing here: {log(fault)}" for fault in agent.missing if len(faults[fault]) == 1)
        yield from (f"{'':{width}}  {line}" for line in (*rest, *own))
    for fault, names in faults.items():
        if len(names) == len(listing.agents) > 1:
            yield f"missing here for every agent: {log(fault)}"
        elif len(names) > 1:
            yield f"missing here for {count(len(names), 'agent')}: {log(fault)}"
            yield from (f"  {line}" for line in wrap(", ".join(names), _WIDTH - 2))


def _agents_by_fault(listing: AgentList) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for agent in listing.agents:
        for fault in agent.missing:
            names.setdefault(fault, []).append(agent.name)
    return names


def _facts(agent: ListedAgent) -> Iterator[str]:
    needs = (f"needs {', '.join(_needs(agent))}",) if agent.needs else ()
    if agent.program is None:
        yield "; ".join((agent.title, *needs))
    else:
        yield f"{agent.title} {_program(agent)}"
        yield "; ".join(("installed" if agent.installed else "not installed", *needs))


def _program(agent: ListedAgent) -> str:
    version, program = agent.version or "", agent.program or ""
    shown = version[:_COMMIT_DIGITS] if program.startswith("git:") else version
    return f"{shown} ({program})"


def _needs(agent: ListedAgent) -> Iterator[str]:
    for need in agent.needs:
        is_model = need == "a model" and agent.dialect is not None
        yield f"{need} speaking {agent.dialect}" if is_model else need
