"""From artifacts to a scoreboard, and from there to what a runner is told."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from reb_action import collection, console, documents, judging, manifest, planning, published
from reb_action.collection import Collected
from reb_action.errors import RebError, SignatureError, UsageError
from reb_action.gate import FailOn
from reb_action.github.commands import SUMMARY_BYTES, warning, write_outputs, write_summary
from reb_action.github.context import Context
from reb_action.layout import data_folder
from reb_action.model.manifest import Level, Manifest
from reb_action.model.plan import Plan
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring, Verdict
from reb_action.render.escape import log
from reb_action.render.markdown.scoreboard import board_summary
from reb_action.score import score


def scored(folders: Sequence[Path], plan: Plan | None) -> Scoreboard:
    """Return the scoreboard over all artifacts in folders; raises UsageError where is none."""
    return board_of(collected_in(folders, plan), plan)


def collected_in(folders: Sequence[Path], plan: Plan | None) -> Collected:
    """Return what folders hold; raises UsageError where there is no trial."""
    collected = collection.collect(folders, plan)
    if not collected.found:
        named = ", ".join(map(str, folders))
        raise UsageError(f"there is no trial in {named}; name a folder that holds artifacts")
    if plan is None:
        click.echo("without --plan, trials that never came back are not counted", err=True)
    if collected.superseded:
        click.echo(f"{collected.superseded} artifacts gave way to a later attempt", err=True)
    return collected


def board_of(collected: Collected, plan: Plan | None) -> Scoreboard:
    """Return the scoreboard of what was collected, at the levels that any trial was asked for."""
    return board(collected, plan, levels=collected.levels or tuple(Level))


def show(made: Scoreboard, *, as_json: bool) -> None:
    """Print a scoreboard for people, or for machines as the document that a report writes."""
    if as_json:
        click.echo(documents.encode(made, kind="scoreboard").decode(), nl=False)
    else:
        console.show_board(made)


def board(collected: Collected, plan: Plan | None, *, levels: tuple[Level, ...]) -> Scoreboard:
    """Return the scoreboard of what was collected; the paper's rows where its corpus was run."""
    slugs = {name.rsplit(".", 2)[0] for name in collected.found}
    corpus = any((data_folder("repos") / f"{slug}.yaml").is_file() for slug in slugs)
    return score(
        collected.found,
        levels=levels,
        manifests=tuple(_manifests(collected, plan)),
        unqualified=collected.unqualified,
        published=published.rows() if corpus else (),
    )


def report(
    path: Path, folder: Path, *, levels: tuple[Level, ...], fail_on: FailOn, context: Context
) -> str | None:
    """Summarise a run on the runner and in words; return what closes the gate."""
    plan = planning.read(path)
    collected = collection.collect((folder,), plan)
    made = board(collected, plan, levels=levels)
    closed = collection.closed(collected.found, levels, fail_on)
    summarise(made, context, scoring=fail_on.scoring, closed=closed)
    _write(path, made, collected, context)
    planned = len(collected.found)
    click.echo(f"{len(made.trials)} of {planned} planned trials have a verdict")
    for name in made.run_again:
        click.echo(f"run again: {log(name)}")
    return closed


def summarise(
    made: Scoreboard, context: Context, *, scoring: Scoring, closed: str | None = None
) -> None:
    """Append a scoreboard to the job summary, shortened to what a runner takes."""
    limit = SUMMARY_BYTES
    text = board_summary(made, scoring=scoring, closed=closed, limit_bytes=limit)
    write_summary(context, text)


def _write(path: Path, made: Scoreboard, collected: Collected, context: Context) -> None:
    durations, scoreboard = path.with_name("durations.json"), path.with_name("scoreboard.json")
    documents.write_bytes(durations, documents.dump_json(collection.durations(collected.found)))
    documents.write(scoreboard, made, kind="scoreboard")
    subjects = _write_subjects(path.with_name("subjects.sha256"), collected)
    write_outputs(
        context,
        {
            "complete": "true" if made.complete else "false",
            "trials": str(len(collected.found)),
            "run-again": " ".join(made.run_again),
            "durations": str(durations),
            "scoreboard": str(scoreboard),
            "subjects": subjects,
        },
    )


def _write_subjects(path: Path, collected: Collected) -> str:
    """Write what an attestation of this run signs; return where, or "" where there is nothing."""
    judged = (name for name, seen in collected.found.items() if isinstance(seen, Verdict))
    try:
        text = judging.subjects({name: collected.places[name] for name in judged})
    except SignatureError as error:
        click.echo(warning(str(error)))
        return ""
    if text:
        documents.write_bytes(path, text.encode())
    return str(path) if text else ""


def _manifests(collected: Collected, plan: Plan | None) -> Iterator[Manifest]:
    """Yield the manifests of planned repositories, where one of their trials has no verdict."""
    absent = {name for name, seen in collected.found.items() if isinstance(seen, str)}
    wanted = {one.repository for one in plan.trials if one.id in absent} if plan else set[str]()
    for repository in sorted(wanted):
        try:
            yield manifest.find(repository)
        except RebError:
            # A file of the caller's repository, which is not checked out here.
            continue
