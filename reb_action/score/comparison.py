"""Compare contestants of scoreboards: paired by repository and level."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import fmean
from typing import Final

from reb_action.errors import UsageError
from reb_action.model.comparison import (
    Attempts,
    ContestantComparison,
    Finding,
    LevelComparison,
    Lift,
    RepositoryPair,
)
from reb_action.model.manifest import Level, Outcome, contestant_of
from reb_action.model.scoreboard import Scoreboard, TrialRow
from reb_action.model.verdict import Scoring
from reb_action.score import paired_tests

COUNTED: Final = (Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED)
"""The outcomes that are attempts of a comparison."""

Counts = Mapping[Level, Mapping[str, Attempts]]
"""Attempts by level and repository."""


def list_contestants(board: Scoreboard) -> tuple[str, ...]:
    """Return the contestants of a board that have a trial with a verdict, in its order."""
    return tuple(score.name for score in board.agents if score.judged)


def choose_pairs(
    a: Scoreboard, b: Scoreboard, *, of_a: str | None, of_b: str | None
) -> tuple[tuple[str, str], ...]:
    """Return the contestants to compare: the named ones, else those that both boards have.

    Raises UsageError if there is nothing to compare.
    """
    names_a, names_b = list_contestants(a), list_contestants(b)
    for name, names in ((of_a, names_a), (of_b, names_b)):
        if name is not None and name not in names:
            raise UsageError(f"there is no contestant {name!r}; there are {', '.join(names)}")
    if of_a is not None or of_b is not None:
        return ((of_a or of_b or "", of_b or of_a or ""),)
    shared = tuple((name, name) for name in names_a if name in names_b)
    if not shared and len(names_a) == len(names_b) == 1:
        return ((names_a[0], names_b[0]),)
    if not shared:
        raise UsageError(
            f"A has {', '.join(names_a)} and B has {', '.join(names_b)}; name one of each with"
            " --of-a and --of-b"
        )
    return shared


def compare_contestants(
    a: Scoreboard,
    b: Scoreboard,
    *,
    names: tuple[str, str],
    levels: tuple[Level, ...],
    scoring: Scoring,
) -> ContestantComparison:
    """Return contestant `names[1]` of board B against `names[0]` of board A."""
    before, now = count_attempts(a, names[0], scoring), count_attempts(b, names[1], scoring)
    compared = _compare_levels(before, now, levels)
    unseen = tuple(dict.fromkeys((*_unseen(a, names[0]), *_unseen(b, names[1]))))
    return ContestantComparison(
        a=names[0],
        b=names[1],
        finding=_find(compared, unseen),
        levels=compared,
        lifts=tuple(_lifts(b, names[1], now, levels, scoring)),
        unseen=unseen,
    )


def _compare_levels(
    before: Counts, now: Counts, levels: tuple[Level, ...]
) -> tuple[LevelComparison, ...]:
    # A level without a pair takes nothing from the 5 % of the others.
    tested = [level for level in levels if set(before[level]) & set(now[level])]
    alpha = paired_tests.ALPHA / max(1, len(tested))
    compared = [_compare_level(level, before[level], now[level], alpha=alpha) for level in tested]
    adjusted = paired_tests.adjust_holm([one.p for one in compared])
    return tuple(replace(one, adjusted=p) for one, p in zip(compared, adjusted, strict=True))


def _compare_level(
    level: Level, before: Mapping[str, Attempts], now: Mapping[str, Attempts], *, alpha: float
) -> LevelComparison:
    names = sorted(set(before) & set(now))
    pairs = tuple(RepositoryPair(repository=name, a=before[name], b=now[name]) for name in names)
    differences = [_share(pair.b) - _share(pair.a) for pair in pairs]
    difference = float(sum(differences) / len(differences))
    spread = paired_tests.measure_spread(
        [((pair.a.passed, pair.a.counted), (pair.b.passed, pair.b.counted)) for pair in pairs]
    )
    count = len(pairs)
    return LevelComparison(
        level=level,
        pairs=pairs,
        unpaired=len(set(before) ^ set(now)),
        a=fmean(float(_share(pair.a)) for pair in pairs),
        b=fmean(float(_share(pair.b)) for pair in pairs),
        difference=difference,
        interval=paired_tests.bootstrap_interval(differences),
        higher=sum(one > 0 for one in differences),
        lower=sum(one < 0 for one in differences),
        p=paired_tests.permutation_test(differences),
        adjusted=None,
        detectable=paired_tests.find_detectable(count, spread, alpha=alpha),
        repositories_needed=paired_tests.find_repositories(difference, spread, alpha=alpha),
        attempts_needed=paired_tests.find_attempts(difference, count, spread, alpha=alpha),
    )


def _find(levels: Iterable[LevelComparison], unseen: tuple[str, ...]) -> Finding:
    signs = {level.difference > 0 for level in levels if _is_shown(level.adjusted)}
    return _find_sign(signs, incomplete=bool(unseen))


def _lifts(
    board: Scoreboard, name: str, now: Counts, levels: tuple[Level, ...], scoring: Scoring
) -> Iterable[Lift]:
    """Yield B against each contestant of its board that uses no model."""
    models = {score.name: score.model for score in board.agents}
    if models.get(name) is None:
        return
    for baseline in list_contestants(board):
        if models[baseline] is None:
            for one in _compare_levels(count_attempts(board, baseline, scoring), now, levels):
                yield Lift(
                    baseline=baseline, level=one.level, difference=one.difference, p=one.adjusted
                )


def count_attempts(board: Scoreboard, name: str, scoring: Scoring) -> Counts:
    """Return the attempts of a contestant that count, at every level."""
    outcomes: dict[Level, defaultdict[str, list[Outcome]]] = {
        level: defaultdict(list) for level in Level
    }
    for row in board.trials:
        if row.name == name:
            for level, outcome in _counted_cells(row, scoring):
                outcomes[level][row.repository].append(outcome)
    return {
        level: {
            repository: Attempts(passed=of.count(Outcome.PASSED), counted=len(of))
            for repository, of in repositories.items()
        }
        for level, repositories in outcomes.items()
    }


def _counted_cells(row: TrialRow, scoring: Scoring) -> Iterable[tuple[Level, Outcome]]:
    for level, cell in row.cells.items():
        if cell.by(scoring) in COUNTED:
            yield level, cell.by(scoring)


def _unseen(board: Scoreboard, name: str) -> Iterable[str]:
    names = {row.trial: row.name for row in board.trials}
    ids = {contestant_of(row.trial): row.name for row in board.trials}
    for trial in board.run_again:
        contestant = contestant_of(trial)
        if names.get(trial, ids.get(contestant, contestant)) == name:
            yield trial


def _share(attempts: Attempts) -> Fraction:
    return Fraction(attempts.passed, attempts.counted)


@dataclass(frozen=True, kw_only=True, slots=True)
class PairFinding:
    """B against A in short: the finding, and by level Holm's p and the difference from -1 to 1."""

    a: str
    b: str
    finding: Finding
    p: Mapping[Level, float | None]
    differences: Mapping[Level, float]


def compare_all(
    board: Scoreboard, *, levels: tuple[Level, ...], scoring: Scoring
) -> tuple[PairFinding, ...]:
    """Return every contestant of a board against every other, each pair once.

    The tests are those of `compare_contestants`. Each pair is corrected for its levels only: among
    many pairs one in twenty is expected to differ by chance.
    """
    names = list_contestants(board)
    counts = {name: count_attempts(board, name, scoring) for name in names}
    unseen = {name: tuple(_unseen(board, name)) for name in names}
    return tuple(
        _compare_short(a, b, counts, levels, (*unseen[a], *unseen[b]))
        for place, a in enumerate(names)
        for b in names[place + 1 :]
    )


def _compare_short(
    a: str, b: str, counts: Mapping[str, Counts], levels: tuple[Level, ...], unseen: tuple[str, ...]
) -> PairFinding:
    before, now = counts[a], counts[b]
    differences = {
        level: [
            _share(now[level][name]) - _share(before[level][name])
            for name in sorted(set(before[level]) & set(now[level]))
        ]
        for level in levels
    }
    tested = {level: each for level, each in differences.items() if each}
    adjusted = paired_tests.adjust_holm(
        [paired_tests.permutation_test(each) for each in tested.values()]
    )
    p = dict(zip(tested, adjusted, strict=True))
    means = {level: float(sum(each) / len(each)) for level, each in tested.items()}
    signs = {means[level] > 0 for level, value in p.items() if _is_shown(value)}
    return PairFinding(
        a=a, b=b, finding=_find_sign(signs, incomplete=bool(unseen)), p=p, differences=means
    )


def _is_shown(p: float | None) -> bool:
    return p is not None and p <= paired_tests.ALPHA


def _find_sign(signs: Collection[bool], *, incomplete: bool) -> Finding:
    """Return the finding from the directions of the differences that are shown."""
    if not signs:
        return Finding.INCOMPLETE if incomplete else Finding.NO_DIFFERENCE
    if len(signs) == 2:
        return Finding.MIXED
    return Finding.BETTER if True in signs else Finding.WORSE
