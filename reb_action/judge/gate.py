"""Decide whether a trial lets the job pass. Missing results fail."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from reb_action.errors import UsageError
from reb_action.model.comparison import Regression
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import LevelResult, Scoring, SetupAnswer, Verdict

WORDS: Final = ("never", "invalid", "any", "regression", "broken")
_LEVELS: Final = ", ".join(Level)
_SETUP: Final = "SETUP"

_ANSWERS: Final = {
    SetupAnswer.WORKS: "the instructions work",
    SetupAnswer.INSTALL_FAILED: "the install fails",
    SetupAnswer.COMMAND_FAILED: "it installs and the documented command fails",
    SetupAnswer.STAGE_FAILED: "the main run succeeds and a later stage fails",
    SetupAnswer.OLDER_PYTHON: "it works only on an older Python",
    SetupAnswer.UNKNOWN: "whether the instructions work is not known",
}


class Standing(StrEnum):
    """The state of a trial: the worst outcome among its requested levels."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"


@dataclass(frozen=True, kw_only=True, slots=True)
class FailOn:
    """The outcomes that fail the gate: an invalid level, any level, or named levels.

    `regression` concerns a whole run, which fails then also without a base. `any` covers the
    requested levels; a level of `levels` fails the gate also if it was not requested. `setup`
    and `any` also require that the repository's instructions work, where the agent documented
    follows them. Every decision uses one `scoring`.
    """

    invalid: bool
    levels: tuple[Level, ...] = ()
    any: bool = False
    setup: bool = False
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
    """Read one of WORDS, or what must pass, such as `C0,C1,setup`; raises UsageError."""
    words = tuple(word.strip() for word in text.replace(",", " ").split())
    if words in ((Regression.SHOWN,), (Regression.BROKEN,)):
        return FailOn(invalid=True, regression=Regression(words[0]), scoring=scoring)
    if words in (("never",), ("invalid",), ("any",)):
        return FailOn(invalid=words != ("never",), any=words == ("any",), scoring=scoring)
    names = {word.upper() for word in words}
    if not names or names - {*Level, _SETUP}:
        raise UsageError(
            f"fail-on is {text!r}; use {', '.join(WORDS)}, or levels of {_LEVELS} and setup"
        )
    levels = tuple(level for level in Level if level in names)
    return FailOn(invalid=False, levels=levels, setup=_SETUP in names, scoring=scoring)


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
        closed = seen if fail_on.invalid or fail_on.levels or fail_on.setup else None
        return Decision(standing=Standing.INVALID, highest=None, closed=closed, scoring=scoring)
    results = [result for level in asked if not (result := seen.result(level)).unasked]
    measured = {result.level for result in results}
    reasons = [_reason(result, scoring) for result in results if _closes(result, fail_on)]
    reasons += [f"{level} was not requested" for level in fail_on.levels if level not in measured]
    reasons += _setup_reasons(seen, fail_on)
    return Decision(
        standing=_standing(result.by(scoring) for result in results),
        highest=find_highest(seen, scoring),
        closed="; ".join(reasons) or None,
        scoring=scoring,
    )


def _setup_reasons(seen: Verdict, fail_on: FailOn) -> list[str]:
    """Return why the repository's instructions fail the gate, if they do."""
    if seen.setup is None:
        why = f"setup is the answer of the agent documented, not of {seen.agent}"
        return [why] if fail_on.setup else []
    if seen.setup.answer is SetupAnswer.WORKS or not (fail_on.setup or fail_on.any):
        return []
    return [f"{describe_answer(seen.setup.answer)}: {seen.setup.reason}"]


def describe_answer(answer: SetupAnswer) -> str:
    """Return an answer in words of our own."""
    return _ANSWERS[answer]


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
