"""Reports a run of many trials: scoreboard, summary, and the trials to run again."""

from pathlib import Path

from reb_action import documents
from reb_action.errors import SignatureError
from reb_action.github.commands import SUMMARY_BYTES, format_warning, write_outputs, write_summary
from reb_action.github.context import Context
from reb_action.judge.gate import FailOn
from reb_action.model.manifest import Level
from reb_action.model.plan import EarlyStop
from reb_action.model.progress import Progress
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring, Verdict
from reb_action.render.early_stop import stop_line
from reb_action.render.escape import log
from reb_action.render.markdown.scoreboard import board_summary
from reb_action.results import collection, plan_file
from reb_action.results.collection import Collected
from reb_action.results.scoreboard import make_board
from reb_action.session import verdict


def report_run(
    path: Path,
    folder: Path,
    *,
    levels: tuple[Level, ...],
    fail_on: FailOn,
    context: Context,
    tell: Progress,
) -> str | None:
    """Write a run's summary, outputs and files; return the reason for which --fail-on fails it."""
    plan = plan_file.read_plan(path)
    collected = collection.collect((folder,), plan)
    board = make_board(collected, plan, levels=levels)
    closed = collection.explain_failure(collected.found, levels, fail_on)
    stop = collected.stop
    write_board_summary(board, context, scoring=fail_on.scoring, closed=closed, stop=stop)
    _write(path, board, collected, context, tell)
    planned = len(collected.found)
    tell(f"{len(board.trials)} of {planned} planned trials have a verdict")
    if stop is not None:
        tell(stop_line(stop))
    for name in board.run_again:
        tell(f"run again: {log(name)}")
    return closed


def write_board_summary(
    board: Scoreboard,
    context: Context,
    *,
    scoring: Scoring,
    closed: str | None = None,
    stop: EarlyStop | None = None,
) -> None:
    """Append a scoreboard to the job summary, shortened to the runner's limit."""
    limit = SUMMARY_BYTES
    text = board_summary(board, scoring=scoring, closed=closed, limit_bytes=limit, stop=stop)
    write_summary(context, text)


def _write(
    path: Path, board: Scoreboard, collected: Collected, context: Context, tell: Progress
) -> None:
    durations, scoreboard = path.with_name("durations.json"), path.with_name("scoreboard.json")
    documents.write_bytes(
        durations, documents.dump_json(collection.measure_durations(collected.found))
    )
    documents.write(scoreboard, board, kind="scoreboard")
    subjects = _write_subjects(path.with_name("subjects.sha256"), collected, tell)
    write_outputs(
        context,
        {
            "complete": "true" if board.complete else "false",
            "trials": str(len(collected.found)),
            "run-again": " ".join(board.run_again),
            "skipped": "" if collected.stop is None else " ".join(collected.stop.skipped),
            "durations": str(durations),
            "scoreboard": str(scoreboard),
            "subjects": subjects,
        },
    )


def _write_subjects(path: Path, collected: Collected, tell: Progress) -> str:
    """Write the subjects of an attestation of this run; return the path, or "" for none."""
    judged = (name for name, seen in collected.found.items() if isinstance(seen, Verdict))
    try:
        text = verdict.subjects({name: collected.places[name] for name in judged})
    except SignatureError as error:
        tell(format_warning(str(error)))
        return ""
    if text:
        documents.write_bytes(path, text.encode())
    return str(path) if text else ""
