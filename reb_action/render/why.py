"""Why a level did not pass, composed once for every channel: each channel escapes the parts."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reb_action.model.diagnosis import Cause, Diagnosis
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import LevelResult, Scoring, Verdict
from reb_action.render.outcomes import WORDS

if TYPE_CHECKING:
    from reb_action.model.scoreboard import Cell

NOT_ASKED: Final = "not asked"
"""The word for a level that was not requested."""
_FINE: Final = (Outcome.PASSED, Outcome.NOT_APPLICABLE)
_OBSERVED: Final = {
    Level.C0: "levels/C0.json",
    Level.C2: "levels/C2.json",
    Level.C5: "verdict.json",
}
_REMEDIES: Final = {
    Level.C0: "Install what is missing into the environment that report.json names.",
    Level.C2: "Install framework builds that support the driver of this machine.",
    Level.C5: "Correct what report.json claims, or the environment that it describes.",
}
_READ_LOG: Final = "Read the end of the log."
_BLOCKED: Final = "The level could not be measured. Fix the cause that the reason names first."
_INVALID: Final = (
    "The agent did not fail. Fix the cause that the reason names, then run the trial again."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Quoted:
    """Text from outside: it goes through the escaping function of its channel."""

    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A URL, and its link text."""

    text: str
    url: str


Part = str | Quoted | Link


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why levels did not pass: several share it if they have all of it in common.

    `reason` and `line` come from outside; `line` is the line of the log that decides, or "".
    `cause` is the likely cause, or "". `evidence` is a path in the trial's folder.
    """

    levels: tuple[Level, ...]
    outcome: Outcome
    reason: str
    cause: str
    line: str
    remedy: str
    evidence: str

    @property
    def title(self) -> str:
        """The levels and their outcome in words."""
        return f"{', '.join(self.levels)} {self.word}"

    @property
    def word(self) -> str:
        """The outcome as a word."""
        return WORDS[self.outcome]


def explain_result(result: LevelResult, scoring: Scoring) -> Explanation | None:
    """Return why a level of a verdict did not pass; None if it passed or was not asked."""
    if result.unasked:
        return None
    return _explain(result.level, result.by(scoring), result.reason, result.diagnosis)


def list_explanations(verdict: Verdict, scoring: Scoring) -> tuple[Explanation, ...]:
    """Return why levels of a verdict did not pass, what they share once."""
    return merge_explanations(explain_result(result, scoring) for result in verdict.results)


def merge_explanations(every: Iterable[Explanation | None]) -> tuple[Explanation, ...]:
    """Return explanations with those as one that are equal but for level and evidence."""
    groups: dict[Explanation, list[Explanation]] = {}
    for one in every:
        if one is not None:
            groups.setdefault(replace(one, levels=(), evidence=""), []).append(one)
    return tuple(
        replace(group[0], levels=tuple(level for one in group for level in one.levels))
        for group in groups.values()
    )


def explain_cell(level: Level, cell: "Cell", scoring: Scoring) -> Explanation | None:
    """Return why a level of a scoreboard's trial did not pass; None if it passed."""
    cause = Cause(cell.cause) if cell.cause in set(Cause) else None
    diagnosis = None if cause is None else Diagnosis(cause=cause, line=cell.line)
    return _explain(level, cell.by(scoring), cell.reason, diagnosis)


def list_parts(explanation: Explanation, link: str = "") -> Iterator[tuple[str, Part]]:
    """Yield the parts after outcome and reason, each with its label; a `str` is our own text.

    `link` is the URL where the trial's folder can be downloaded, or "".
    """
    if explanation.cause:
        yield "likely cause", explanation.cause
    if explanation.line:
        yield "from the log", Quoted(text=explanation.line)
    yield "what to do", explanation.remedy
    path = explanation.evidence
    yield "evidence", Link(text=path, url=link) if link else Quoted(text=path)


def outcome_word(result: LevelResult, scoring: Scoring) -> str:
    """Return the word for the outcome of a level; of one that was not requested, NOT_ASKED."""
    return NOT_ASKED if result.unasked else WORDS[result.by(scoring)]


def _explain(
    level: Level, outcome: Outcome, reason: str, diagnosis: Diagnosis | None
) -> Explanation | None:
    if outcome in _FINE:
        return None
    return Explanation(
        levels=(level,),
        outcome=outcome,
        reason=reason,
        cause="" if diagnosis is None else diagnosis.meaning,
        line="" if diagnosis is None else diagnosis.line,
        remedy=_find_remedy(level, outcome, diagnosis),
        evidence=_find_evidence(level, outcome),
    )


def _find_evidence(level: Level, outcome: Outcome) -> str:
    if outcome is Outcome.BLOCKED:
        return "agent.log"
    return "verdict.json" if outcome is Outcome.INVALID else _OBSERVED.get(level, _log(level))


def _log(level: Level) -> str:
    return f"levels/{level}.log"


def _find_remedy(level: Level, outcome: Outcome, diagnosis: Diagnosis | None) -> str:
    if diagnosis is not None:
        return diagnosis.remedy
    if outcome is Outcome.INVALID:
        return _INVALID
    return _BLOCKED if outcome is Outcome.BLOCKED else _REMEDIES.get(level, _READ_LOG)
