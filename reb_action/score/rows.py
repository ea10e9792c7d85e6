"""One trial of a scoreboard, from its verdict, without levels that were not requested."""

from collections.abc import Collection, Mapping
from dataclasses import fields

from reb_action.model.agent import AgentRun, Usage
from reb_action.model.manifest import Level, Outcome, contestant_of
from reb_action.model.scoreboard import Cell, Imports, TrialRow
from reb_action.model.verdict import ClaimKind, LevelResult, Scoring, Verdict


def row_of(
    verdict: Verdict,
    levels: tuple[Level, ...],
    models: Mapping[str, str],
    unqualified: Collection[tuple[str, Level]],
) -> TrialRow:
    """Return the row of a trial; without its own model, it has its contestant's."""
    run = verdict.agent_run
    told = run.model if run else None
    return TrialRow(
        trial=verdict.trial,
        repository=verdict.repository,
        agent=verdict.agent,
        model=told or models.get(contestant_of(verdict.trial)),
        attempt=verdict.attempt,
        cells={
            one.level: _cell(one, qualified=(verdict.trial, one.level) not in unqualified)
            for one in verdict.results
            if one.level in levels and not one.unasked
        },
        imports=_imports(verdict.result(Level.C0)) if Level.C0 in levels else {},
        hallucinations=_hallucinations(verdict) if Level.C5 in levels else {},
        ending=run.ending if run else None,
        seconds=run.seconds if run else None,
        usage=_usage(run) if run else None,
        estimate=run.estimate if run else None,
        contestant=verdict.contestant,
        prefix_bytes=verdict.prefix_bytes,
    )


def _usage(run: AgentRun) -> Usage | None:
    """Return the counted usage; a number that no call reported is the agent's own."""
    if run.usage is None or run.reported is None:
        return run.usage or run.reported
    counted = {field.name: getattr(run.usage, field.name) for field in fields(run.usage)}
    own = {name: getattr(run.reported, name) for name in counted}
    return Usage(**{n: own[n] if value is None else value for n, value in counted.items()})


def _cell(result: LevelResult, *, qualified: bool) -> Cell:
    return Cell(
        outcome=result.outcome,
        paper=result.paper,
        reason=result.reason,
        cause=result.diagnosis.cause if result.diagnosis else None,
        qualified=qualified,
        line=result.diagnosis.line if result.diagnosis else "",
    )


def _imports(result: LevelResult) -> Mapping[Scoring, Imports | None]:
    if result.unasked:
        return {}
    count = result.imports
    if count is None or result.outcome is Outcome.INVALID:
        return dict.fromkeys(Scoring)
    return {
        Scoring.STRICT: _counted(count.strict_missing, count.strict_total),
        Scoring.PAPER: _counted(count.missing, count.known_total),
    }


def _counted(missing: int | None, total: int | None) -> Imports | None:
    return None if missing is None or total is None else Imports(missing=missing, total=total)


def _hallucinations(verdict: Verdict) -> Mapping[ClaimKind, int]:
    """Return the paper's counts; empty if the report was not compared with observations."""
    if verdict.result(Level.C5).outcome is Outcome.INVALID:
        return {}
    return {kind: verdict.audit.hallucinations(kind) for kind in ClaimKind}
