"""Finds proofs in known weak forms: those that a wrong environment may give too.

It knows forms only. Whether a proof is strong is what qualification shows.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.corpus.failure_lines import NEUTRAL_LINES, list_failure_lines
from reb_action.documents import show
from reb_action.model.manifest import (
    CurveProof,
    FileProof,
    Level,
    LogProof,
    Manifest,
    MetricProof,
    Proof,
    StepsProof,
    WeakForm,
)

_WIDE: Final = 1e5
_SHARES: Final = re.compile(
    r"\b(acc|accuracy|f1|auc|auroc|iou|dice|precision|recall|share|probability|ssim|kappa|mcc"
    r"|nmi|normalized mutual|ari|adjusted rand|cosine|correlation|similarity|pearson|spearman)\b",
    re.IGNORECASE,
)
"""Names of metrics whose values are within 0 and 1, or -1 and 1."""
_SIZES: Final = re.compile(
    r"(loss|perplexity)|\b(error|difference|deviation|distance|norm|time|seconds|memory)\b",
    re.IGNORECASE,
)
"""Names of metrics that are never negative, or hardly ever."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WeakProof:
    """A weak form that a level's proofs have; `index` is the proof's, None if all have it."""

    level: Level
    form: WeakForm
    index: int | None
    clause: str


def list_weak_proofs(manifest: Manifest) -> Iterator[WeakProof]:
    """Yield the weak forms of all entry points, whether the manifest gives reasons or not."""
    for level, entrypoint in manifest.entrypoints.items():
        form = _find_form_of_all(entrypoint.proofs)
        if form is not None:
            yield WeakProof(level=level, form=form, index=None, clause=_OF_ALL[form])
        failures = tuple(list_failure_lines(manifest, entrypoint))
        for index, proof in enumerate(entrypoint.proofs):
            for form, clause in _list_forms(proof, failures):
                yield WeakProof(level=level, form=form, index=index, clause=clause)


_OF_ALL: Final = {
    WeakForm.FILES_ONLY: "every proof is a file, whose size and first bytes tell nothing of its"
    " content; add a metric, curve or steps",
    WeakForm.NO_NUMBER: "no proof reads a number; add a metric, a curve, or steps of at least 2",
}


def _find_form_of_all(proofs: tuple[Proof, ...]) -> WeakForm | None:
    """Return the weak form that the proofs of an entry point have as a whole."""
    if all(isinstance(proof, FileProof) for proof in proofs):
        return WeakForm.FILES_ONLY
    return None if any(map(_reads_number, proofs)) else WeakForm.NO_NUMBER


def _reads_number(proof: Proof) -> bool:
    if isinstance(proof, StepsProof):
        return proof.at_least > 1
    return isinstance(proof, MetricProof | CurveProof)


def _list_forms(proof: Proof, failures: tuple[str, ...]) -> Iterator[tuple[WeakForm, str]]:
    """Yield the weak forms of one proof, each with a clause that says what is wrong."""
    if isinstance(proof, MetricProof):
        form = _find_form_of_bounds(proof)
        if form is not None:
            yield form, _BOUNDS[form].format(show(proof.metric))
    for form, lines, whose in (
        (WeakForm.ANY_TEXT, NEUTRAL_LINES, "any program may print"),
        (WeakForm.FAILURE, failures, "a failed run may print"),
    ):
        line = next((line for line in lines if _accepts(proof, line)), None)
        if line is not None:
            yield form, f"it accepts a line that {whose}: {show(line.strip())}"
            # What accepts any text accepts the lines of a failed run as well.
            return


_BOUNDS: Final = {
    WeakForm.UNBOUNDED: "the bounds of {} accept nearly every number; set those that a right run"
    " keeps",
    WeakForm.WHOLE_RANGE: "the bounds of {} are the whole range of such a metric; set those that"
    " a right run keeps",
}


def _find_form_of_bounds(proof: MetricProof) -> WeakForm | None:
    least = -math.inf if proof.minimum is None else proof.minimum
    most = math.inf if proof.maximum is None else proof.maximum
    if least <= -_WIDE and most >= _WIDE:
        return WeakForm.UNBOUNDED
    size = _SIZES.search(proof.metric) is not None
    if size and least <= 0 and most >= _WIDE:
        return WeakForm.WHOLE_RANGE
    share = _SHARES.search(proof.metric) is not None
    exact = not size and (least, most) in {(0, 1), (-1, 1)}
    return WeakForm.WHOLE_RANGE if exact or (share and least <= 0 and most >= 1) else None


def _accepts(proof: Proof, line: str) -> bool:
    """Return whether a line alone would satisfy a proof, or count for it."""
    match proof:
        case LogProof(log=pattern) | StepsProof(steps=pattern):
            return re.search(pattern, line) is not None
        case MetricProof(metric=pattern):
            least = -math.inf if proof.minimum is None else proof.minimum
            most = math.inf if proof.maximum is None else proof.maximum
            return any(least <= one <= most for one in _find_numbers(pattern, line))
        case CurveProof(curve=pattern):
            return any(True for _ in _find_numbers(pattern, line))
        case FileProof():
            return False


def _find_numbers(pattern: str, line: str) -> Iterator[float]:
    for found in re.finditer(pattern, line):
        try:
            number = float(found[1])
        except (TypeError, ValueError):
            continue
        if math.isfinite(number):
            yield number
