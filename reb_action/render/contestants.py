"""The names of contestants for people: agent and model, after an id that the user gave."""

from reb_action.model.scoreboard import AgentScore, TrialRow


def title_lines(row: AgentScore | TrialRow) -> tuple[str, ...]:
    """Return the name of a contestant in one or two lines.

    An id that the user did not give repeats the agent and the model, so it is not shown.
    """
    if row.has_default_name:
        return (row.agent,) if row.model is None else (row.agent, row.model)
    return (row.name, row.agent if row.model is None else f"{row.agent}, {row.model}")


def title_of(row: AgentScore | TrialRow) -> str:
    """Return the name of a contestant in one line."""
    first, *rest = title_lines(row)
    return f"{first} ({rest[0]})" if rest else first
