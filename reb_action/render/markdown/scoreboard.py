"""A scoreboard as Markdown for a job summary: whole tables within its limit."""

from collections.abc import Iterable, Iterator

from reb_action.model.plan import EarlyStop
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring
from reb_action.render.early_stop import stop_markdown
from reb_action.render.escape import markdown
from reb_action.render.shares import LEGEND
from reb_action.render.tables import (
    Lines,
    Quoted,
    Table,
    headline,
    other,
    resources,
    run_again,
    standings,
    trials,
)


def board_summary(
    board: Scoreboard,
    *,
    scoring: Scoring,
    closed: str | None,
    limit_bytes: int,
    stop: EarlyStop | None = None,
) -> str:
    """Return the results, led by one scoring; a table that does not fit leaves only its title.

    `closed` is the reason why `fail-on` fails the job, if it does, `stop` why the run ended early.
    Trials to run again come before
    the list of trials.
    """
    failed = () if closed is None else (f"Failed by `fail-on`: {markdown(closed)}",)
    early = () if stop is None else (stop_markdown(stop),)
    begin = ("## researchenvbench", headline(board), *early, *failed, LEGEND)
    tables = [standings(board, scoring), standings(board, other(scoring))]
    tables += [run_again(board)] if board.run_again else []
    tables += [resources(board), trials(board, scoring)]
    return (
        "\n\n".join((*begin, *_fitting(tables, limit_bytes - _size("\n\n".join(begin)) - 1))) + "\n"
    )


def table_lines(table: Table) -> Iterator[str]:
    """Yield a table of Markdown: heads, rule, rows."""
    yield f"| {' | '.join(table.heads)} |"
    yield f"|{'---|' * len(table.heads)}"
    for row in table.rows:
        yield f"| {' | '.join(_cell(lines) for lines in row)} |"


def _fitting(tables: Iterable[Table], room: int) -> Iterator[str]:
    for table in tables:
        block = "\n\n".join((f"### {table.title}", "\n".join(table_lines(table)), *table.notes))
        if _size(block) + 2 > room:
            block = f"### {table.title}\n\n{len(table.rows)} rows do not fit into this summary."
        room -= _size(block) + 2
        yield block


def _cell(lines: Lines) -> str:
    return "<br>".join(markdown(part.text) if isinstance(part, Quoted) else part for part in lines)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
