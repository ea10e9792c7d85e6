"""Losses must be finite and fall; the same seed must give the same ones, another seed others."""

import math
from dataclasses import replace

import pytest

from reb_action.judge.curves import compare_runs
from reb_action.judge.log_search import LogSearch
from reb_action.judge.proofs import check_proofs
from reb_action.model.manifest import CurveProof

PROOF = CurveProof(curve=r"loss (\S+)", at_least=20, falls=0.5, repeats=0.02)


def log_of(losses):
    return "".join(f"loss {loss}\n" for loss in losses).encode()


def falling(start, *, steps=20):
    return [start * 0.8**step for step in range(steps)]


def check(losses, *, proof=PROOF):
    search = LogSearch([proof])
    search.feed(log_of(losses))
    (seen,) = check_proofs(search, files=())
    return seen


def test_losses_that_fall_are_training_and_are_kept_in_order():
    seen = check(falling(2.0))
    assert seen.satisfied
    assert seen.detail.startswith("the loss fell from 1.8 to 0.032")
    assert seen.curve.losses == pytest.approx(falling(2.0))


@pytest.mark.parametrize(
    ("losses", "why"),
    [
        ([1.0] * 20, "the loss went from 1 to 1 in 20 steps; a fall by at least 50% is asked for"),
        ([1.0 - step / 100 for step in range(20)], "a fall by at least 50% is asked for"),
        (falling(2.0)[::-1], "a fall by at least 50% is asked for"),
        (falling(2.0)[:19], "19 of 20 losses in the log"),
        ([*falling(2.0), math.nan], "gave 'nan', which is no finite number"),
        ([*falling(2.0), math.inf], "gave 'inf', which is no finite number"),
        ([-loss for loss in falling(2.0)], "of which no share can be taken"),
        (["0,5"] * 20, "gave '0,5', which is no finite number"),
        ([1e308] * 40, "the loss went from 1e+308 to 1e+308 in 40 steps"),
        ([], "0 of 20 losses in the log"),
        (falling(2.0, steps=2001), "the log has 2001 losses, more than the 2000 that are kept"),
    ],
)
def test_losses_that_show_no_training_say_why(losses, why):
    seen = check(losses)
    assert not seen.satisfied
    assert why in seen.detail


def test_one_noisy_loss_at_an_end_does_not_decide():
    losses = [*falling(2.0, steps=100)[:-1], 1.0]
    assert check(losses).satisfied


@pytest.mark.parametrize(
    ("again", "other", "why"),
    [
        (falling(2.0), falling(2.1), None),
        (falling(2.01), falling(2.1), None),
        (falling(2.1), falling(2.2), "two runs with the same seed differ by 5.00% of the largest"),
        (falling(2.0)[:19], falling(2.1), "gave 20 losses and then 19"),
        ([*falling(2.0), math.nan], falling(2.1), "again with the same seed: loss (\\S+) gave"),
        (falling(2.0), falling(2.0), "two seeds gave the same losses"),
        (falling(2.0), [1.0] * 20, "with another seed: the loss went from 1 to 1"),
        (falling(2.0), None, None),
    ],
)
def test_runs_are_compared_by_their_seeds(again, other, why):
    first, repeated = check(falling(2.0)), check(again)
    reseeded = () if other is None else (check(other),)
    (seen,) = compare_runs((first,), (repeated,), reseeded)
    assert seen.satisfied is (why is None)
    assert (why or "the same again with the same seed") in seen.detail
    assert seen.curve.repeated == pytest.approx(again[:20])
    assert seen.curve.reseeded == pytest.approx(other or [])


def test_without_a_tolerance_runs_are_not_compared():
    once = replace(PROOF, repeats=None)
    first = check(falling(2.0), proof=once)
    assert compare_runs((first,), (check([1.0]),), ()) == (first,)
