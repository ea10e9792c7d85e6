"""The exact tests against scipy and published values, Holm, power, and 2,000 experiments."""

from fractions import Fraction
from random import Random

import numpy
import pytest
from scipy import stats

from reb_action.score import paired_tests

F = Fraction

MCNEMAR = [
    # repositories where only B passes, where only A passes
    (1, 0), (1, 1), (3, 0), (5, 1), (6, 0), (8, 2), (9, 9), (12, 3), (20, 11), (44, 0),
]  # fmt: skip


@pytest.mark.parametrize(("higher", "lower"), MCNEMAR)
def test_one_attempt_is_mcnemars_exact_test(higher, lower):
    differences = [F(1)] * higher + [F(-1)] * lower + [F(0)] * 7
    expected = stats.binomtest(higher, higher + lower, 0.5).pvalue
    assert paired_tests.permutation_test(differences) == pytest.approx(expected, rel=1e-12)


PERMUTED = [
    # shares of A and of B in each repository: several attempts, also of different numbers
    ([0, 0, 0], [1, 1, 1]),
    ([F(1, 3), F(2, 3), 1, 0], [1, 1, 1, F(1, 3)]),
    ([F(1, 2), F(1, 2), 0, 1, 1], [1, 0, F(1, 2), 1, F(1, 2)]),
    ([F(1, 5), F(2, 5), F(3, 5), F(4, 5)], [F(4, 5), F(3, 5), F(4, 5), 1]),
    ([F(1, 3), F(1, 2), F(1, 5)], [F(2, 3), F(3, 4), F(1, 4)]),
    ([0, F(1, 3), F(1, 3), F(2, 3), 1, 1], [F(1, 3), F(1, 3), 1, 1, 1, F(2, 3)]),
    ([1, 1, 1, F(2, 3), F(2, 3)], [0, F(1, 3), F(2, 3), 0, F(1, 3)]),
    ([F(3, 5), F(1, 5), 0, 0, 1, 1, F(2, 5)], [F(2, 5), F(3, 5), 1, F(1, 5), 1, F(4, 5), 1]),
    ([0, 0, 0, 0, 0, 0, 0, F(1, 2)], [F(1, 2), 1, 1, F(1, 2), 0, F(1, 2), 1, 0]),
    ([F(1, 4), F(3, 4), F(1, 2)] * 3, [F(1, 2), F(1, 2), 1] * 3),
]


@pytest.mark.parametrize(("a", "b"), PERMUTED)
def test_repeated_attempts_are_permuted_with_their_repository(a, b):
    """scipy permutes the two sides of each pair, all ways there are."""
    # Whole numbers: scipy compares sums of floats, and 60 is divisible by every denominator.
    numbers = [numpy.array([float(F(share) * 60) for share in side]) for side in (a, b)]
    expected = stats.permutation_test(
        numbers, lambda x, y, axis: (y - x).sum(axis), permutation_type="samples",
        n_resamples=10**6, vectorized=True,
    ).pvalue  # fmt: skip
    differences = [F(y) - F(x) for x, y in zip(a, b, strict=True)]
    assert paired_tests.permutation_test(differences) == pytest.approx(min(1, expected), rel=1e-9)


def test_no_repository_that_differs_has_no_p():
    assert paired_tests.permutation_test([F(0)] * 9) is None
    assert paired_tests.permutation_test([]) is None


HOLM = [
    # R's p.adjust(…, "holm") of its documentation's form, and cases worked by hand
    ((0.01, 0.04, 0.03, 0.005), (0.03, 0.06, 0.06, 0.02)),
    ((0.01, 0.02, 0.03, 0.04, 0.05), (0.05, 0.08, 0.09, 0.09, 0.09)),
    ((0.5, None, 0.01), (1.0, None, 0.03)),
    ((), ()),
]


@pytest.mark.parametrize(("values", "expected"), HOLM)
def test_holm(values, expected):
    assert paired_tests.adjust_holm(values) == pytest.approx(expected)


def test_an_exact_test_needs_six_repositories_that_differ_at_5_per_cent():
    assert [paired_tests.least_differing(alpha) for alpha in (0.05, 0.05 / 6, 0.5)] == [6, 8, 2]


def test_interval_is_that_of_the_same_data_every_time():
    differences = [F(1), F(0), F(0), F(1), F(-1), F(1), F(1), F(0), F(0), F(1)]
    low, high = paired_tests.bootstrap_interval(differences)
    expected = stats.bootstrap(
        ([float(one) for one in differences],), numpy.mean, method="percentile",
        n_resamples=20_000, rng=1,
    ).confidence_interval  # fmt: skip
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.101)
    assert paired_tests.bootstrap_interval(differences) == (low, high)
    assert paired_tests.bootstrap_interval([F(0)] * 5) is None


def test_spread_separates_attempts_from_repositories():
    same = [((1, 2), (1, 2))] * 10
    spread = paired_tests.measure_spread(same)
    # Each side's attempt has the variance 0.5 * 0.5 * 2 / (2 - 1).
    assert (spread.total, spread.within, spread.between) == (0, 1.0, 0.0)
    single = paired_tests.measure_spread([((0, 1), (1, 1)), ((0, 1), (1, 1)), ((1, 1), (0, 1))])
    assert (single.within, single.opposed) == (None, 1 / 3)
    assert paired_tests.measure_spread(same[:1]) is None


# A model of contestants, for the error rates. In a fifth of the repositories a contestant passes by
# chance; in the others it always or never does, and two contestants may differ in that.


def draw(generator, repositories, attempts, *, effect, flaky=0.2):
    """Return passed and counted of A and of B in each repository; `effect` raises B."""
    pairs = []
    for _ in range(repositories):
        if generator.random() < flaky:
            chances = [generator.random()] * 2
        else:
            chances = [float(generator.random() < 0.5)] * 2
        if generator.random() < effect / 0.5 and chances[1] < 0.5:
            chances[1] = 1.0
        pairs.append(
            tuple(
                (sum(generator.random() < chance for _ in range(attempts)), attempts)
                for chance in chances
            )
        )
    return pairs


def differences_of(pairs):
    return [F(*b) - F(*a) for a, b in pairs]


def rejections(repositories, attempts, *, effect, alpha, experiments, seed):
    generator = Random(seed)
    count = 0
    for _ in range(experiments):
        pairs = draw(generator, repositories, attempts, effect=effect)
        p = paired_tests.permutation_test(differences_of(pairs))
        count += p is not None and p <= alpha
    return count / experiments


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [1, 3, 5])
def test_error_rate_of_2000_experiments_without_a_difference(attempts):
    """Between 44 repositories, at 5 %: an exact test is never above it, but for chance."""
    rate = rejections(44, attempts, effect=0.0, alpha=0.05, experiments=2000, seed=attempts)
    print(f"attempts {attempts}: {rate:.2%} of 2,000 rejected")  # noqa: T201
    # Two standard errors of 2,000 experiments.
    assert rate <= 0.05 + 2 * (0.05 * 0.95 / 2000) ** 0.5


@pytest.mark.slow
def test_family_wise_error_of_2000_experiments_over_six_levels():
    generator, wrong = Random(6), 0
    for _ in range(2000):
        levels = [draw(generator, 44, 2, effect=0.0) for _ in range(6)]
        values = [paired_tests.permutation_test(differences_of(one)) for one in levels]
        wrong += any(p is not None and p <= 0.05 for p in paired_tests.adjust_holm(values))
    print(f"{wrong / 2000:.2%} of 2,000 boards have a false finding")  # noqa: T201
    assert wrong / 2000 <= 0.05 + 2 * (0.05 * 0.95 / 2000) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [1, 3, 5])
def test_coverage_of_intervals_in_500_experiments(attempts):
    """The percentile bootstrap over repositories; the mean effect of the model is known."""
    generator, hits, shown = Random(attempts), 0, 0
    # A half of the stable repositories and of the flaky ones are below 0.5; see `draw`.
    truth = 0.2 * (0.8 * 0.5 * 1.0 + 0.2 * 0.5 * 0.75) / 1.0
    for _ in range(500):
        pairs = draw(generator, 44, attempts, effect=0.1)
        interval = paired_tests.bootstrap_interval(differences_of(pairs))
        if interval is not None:
            shown += 1
            hits += interval[0] <= truth <= interval[1]
    print(f"attempts {attempts}: {hits / shown:.1%} of {shown} intervals cover")  # noqa: T201
    assert 0.90 <= hits / shown <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("attempts", [1, 3, 5])
def test_detectable_difference_is_found_in_four_of_five_experiments(attempts):
    """The power of 44 repositories with 1, 3 and 5 attempts, as said and as simulated."""
    generator = Random(attempts)
    spreads = [
        paired_tests.measure_spread(draw(generator, 44, attempts, effect=0.18)) for _ in range(99)
    ]
    said = sorted(paired_tests.find_detectable(44, one, alpha=0.05) for one in spreads)[49]
    # `draw` raises B by about 0.95 of `effect`.
    effect = said / 0.95
    rate = rejections(44, attempts, effect=effect, alpha=0.05, experiments=1000, seed=8)
    print(f"attempts {attempts}: {said:.3f} detectable, found in {rate:.1%}")  # noqa: T201
    assert 0.70 <= rate <= 0.90
