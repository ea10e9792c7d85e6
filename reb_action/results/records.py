"""Makes records from the artifacts of a run, and reads and names the records of a board."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Final, cast

from reb_action import documents
from reb_action.corpus import manifests
from reb_action.errors import RebError
from reb_action.model.evidence import Evidence
from reb_action.model.github import RunOrder
from reb_action.model.manifest import SELF, Level, Manifest, Outcome, contestant_of
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
from reb_action.score.repositories import Repository, known_of, slug_of
from reb_action.session import evidence, state
from reb_action.session.layout import SessionLayout

FOLDER: Final = "records"
PAGES: Final = "trials"
HISTORY: Final = "history.json"
_DECIDING: Final = (
    *("commit", "imports", "frameworks", "entrypoints", "not_applicable", "paper_only"),
    *("assets", "files", "unobtainable"),
)
"""Keys of a manifest that decide an outcome; its domain and its oracle do not."""
_OF_CHECKOUT: Final = ("commit", "imports")


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


def find_editions(records: tuple[Record, ...], plan: Plan) -> frozenset[Edition]:
    """Return the editions of a run: those of its records, and of repositories that have none.

    A run that ended early has no record of a repository whose trials it left out.
    """
    recorded = {slug_of(record.repository) for record in records}
    absent = {one.repository for one in plan.trials if one.id.rsplit(".", 2)[0] not in recorded}
    found = (manifest for name in absent if (manifest := _find(name)) is not None)
    return frozenset({record.edition for record in records} | {edition_of(one) for one in found})


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


def digest_manifest(manifest: Manifest) -> str:
    """Return the SHA-256 of all in a manifest that decides an outcome.

    What the checkout decides does not count where the manifest follows it.
    """
    keys = [key for key in _DECIDING if not (_follows(manifest) and key in _OF_CHECKOUT)]
    deciding = {key: _plain(getattr(manifest, key)) for key in keys}
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


def edition_of(manifest: Manifest) -> Edition:
    """Return the edition of trials with this manifest that are judged by this reb.

    All commits of a manifest that follows its checkout have one edition: they are to be compared.
    """
    digest = digest_manifest(manifest)
    commit = SELF if _follows(manifest) else manifest.commit
    return Edition(scoring=SCORING_VERSION, commit=commit, manifest=digest)


def _follows(manifest: Manifest) -> bool:
    return manifest.follows_checkout or manifest.commit == SELF


def _plain(value: object) -> object:
    """Return a part of a manifest as plain JSON, without defaults.

    A key that a later release adds to entry points must not change the digest of manifests that
    do not use it.
    """
    if isinstance(value, Mapping):
        return {
            str(key): _plain(item) for key, item in cast(Mapping[object, object], value).items()
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in cast(tuple[object, ...], value)]
    if dataclasses.is_dataclass(value):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if getattr(value, field.name) != field.default
        }
    return value


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
    manifest = _find(repository)
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


def _find(repository: str) -> Manifest | None:
    try:
        return manifests.find(repository)
    except RebError:
        # A manifest file of the caller's repository, which is not checked out here.
        return None


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
