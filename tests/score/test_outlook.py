"""The sequential rule: it answers early, and never otherwise than the whole run."""

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from reb_action.model.comparison import Attempts, Regression
from reb_action.model.manifest import Level
from reb_action.score.outlook import Answer, OpenCell, can_fail, foresee, list_failing
from reb_action.score.paired_tests import ALPHA, adjust_holm, permutation_test

EXPERIMENTS = 2000
LOOK = 5
"""Trials between two looks; the answers do not depend on it."""


def cell(before, now, still_open):
    return OpenCell(
        before=Attempts(passed=before[0], counted=before[1]),
        now=Attempts(passed=now[0], counted=now[1]),
        open=still_open,
    )


def answer_whole(rule, pairs):
    """Return whether a finished run fails, from (before, now) of each repository by level."""
    if rule is Regression.BROKEN:
        return any(b[0] == b[1] and n[1] and not n[0] for each in pairs.values() for b, n in each)
    differences = {
        level: [Fraction(*n) - Fraction(*b) for b, n in each if n[1]]
        for level, each in pairs.items()
    }
    tested = [each for each in differences.values() if each]
    adjusted = adjust_holm([permutation_test(each) for each in tested])
    return any(
        p is not None and p <= ALPHA and sum(each) < 0
        for each, p in zip(tested, adjusted, strict=True)
    )


BROKEN = [
    # base, now, open: the answer
    ((2, 2), (0, 0), 2, None),
    ((2, 2), (0, 1), 1, None),
    ((2, 2), (1, 1), 1, Answer.PASSES),
    ((2, 2), (0, 2), 0, Answer.FAILS),
    ((2, 2), (0, 0), 0, Answer.PASSES),
    ((1, 2), (0, 0), 2, Answer.PASSES),
    ((0, 2), (0, 1), 1, Answer.PASSES),
]


@pytest.mark.parametrize(("before", "now", "still_open", "answer"), BROKEN)
def test_broken_is_decided_as_soon_as_it_can_be(before, now, still_open, answer):
    cells = {Level.C1: [cell(before, now, still_open)]}
    assert foresee(Regression.BROKEN, cells) is answer


def test_regression_is_decided_by_the_repositories_that_are_left():
    def foreseen(broken, left):
        every = [cell((1, 1), (0, 1), 0)] * broken + [cell((1, 1), (0, 0), 1)] * left
        return foresee(Regression.SHOWN, {Level.C1: every})

    # Six repositories that break are worse beyond chance, p = 2 / 2^6; five are not.
    assert [foreseen(6, 0), foreseen(6, 38)] == [Answer.FAILS, Answer.FAILS]
    assert [foreseen(5, 0), foreseen(5, 1), foreseen(0, 5)] == [
        Answer.PASSES, None, Answer.PASSES,
    ]  # fmt: skip


def test_a_level_that_gets_better_can_let_another_one_fail():
    """Holm's second level is tested at 5 %, not at 2.5 %, if the first one is shown."""
    worse = [cell((1, 1), (0, 1), 0)] * 6
    levels = {Level.C0: worse, Level.C1: [cell((0, 1), (0, 0), 1)] * 7}
    assert foresee(Regression.SHOWN, levels) is None
    passed = {**levels, Level.C1: [cell((0, 1), (1, 1), 0)] * 7}
    assert foresee(Regression.SHOWN, passed) is Answer.FAILS
    failed = {**levels, Level.C1: [cell((0, 1), (0, 1), 0)] * 7}
    assert foresee(Regression.SHOWN, failed) is Answer.PASSES


def possible_ends(state):
    """Yield every end of a state {level: [(before, now, open)]}; an attempt may not count."""
    flat = [(level, *each) for level, cells in state.items() for each in cells]
    ways = [
        [(now[0] + p, now[1] + n) for n in range(left + 1) for p in range(n + 1)]
        for _, _, now, left in flat
    ]
    for ends in product(*ways):
        pairs = {level: [] for level in state}
        for (level, before, _, _), now in zip(flat, ends, strict=True):
            pairs[level].append((before, now))
        yield pairs


@pytest.mark.parametrize("rule", Regression)
def test_no_possible_end_contradicts_an_early_answer(rule):
    """All ends of random states, some of which are decided; `broken` is decided exactly then."""
    random, decided = Random(1), 0
    for _ in range(100):
        state = {
            level: [
                random.choice([((1, 1), (0, 1), 0), ((2, 2), (0, 1), 1), ((0, 1), (0, 0), 1),
                               ((1, 1), (1, 1), 0), ((1, 2), (0, 0), 1)])
                for _ in range(random.choice([4, 7]))
            ]
            for level in (Level.C0, Level.C1)
        }  # fmt: skip
        if sum(left for each in state.values() for _, _, left in each) > 4:
            continue
        answers = {answer_whole(rule, end) for end in possible_ends(state)}
        early = foresee(
            rule, {level: [cell(*one) for one in each] for level, each in state.items()}
        )
        if early is not None:
            assert answers == {early is Answer.FAILS}
            decided += 1
        elif rule is Regression.BROKEN:
            assert answers == {True, False}
    assert decided >= 5


def experiment(random, rule, *, repositories, attempts, change):
    """Run one experiment in a random order; return its early answer, the whole one, what ran.

    `change` is added to each repository's probability to pass; one attempt in 20 does not count.
    """
    levels = (Level.C0, Level.C1, Level.C2)
    chance = {(level, n): random.betavariate(0.4, 0.4) for level in levels
              for n in range(repositories)}  # fmt: skip

    def attempt(level, n, shift):
        if random.random() < 0.05:
            return None
        return random.random() < min(1, max(0, chance[level, n] + shift))

    def count(outcomes):
        counted = [one for one in outcomes if one is not None]
        return sum(counted), len(counted)

    before = {key: count([attempt(*key, 0) for _ in range(attempts)]) for key in chance}
    now = {key: [attempt(*key, change) for _ in range(attempts)] for key in chance}
    order = [(n, a) for a in range(attempts) for n in range(repositories)]
    random.shuffle(order)
    seen = {n: [] for n in range(repositories)}
    early, ran = None, None
    for number in range(0, len(order) + 1, LOOK):
        cells = {
            level: [
                cell(before[level, n], count([now[level, n][a] for a in seen[n]]),
                     attempts - len(seen[n]))
                for n in range(repositories) if before[level, n][1]
            ]
            for level in levels
        }  # fmt: skip
        early = foresee(rule, cells)
        if early is not None:
            ran = number
            break
        for n, a in order[number : number + LOOK]:
            seen[n].append(a)
    pairs = {
        level: [
            (before[level, n], count(now[level, n]))
            for n in range(repositories)
            if before[level, n][1]
        ]
        for level in levels
    }
    return early is Answer.FAILS, answer_whole(rule, pairs), ran / len(order)


@pytest.mark.parametrize("rule", Regression)
def test_error_rates_are_those_of_the_whole_run(rule):
    """2,000 experiments, half of them without a change: each has the answer of its whole run."""
    random = Random(2)
    alarms, saved = {0.0: 0, -0.6: 0}, 0
    for number in range(EXPERIMENTS // 2):
        change = (0.0, -0.6)[number % 2]
        early, whole, ran = experiment(random, rule, repositories=10, attempts=2, change=change)
        assert early is whole
        alarms[change] += whole
        saved += ran < 1
    assert saved > EXPERIMENTS // 4
    if rule is Regression.SHOWN:
        # Three levels together: at most 5 %, and 3.7 standard errors of 500 experiments.
        assert alarms[0.0] / 500 <= 0.05 + 3.7 * (0.05 * 0.95 / 500) ** 0.5
        assert alarms[-0.6] > alarms[0.0]


def test_the_bounds_of_a_cell_without_attempts_are_those_of_no_attempt():
    nothing = cell((1, 2), (0, 0), 0)
    assert (nothing.lowest, nothing.highest) == (0, 0)
    one = cell((1, 2), (0, 1), 1)
    assert (one.lowest, one.highest) == (Fraction(-1, 2), 0)
    assert not can_fail(Regression.SHOWN, {Level.C0: [nothing]})
    assert not list(list_failing(Regression.SHOWN, {Level.C0: [nothing]}))
