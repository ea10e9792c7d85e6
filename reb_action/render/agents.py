"""The agents that there are, as plain lines."""

from collections.abc import Iterator

from reb_action.model.listing import AgentList, ListedAgent
from reb_action.render.escape import log


def agent_lines(found: AgentList) -> Iterator[str]:
    """Yield a line for each agent, then what it needs and what is missing here."""
    width = max(len(agent.name) for agent in found.agents)
    for agent in found.agents:
        yield f"{agent.name:{width}}  {'; '.join(_facts(agent))}"
        yield from (f"{'':{width}}  missing here: {log(fault)}" for fault in agent.missing)


def _facts(agent: ListedAgent) -> Iterator[str]:
    if agent.program is None:
        yield agent.title
    else:
        yield f"{agent.title} {agent.version} ({agent.program})"
        yield "installed" if agent.installed else "not installed yet"
    if agent.dialect is not None:
        yield f"speaks {agent.dialect}"
    if agent.needs:
        yield f"needs {', '.join(agent.needs)}"
