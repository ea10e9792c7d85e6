"""Checks the losses of a short training run: finite, falling, and the same with the same seed."""

from collections.abc import Sequence
from dataclasses import replace
from math import fsum
from statistics import fmean
from typing import Final

from reb_action.judge.log_search import MOST_LOSSES, Tally
from reb_action.model.manifest import CurveProof
from reb_action.model.observation import Curve, ProofObservation

_ENDS: Final = 10
"""The first and the last 1/10 of the losses are compared."""


def check_curve(proof: CurveProof, tally: Tally) -> tuple[Curve, str | None]:
    """Return the losses that a log has, and why they do not show training; None if they do."""
    first, last = tally.times
    rate = round((tally.count - 1) / (last - first), 2) if last > first else None
    curve = Curve(losses=tuple(tally.losses), per_second=rate)
    if tally.wrong is not None:
        return curve, f"{proof.curve} gave {tally.wrong!r:.60}, which is no finite number"
    if tally.count > MOST_LOSSES:
        return curve, f"the log has {tally.count} losses, more than the {MOST_LOSSES} that are kept"
    if tally.count < proof.at_least:
        return curve, f"{tally.count} of {proof.at_least} losses in the log ({proof.curve})"
    return curve, find_fall_fault(proof, curve.losses)


def find_fall_fault(proof: CurveProof, losses: Sequence[float]) -> str | None:
    """Return why losses do not fall by the share that is asked for; None if they do."""
    before, after = _find_ends(losses)
    if before <= 0:
        return f"the loss is {before:.4g} at first, of which no share can be taken"
    if after <= before * (1 - proof.falls):
        return None
    asked = f"a fall by at least {proof.falls:.0%} is asked for"
    return f"the loss went from {before:.4g} to {after:.4g} in {len(losses)} steps; {asked}"


def find_repeat_fault(
    proof: CurveProof, losses: Sequence[float], repeated: Sequence[float]
) -> str | None:
    """Return why a second run with the same seed has other losses; None if it has the same."""
    if len(repeated) != len(losses):
        counts = f"{len(losses)} losses and then {len(repeated)}"
        return f"two runs with the same seed gave {counts}"
    largest = max(map(abs, losses), default=0.0)
    differs = max((abs(one - two) for one, two in zip(losses, repeated, strict=True)), default=0.0)
    if proof.repeats is None or differs <= proof.repeats * largest:
        return None
    share = f"{differs / largest:.2%} of the largest"
    return f"two runs with the same seed differ by {share}; {proof.repeats:.2%} is allowed"


def compare_runs(
    first: Sequence[ProofObservation],
    repeated: Sequence[ProofObservation],
    reseeded: Sequence[ProofObservation],
) -> tuple[ProofObservation, ...]:
    """Return the proofs of a run, compared with those of runs with the same and another seed.

    `reseeded` is empty if the entry point is not told a seed.
    """
    others = reseeded or (None,) * len(first)
    rows = zip(first, repeated, others, strict=True)
    return tuple(_compare(one, again, other) for one, again, other in rows)


def _compare(
    first: ProofObservation, repeated: ProofObservation, reseeded: ProofObservation | None
) -> ProofObservation:
    proof, curve = first.proof, first.curve
    if not isinstance(proof, CurveProof) or proof.repeats is None or curve is None:
        return first
    again = repeated.curve.losses if repeated.curve else ()
    other = reseeded.curve.losses if reseeded and reseeded.curve else ()
    fault = find_repeat_fault(proof, curve.losses, again)
    if fault is None and not repeated.satisfied:
        fault = f"again with the same seed: {repeated.detail}"
    if reseeded is not None and fault is None:
        fault = None if reseeded.satisfied else f"with another seed: {reseeded.detail}"
        fault = "two seeds gave the same losses" if other == curve.losses else fault
    return replace(
        first,
        satisfied=fault is None,
        detail=fault or f"{first.detail}; the same again with the same seed",
        curve=replace(curve, repeated=again, reseeded=other),
    )


def describe_curve(curve: Curve) -> str:
    """Return the fall of the losses and their number in a second, as one line."""
    before, after = _find_ends(curve.losses)
    rate = "" if curve.per_second is None else f", {curve.per_second:g} in a second"
    return f"the loss fell from {before:.4g} to {after:.4g} in {len(curve.losses)} steps{rate}"


def _find_ends(losses: Sequence[float]) -> tuple[float, float]:
    """Return the means of the first and of the last tenth of the losses."""
    tenth = max(1, len(losses) // _ENDS)
    return _find_mean(losses[:tenth]), _find_mean(losses[-tenth:])


def _find_mean(losses: Sequence[float]) -> float:
    try:
        return fmean(losses)
    except OverflowError:
        # The sum of numbers near the largest one; their shares have a sum.
        return fsum(loss / len(losses) for loss in losses)
