"""The values that the page of a trial shows."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import assert_never

from reb_action.judge.levels import LevelSpec, spec_of
from reb_action.model.evidence import Evidence
from reb_action.model.manifest import Level, Outcome
from reb_action.model.observation import CudaObservation, ImportsObservation, RunObservation
from reb_action.model.verdict import Claim, LevelResult, Scoring, Standing, Verdict
from reb_action.render.html import pyramid
from reb_action.render.html.page.timeline import Timeline
from reb_action.render.lines import mark_level
from reb_action.render.why import NOT_ASKED, Explanation, explain_result


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """A trial: its verdict, the evidence, the end of the agent's log, the unqualified levels.

    `timeline` is the agent's run turn by turn, where its trajectory is in the folder.
    """

    verdict: Verdict
    evidence: Evidence
    agent_log: str
    unqualified: frozenset[Level]
    timeline: Timeline | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeView:
    """An outcome in words, and its class; a level that was not requested has no emphasis."""

    word: str
    class_: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelView:
    """A level; `mark` follows its outcome, one of the three observations may be there.

    `strict` and `paper` are its outcomes, as words and as classes. `why` explains it as in every
    other channel; None for a level that passed or was not asked.
    """

    result: LevelResult
    spec: LevelSpec
    strict: OutcomeView
    paper: OutcomeView
    mark: str
    unqualified: bool
    log: str
    why: Explanation | None
    imports: ImportsObservation | None = None
    cuda: CudaObservation | None = None
    run: RunObservation | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimView:
    """A claim of the report; `colour` is the class of its standing."""

    claim: Claim
    standing: str
    colour: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stratum:
    """A level in the pyramid: its corners, its upper edge, and its label."""

    level: LevelView
    corners: str
    top: int


def levels(view: View) -> tuple[LevelView, ...]:
    """Return every level, from the base up."""
    return tuple(_level(result, view) for result in view.verdict.results)


def strata(levels: Collection[LevelView]) -> tuple[Stratum, ...]:
    """Return the strata of the pyramid, from the apex down."""
    return tuple(
        Stratum(level=level, corners=pyramid.corners(number), top=pyramid.top(number))
        for number, level in enumerate(reversed(tuple(levels)))
    )


def claims(verdict: Verdict) -> tuple[ClaimView, ...]:
    """Return every claim with its standing in words."""
    return tuple(
        ClaimView(claim=claim, standing=_standing(claim), colour=_colour(claim))
        for claim in verdict.audit.claims
    )


def _level(result: LevelResult, view: View) -> LevelView:
    level = result.level
    observation = view.evidence.observations.get(level)
    return LevelView(
        result=result,
        spec=spec_of(level),
        strict=_outcome(result, result.outcome),
        paper=_outcome(result, result.paper),
        mark="" if result.unasked else mark_level(result, view.unqualified),
        unqualified=level in view.unqualified,
        log=view.evidence.logs.get(level, ""),
        why=explain_result(result, Scoring.STRICT) or explain_result(result, Scoring.PAPER),
        imports=observation if isinstance(observation, ImportsObservation) else None,
        cuda=observation if isinstance(observation, CudaObservation) else None,
        run=observation if isinstance(observation, RunObservation) else None,
    )


def _outcome(result: LevelResult, outcome: Outcome) -> OutcomeView:
    if result.unasked:
        return OutcomeView(word=NOT_ASKED, class_=Outcome.NOT_APPLICABLE)
    return OutcomeView(word=outcome.replace("_", " "), class_=outcome)


def _standing(claim: Claim) -> str:
    if claim.standing is Standing.REFUTED and claim.under_claim:
        return "refuted, an under-claim"
    return claim.standing.replace("_", " ")


def _colour(claim: Claim) -> str:
    match claim.standing:
        case Standing.SUPPORTED:
            return Outcome.PASSED
        case Standing.REFUTED:
            return Outcome.BLOCKED if claim.under_claim else Outcome.FAILED
        case Standing.UNVERIFIABLE | Standing.NOT_MADE:
            return Outcome.NOT_APPLICABLE
        case _:
            assert_never(claim.standing)
