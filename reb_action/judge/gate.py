"""Decide whether a trial lets the job pass. Missing results fail."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from reb_action.errors import UsageError
from reb_action.model.comparison import Regression
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import LevelResult, Scoring, Verdict

WORDS: Final = ("never", "invalid", "any", "regression", "broken")
_LEVELS: Final = ", ".join(Level)


class Standing(StrEnum):
    """The state of a trial: the worst outcome among its requested levels."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"


@dataclass(frozen=True, kw_only=True, slots=True)
class FailOn:
    """The outcomes that fail the gate: an invalid level, any level, or named levels.

    `regression` concerns a whole run, which fails then also without a base. `any` covers the
    requested levels; a level of `levels` fails the gate also if it was not requested. Every
    decision uses one `scoring`.
    """

    invalid: bool
    levels: tuple[Level, ...] = ()
    any: bool = False
    regression: Regression | None = None
    scoring: Scoring = Scoring.STRICT


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """The decision by one scoring; `closed` is the reason why the gate failed.

    `highest` is the highest level that passed with every applicable level below it.
    """

    standing: Standing
    highest: Level | None
    closed: str | None
    scoring: Scoring


def parse_fail_on(text: str, *, scoring: Scoring = Scoring.STRICT) -> FailOn:
    """Read one of WORDS, or levels such as `C0,C1`; raises UsageError."""
    words = tuple(word.strip() for word in text.replace(",", " ").split())
    if words in ((Regression.SHOWN,), (Regression.BROKEN,)):
        return FailOn(invalid=True, regression=Regression(words[0]), scoring=scoring)
    if words in (("never",), ("invalid",), ("any",)):
        return FailOn(invalid=words != ("never",), any=words == ("any",), scoring=scoring)
    names = {word.upper() for word in words}
    if not names or names - set(Level):
        raise UsageError(f"fail-on is {text!r}; use {', '.join(WORDS)}, or levels of {_LEVELS}")
    levels = tuple(level for level in Level if level in names)
    return FailOn(invalid=False, levels=levels, scoring=scoring)


def demand_measured(fail_on: FailOn, levels: tuple[Level, ...]) -> None:
    """Raise UsageError if `fail_on` names a level that is not measured: the gate could not pass."""
    absent = [level for level in fail_on.levels if level not in levels]
    if absent:
        raise UsageError(
            f"--fail-on names {', '.join(absent)}, and --levels is {','.join(levels)}; add the"
            " level to --levels, or remove it from --fail-on"
        )


def decide(seen: Verdict | str, asked: tuple[Level, ...], fail_on: FailOn) -> Decision:
    """Decide on a verdict, or on the reason why it is missing."""
    scoring = fail_on.scoring
    if isinstance(seen, str):
        closed = seen if fail_on.invalid or fail_on.levels else None
        return Decision(standing=Standing.INVALID, highest=None, closed=closed, scoring=scoring)
    results = [result for level in asked if not (result := seen.result(level)).unasked]
    measured = {result.level for result in results}
    reasons = [_reason(result, scoring) for result in results if _closes(result, fail_on)]
    reasons += [f"{level} was not requested" for level in fail_on.levels if level not in measured]
    return Decision(
        standing=_standing(result.by(scoring) for result in results),
        highest=find_highest(seen, scoring),
        closed="; ".join(reasons) or None,
        scoring=scoring,
    )


def find_highest(verdict: Verdict, scoring: Scoring) -> Level | None:
    """Return the highest of C0 to C4 that passed with every applicable level below it."""
    passed = None
    for level in (Level.C0, Level.C1, Level.C2, Level.C3, Level.C4):
        match verdict.result(level).by(scoring):
            case Outcome.PASSED:
                passed = level
            case Outcome.NOT_APPLICABLE:
                continue
            case _:
                break
    return passed


def _standing(results: Iterable[Outcome]) -> Standing:
    outcomes = set(results)
    if Outcome.INVALID in outcomes or not outcomes:
        return Standing.INVALID
    fine = outcomes <= {Outcome.PASSED, Outcome.NOT_APPLICABLE}
    return Standing.PASSED if fine else Standing.FAILED


def _closes(result: LevelResult, fail_on: FailOn) -> bool:
    outcome = result.by(fail_on.scoring)
    if outcome is Outcome.INVALID and fail_on.invalid:
        return True
    good = (Outcome.PASSED, Outcome.NOT_APPLICABLE)
    return (fail_on.any or result.level in fail_on.levels) and outcome not in good


def _reason(result: LevelResult, scoring: Scoring) -> str:
    by = "" if scoring is Scoring.STRICT else " by the paper's scoring"
    return f"{result.level} {result.by(scoring)}{by}: {result.reason}"
