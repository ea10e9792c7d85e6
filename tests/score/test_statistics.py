"""Wilson's interval, against the values of textbooks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action.score.statistics import wilson

# R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
# Medicine 17 (1998), table I, method 3.
NEWCOMBE = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
]


@pytest.mark.parametrize(("passed", "counted", "low", "high"), NEWCOMBE)
def test_interval_is_the_textbooks(passed, counted, low, high):
    assert tuple(round(bound, 4) for bound in wilson(passed, counted)) == (low, high)


def test_interval_of_the_papers_best_is_wide():
    assert tuple(round(bound, 3) for bound in wilson(12, 32)) == (0.229, 0.547)


def test_nothing_counted_has_no_interval():
    assert wilson(0, 0) is None


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_interval_holds_the_share_and_mirrors(pair):
    passed, counted = pair
    low, high = wilson(passed, counted)
    assert 0 <= low <= passed / counted <= high <= 1
    mirrored = wilson(counted - passed, counted)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-12)
