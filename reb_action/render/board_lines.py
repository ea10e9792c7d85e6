"""A scoreboard in plain lines: for a pipe, a log, a screen reader."""

from collections.abc import Iterator

from reb_action.model.manifest import Level
from reb_action.model.scoreboard import AgentScore, Published, Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.render import shares
from reb_action.render.escape import log
from reb_action.render.quantities import amount, dollars, duration, size
from reb_action.render.tables import PUBLISHED, headline


def board_lines(board: Scoreboard) -> Iterator[str]:
    """Yield each agent, level by level in both scorings, then what is incomplete."""
    for one in board.agents:
        yield from _agent(one)
    for row in board.published:
        yield from _published(row)
    for kind, found in (("missing", board.missing), ("invalid", board.invalid)):
        for name, why in found.items():
            yield f"run again, {kind}: {log(name)}: {log(why)}"
    yield headline(board)


def _agent(one: AgentScore) -> Iterator[str]:
    yield f"{_name(one.agent, one.model)}: {one.judged} of {one.planned} trials have a verdict"
    for level in one.levels[Scoring.STRICT]:
        told = (f"{scoring} {_share(one, scoring, level)}" for scoring in Scoring)
        yield f"  {level} {'; '.join(told)}"
    for scoring, count in one.imports.items():
        yield f"  imports missing, {scoring}: {' '.join(shares.imports(count))}"
    yield f"  hallucinations: {' '.join(shares.hallucinations(one))}"
    for name, text in _spent(one):
        yield f"  {name}: {' '.join(text)}"


def _share(one: AgentScore, scoring: Scoring, level: Level) -> str:
    return " ".join(shares.lines(one.levels[scoring][level]))


def _spent(one: AgentScore) -> Iterator[tuple[str, tuple[str, str]]]:
    took, planned = one.spent, one.planned
    yield "tokens in, mean", shares.mean(took.input_tokens, planned, amount)
    yield "tokens out, mean", shares.mean(took.output_tokens, planned, amount)
    yield "cost, mean", shares.mean(took.cost_usd, planned, dollars)
    yield "time, mean", shares.mean(took.seconds, planned, duration)
    yield "environment, mean", shares.mean(took.prefix_bytes, planned, size)


def _published(one: Published) -> Iterator[str]:
    yield f"{_name(one.agent, one.model)}: {PUBLISHED}, paper scoring, {log(one.source)}"
    for level, share in one.levels.items():
        yield f"  {level} {' '.join(shares.lines(share))}"
    yield f"  imports missing: {' '.join(shares.imports(one.imports))}"
    yield f"  hallucinations: {' '.join(shares.published_hallucinations(one))}"


def _name(agent: str, model: str | None) -> str:
    return log(agent) if model is None else f"{log(agent)} {log(model)}"
