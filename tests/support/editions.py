"""What a run has to say, for tests: of the sample scoreboard, compared with a changed one."""

from dataclasses import replace

from reb_action.judge.gate import parse_fail_on
from reb_action.model.contestant import Contestant
from reb_action.model.github import RunOrder
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Scoring
from reb_action.render.markdown.run_report import BaseComparison, RunReport
from reb_action.score.base import compare_with_base
from tests.support import scoreboards

LEVELS = tuple(Level)
COMMIT, BASE = "c0ffee" + "0" * 34, "ba5e" + "0" * 36
RUN_URL = "https://github.example/acme/bench/actions/runs/7"
BASE_URL = "https://github.example/acme/bench/tree/reb-leaderboard"
OTHER = {Outcome.PASSED: Outcome.FAILED, Outcome.FAILED: Outcome.PASSED}


def edition(board=None, *, base=None, fail_on="invalid", scoring=Scoring.STRICT, **changes):
    """Return what is to be told; `base` is the scoreboard it is compared with."""
    board = scoreboards.board() if board is None else board
    levels = changes.pop("levels", LEVELS)
    compared = BaseComparison()
    if base is not None:
        found = compare_with_base(base, board, levels=levels, scoring=scoring)
        compared = BaseComparison(commit=BASE, url=BASE_URL, contestants=found)
    told = {
        "key": "researchenvbench", "commit": COMMIT, "run": RunOrder(run_id=7, attempt=2),
        "run_url": RUN_URL, "files": {}, **changes,
    }  # fmt: skip
    fail = parse_fail_on(fail_on, scoring=scoring)
    return RunReport(board=board, levels=levels, fail_on=fail, base=compared, **told)


def flipped(board, every=5):
    """Return a scoreboard in which some outcomes are the other way round."""
    rows = list(board.trials)
    for number, row in enumerate(rows):
        cells = {
            level: replace(cell, outcome=OTHER.get(cell.outcome, cell.outcome))
            if (number + place) % every == 0
            else cell
            for place, (level, cell) in enumerate(row.cells.items())
        }
        rows[number] = replace(row, cells=cells)
    return replace(board, trials=tuple(rows))


def renamed(board, text):
    """Return a scoreboard in which everything that others may write is `text(what)`."""
    rows = tuple(
        replace(
            row,
            trial=text(row.trial),
            repository=text(row.repository),
            agent=text(row.agent),
            model=text("model"),
            contestant=_contestant(row, text),
            cells={
                level: replace(cell, reason=text(cell.reason), cause=text("cause"))
                for level, cell in row.cells.items()
            },
        )
        for row in board.trials
    )
    agents = tuple(
        replace(
            one,
            agent=text(one.agent),
            model=text("model"),
            versions=(text("1"),),
            contestant=_contestant(one, text),
        )
        for one in board.agents
    )
    return replace(
        board,
        trials=rows,
        agents=agents,
        missing={text(name): text(why) for name, why in board.missing.items()},
        invalid={text(name): text(why) for name, why in board.invalid.items()},
    )


def _contestant(row, text):
    return Contestant(id=text(row.name), digest=text("digest"))


def grown(board, count):
    """Return a scoreboard with `count` trials, which are the same again under other names."""
    whole = board.trials
    rows = (
        replace(whole[n % len(whole)], trial=f"{whole[n % len(whole)].trial}{n}",
                repository=f"{whole[n % len(whole)].repository}{n}")
        for n in range(count)
    )  # fmt: skip
    return replace(board, trials=tuple(rows))
