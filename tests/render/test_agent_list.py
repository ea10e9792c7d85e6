"""The agents as plain lines."""

from dataclasses import replace

from reb_action.model.agent import AgentList, Dialect, ListedAgent
from reb_action.render.agent_list import agent_lines

BARE = ListedAgent(
    name="nop",
    title="No agent",
    program=None,
    version=None,
    dialect=None,
    needs=(),
    installed=True,
    missing=(),
)
FULL = replace(
    BARE,
    name="tiny",
    title="Tiny",
    program="git: https://example.org/tiny",
    version="0123456789abcdef" * 2 + "01234567",
    dialect=Dialect.GEMINI,
    needs=("a model", "network"),
    installed=False,
    missing=("REB_MODEL_KEY", "npm\n"),
)


def lines(*agents: ListedAgent) -> list[str]:
    return list(agent_lines(AgentList(sandbox="docker", agents=agents)))


def test_lines_for_people() -> None:
    assert lines(BARE, FULL) == [
        "nop   No agent",
        "tiny  Tiny 0123456789ab (git: https://example.org/tiny)",
        "      not installed; needs a model speaking gemini, network",
        "      missing here: REB_MODEL_KEY",
        "      missing here: npm",
    ]


def test_what_several_agents_lack_is_said_once() -> None:
    bare, full = (replace(one, missing=("engine", *one.missing)) for one in (BARE, FULL))
    assert lines(bare, full, replace(full, name="two", missing=("engine", "REB_MODEL_KEY")))[
        -4:
    ] == [
        "      not installed; needs a model speaking gemini, network",
        "missing here for every agent: engine",
        "missing here for 2 agents: REB_MODEL_KEY",
        "  tiny, two",
    ]
