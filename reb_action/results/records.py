"""Makes records from the artifacts of a run, and reads and names the records of a board."""

from collections.abc import Mapping
from typing import Final

from reb_action import documents
from reb_action.model.evidence import Evidence
from reb_action.model.github import RunOrder
from reb_action.model.manifest import Level, Outcome, contestant_of
from reb_action.model.observation import ImportsObservation
from reb_action.model.plan import Plan
from reb_action.model.record import (
    SCORING_VERSION,
    UNKNOWN_SCORING,
    Edition,
    Hardware,
    Record,
    RecordedRun,
)
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.model.verdict import Scoring, Verdict
from reb_action.render.html.site.names import safe_name
from reb_action.results.collection import Collected
from reb_action.results.editions import edition_of, find_manifest
from reb_action.score.repositories import Repository, known_of, slug_of
from reb_action.session import evidence, state
from reb_action.session.layout import SessionLayout

FOLDER: Final = "records"
PAGES: Final = "trials"
HISTORY: Final = "history.json"


def make_records(
    collected: Collected, board: Scoreboard, plan: Plan, run: RecordedRun
) -> tuple[Record, ...]:
    """Return a record of each trial of a run, with a verdict or without one."""
    rows = {row.trial: row for row in board.trials}
    repositories = {trial.id: trial.repository for trial in plan.trials}
    return tuple(
        _make_record(collected.places[trial], result, rows[trial], run)
        if isinstance(result, Verdict)
        else _make_absent(trial, result, repositories.get(trial, ""), run)
        for trial, result in collected.found.items()
    )


def name_record(record: Record) -> str:
    """Return the path of a record on a board."""
    return f"{FOLDER}/{_place(record)}.json"


def name_page(record: Record) -> str:
    """Return the permanent address of a record's page, from the root of the site."""
    if record.edition.scoring == UNKNOWN_SCORING:
        # Pages of before there were records have one address for all runs.
        return f"{PAGES}/{safe_name(record.trial)}.html"
    return f"{PAGES}/{_place(record)}.html"


def read_records(files: Mapping[str, bytes]) -> tuple[Record, ...]:
    """Return the records among files of a board, by path; raises DocumentError."""
    return tuple(
        documents.decode(data, Record, kind="record", name=path)
        for path, data in sorted(files.items())
        if path.startswith(f"{FOLDER}/") and path.endswith(".json")
    )


def migrate(
    files: Mapping[str, bytes], order: RunOrder, *, commit: str, url: str, date: str
) -> tuple[Record, ...]:
    """Return the records of a board that is older than records; raises DocumentError.

    It does not say by which rules and manifests it was made, so its records stay separate.
    """
    board = documents.decode(files["scoreboard.json"], Scoreboard, kind="scoreboard", name="board")
    run = RecordedRun(order=order, commit=commit, url=url, published=date)
    edition = Edition(scoring=UNKNOWN_SCORING)
    return tuple(
        Record(
            trial=row.trial,
            repository=row.repository,
            contestant=contestant_of(row.trial) or row.name,
            attempt=row.attempt,
            edition=edition,
            run=run,
            reb=board.reb,
            complete=row.trial not in board.invalid,
            row=row,
            inapplicable=_inapplicable_cells(row),
        )
        for row in board.trials
    )


def _make_record(
    layout: SessionLayout, verdict: Verdict, row: TrialRow, run: RecordedRun
) -> Record:
    seen = evidence.read(layout)
    known = known_of((verdict,), ())[slug_of(verdict.repository)]
    return Record(
        trial=verdict.trial,
        repository=verdict.repository,
        contestant=contestant_of(verdict.trial),
        attempt=verdict.attempt,
        edition=edition_of(seen.trial.manifest),
        run=run,
        reb=verdict.reb,
        complete=bool(row.cells) and not _has_invalid(row),
        row=row,
        version=None if verdict.agent_run is None else verdict.agent_run.version,
        domain=seen.trial.manifest.domain,
        hardware=_hardware(layout, seen),
        image=state.load(layout).spec.image,
        inapplicable=_inapplicable(known),
        imports=known.imports,
    )


def _make_absent(trial: str, why: str, repository: str, run: RecordedRun) -> Record:
    """Return the record of a planned trial without a verdict."""
    slug, _, attempt = trial.rsplit(".", 2)
    manifest = find_manifest(repository)
    edition = Edition(scoring=SCORING_VERSION) if manifest is None else edition_of(manifest)
    known = Repository() if manifest is None else known_of((), (manifest,))[manifest.slug]
    return Record(
        trial=trial,
        repository=slug.replace("__", "/", 1),
        contestant=contestant_of(trial),
        attempt=int(attempt),
        edition=edition,
        run=run,
        reb="",
        complete=False,
        absent=why,
        domain="" if manifest is None else manifest.domain,
        inapplicable=_inapplicable(known),
        imports=known.imports,
    )


def _place(record: Record) -> str:
    order = record.run.order
    name = f"{safe_name(record.trial)}/{order.run_id}.{order.attempt}"
    return name if record.edition.scoring != UNKNOWN_SCORING else f"{name}.migrated"


def _has_invalid(row: TrialRow) -> bool:
    cells = row.cells.values()
    return any(cell.by(scoring) is Outcome.INVALID for cell in cells for scoring in Scoring)


def _inapplicable(known: Repository) -> dict[Scoring, tuple[Level, ...]]:
    return {
        scoring: tuple(level for level in Level if (scoring, level) in known.inapplicable)
        for scoring in Scoring
    }


def _inapplicable_cells(row: TrialRow) -> dict[Scoring, tuple[Level, ...]]:
    return {
        scoring: tuple(
            level for level, cell in row.cells.items() if cell.by(scoring) is Outcome.NOT_APPLICABLE
        )
        for scoring in Scoring
    }


def _hardware(layout: SessionLayout, seen: Evidence) -> Hardware:
    limits = state.find_limits(layout)
    watched = (
        observation.witness
        for observation in seen.observations.values()
        if not isinstance(observation, ImportsObservation)
    )
    witness = max(watched, key=lambda one: len(one.gpus), default=None)
    return Hardware(
        sandbox=state.load(layout).spec.kind,
        gpus=tuple(gpu.name for gpu in witness.gpus) if witness else (),
        driver=witness.driver if witness else None,
        memory_mib=None if limits is None else limits.memory_mib,
    )
