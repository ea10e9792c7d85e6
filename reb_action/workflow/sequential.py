"""The sequential mode: a run ends when its open trials cannot change the answer of `fail-on`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reb_action.errors import UsageError
from reb_action.judge.gate import FailOn
from reb_action.model.comparison import Attempts, Regression
from reb_action.model.manifest import Level, Outcome, contestant_of
from reb_action.model.scoreboard import Scoreboard
from reb_action.model.verdict import Scoring, Verdict
from reb_action.score.comparison import COUNTED, count_attempts
from reb_action.score.outlook import Answer, Cells, OpenCell, foresee, list_failing
from reb_action.score.repositories import slug_of
from reb_action.session import verdict
from reb_action.session.layout import SessionLayout
from reb_action.workflow.batch import Job

_NONE: Final = Attempts(passed=0, counted=0)
_NAMES: Final = 5
"""Contestants that a message names."""

Place = tuple[str, str, Level]
"""A contestant's id, the slug of a repository, a level."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """The part of `fail-on` that the base decides, at the levels of the run."""

    regression: Regression
    scoring: Scoring
    levels: tuple[Level, ...]


def make_rule(fail_on: FailOn, levels: tuple[Level, ...]) -> Rule:
    """Return the rule of `fail-on` regression or broken; raises UsageError for another one."""
    if fail_on.regression is None:
        raise UsageError(
            "--base is for a comparison: set --fail-on to regression or broken, or leave it out"
        )
    return Rule(regression=fail_on.regression, scoring=fail_on.scoring, levels=levels)


class SequentialOrder:
    """The order of a batch that ends when its trials cannot change the answer."""

    def __init__(self, outlook: "Outlook") -> None:
        self._outlook = outlook

    def end(self, job: Job) -> None:
        """Take the verdict of a trial into account."""
        judged = verdict.judged(SessionLayout(folder=job.options.folder))
        if isinstance(judged, Verdict):
            self._outlook.record(job.id, judged)

    def choose(self, waiting: Sequence[Job]) -> Job | None:
        """Return the trial to run next, or None if no waiting one can change the answer."""
        chosen = self._outlook.choose([job.id for job in waiting])
        return next((job for job in waiting if job.id == chosen), None)


class Outlook:
    """What the trials of a run can still change; `trials` are all those of its plan.

    `tested` are the contestants under test. Trials of others, such as baselines, decide nothing.
    """

    def __init__(
        self, base: Scoreboard, trials: Iterable[str], tested: Iterable[str], rule: Rule
    ) -> None:
        self._rule = rule
        self._before = _count_base(base, rule.scoring)
        self._tested = tuple(dict.fromkeys(tested))
        self._open = Counter(_pair_of(trial) for trial in trials)
        self._now: defaultdict[Place, Attempts] = defaultdict(lambda: _NONE)
        self._recorded: set[str] = set()

    def demand_open(self) -> None:
        """Raise UsageError if the base lacks a contestant, or if no result could fail the gate."""
        absent = [name for name in self._tested if name not in self._before]
        if absent:
            raise UsageError(f"the base has no results of {', '.join(absent[:_NAMES])}")
        if self.answer() is Answer.PASSES:
            raise UsageError(
                f"no result of these trials could fail --fail-on {self._rule.regression}: the base"
                " passes too few of their levels; add repositories, or use broken"
            )

    def record(self, trial: str, judged: Verdict) -> None:
        """Take the verdict of a trial into account, once."""
        if trial in self._recorded:
            return
        self._recorded.add(trial)
        name, slug = _pair_of(trial)
        self._open[name, slug] -= 1
        for level in self._rule.levels:
            outcome = judged.result(level).by(self._rule.scoring)
            if outcome in COUNTED:
                now = self._now[name, slug, level]
                passed = now.passed + (outcome is Outcome.PASSED)
                self._now[name, slug, level] = Attempts(passed=passed, counted=now.counted + 1)

    def answer(self) -> Answer | None:
        """Return the answer that no open trial can change, None while there is none."""
        answers = [foresee(self._rule.regression, self._cells(name)) for name in self._tested]
        if Answer.FAILS in answers:
            return Answer.FAILS
        return None if None in answers else Answer.PASSES

    def explain(self) -> str:
        """Return the answer in a sentence, or that there is none."""
        word = self._rule.regression
        failing = list(self._explain_failing())
        if failing:
            return f"fail-on: {word} fails: {'; '.join(failing[:_NAMES])}"
        passes = self.answer() is Answer.PASSES
        return f"fail-on: {word} {'passes' if passes else 'is not decided'}"

    def choose(self, waiting: Sequence[str]) -> str | None:
        """Return the trial to run next, or None if no waiting one can change the answer.

        A repository on which nothing has passed where the base passes comes first: it may decide at
        once. Else each repository has its first attempt before any has its second.
        """
        if self.answer() is not None:
            return None
        open_ = {name for name in self._tested if self._is_open(name)}
        needed = [trial for trial in waiting if self._is_needed(trial, open_)]
        return min(needed, key=self._urgency, default=None)

    def _is_open(self, name: str) -> bool:
        return foresee(self._rule.regression, self._cells(name)) is None

    def _is_needed(self, trial: str, names: set[str]) -> bool:
        name, slug = _pair_of(trial)
        if name not in names:
            return False
        cells = [cell for _, cell in self._cells_of(name, slug)]
        return self._rule.regression is not Regression.BROKEN or any(
            cell.can_break for cell in cells
        )

    def _urgency(self, trial: str) -> tuple[bool, int]:
        cells = [cell for _, cell in self._cells_of(*_pair_of(trial))]
        suspect = any(cell.can_break and cell.now.counted for cell in cells)
        first = suspect and self._rule.regression is Regression.BROKEN
        return not first, int(trial.rpartition(".")[2])

    def _cells(self, name: str) -> Cells:
        cells: defaultdict[Level, list[OpenCell]] = defaultdict(list)
        for contestant, slug in self._open:
            if contestant == name:
                for level, cell in self._cells_of(name, slug):
                    cells[level].append(cell)
        return cells

    def _cells_of(self, name: str, slug: str) -> Iterator[tuple[Level, OpenCell]]:
        before = self._before.get(name, {})
        for level in self._rule.levels:
            if (level, slug) in before:
                yield (
                    level,
                    OpenCell(
                        before=before[level, slug],
                        now=self._now[name, slug, level],
                        open=self._open[name, slug],
                    ),
                )

    def _explain_failing(self) -> Iterator[str]:
        for name in self._tested:
            levels = list(list_failing(self._rule.regression, self._cells(name)))
            if levels and self._rule.regression is Regression.SHOWN:
                yield f"{name} is worse than the base at {', '.join(levels)}"
            yield from self._explain_broken(name, levels)

    def _explain_broken(self, name: str, levels: Sequence[Level]) -> Iterator[str]:
        for contestant, slug in self._open:
            for level, cell in self._cells_of(name, slug) if contestant == name else ():
                if level in levels and cell.is_broken:
                    yield (
                        f"{name} broke {level} of {slug.replace('__', '/', 1)}"
                        f" ({cell.before.passed} of {cell.before.counted} → 0 of"
                        f" {cell.now.counted})"
                    )


def _count_base(
    base: Scoreboard, scoring: Scoring
) -> Mapping[str, Mapping[tuple[Level, str], Attempts]]:
    """Return the attempts of each contestant of the base by its id."""
    ids = {contestant_of(row.trial) or row.name: row.name for row in base.trials}
    return {
        id_: {
            (level, slug_of(repository)): attempts
            for level, of_level in count_attempts(base, name, scoring).items()
            for repository, attempts in of_level.items()
        }
        for id_, name in ids.items()
    }


def _pair_of(trial: str) -> tuple[str, str]:
    """Return the contestant's id and the repository's slug of a trial's id."""
    slug, contestant, _ = trial.rsplit(".", 2)
    return contestant, slug
