"""What C0 says of what is absent, and what it does not ask for."""

from dataclasses import replace

import pytest

from reb_action.judge.imports import judge_imports
from reb_action.model.manifest import Outcome
from reb_action.model.observation import Absent, Cause, ImportsObservation
from tests.support.evidence import MANIFEST

SEEN = ImportsObservation(
    total=4,
    missing=(),
    third_party=("torch", "transformers", "zeta"),
    stub_only=(),
    files=1,
    pyright="1",
    seconds=1.0,
    absent=(),
)


def judged(*absent, unobtainable=()):
    seen = replace(
        SEEN,
        absent=tuple(
            Absent(name=module.partition(".")[0], module=module, cause=cause)
            for module, cause in absent
        ),
    )
    wanted = dict.fromkeys(unobtainable, "nobody offers it")
    return judge_imports(replace(MANIFEST, unobtainable=wanted), seen)


PART = "transformers.tokenization_utils_fast"


@pytest.mark.parametrize(
    ("absent", "reason"),
    [
        ([("torch", Cause.NOT_INSTALLED)], "1 not installed: torch"),
        (
            [(PART, Cause.PART_MISSING)],
            f"1 not in its package, which is installed: {PART}",
        ),
        (
            [("zeta", Cause.TOO_LITTLE_CODE)],
            "1 with too little code in it to count: zeta",
        ),
        (
            [("torch", Cause.NOT_INSTALLED), (PART, Cause.PART_MISSING)],
            f"1 not installed: torch; 1 not in its package, which is installed: {PART}",
        ),
        ([], "every third-party import resolves"),
    ],
)
def test_reason_names_what_is_absent_and_how(absent, reason):
    assert judged(*absent).reason == reason


@pytest.mark.parametrize(
    ("unobtainable", "outcome", "missing", "total"),
    [
        ((), Outcome.FAILED, 1, 3),
        (("transformers",), Outcome.PASSED, 0, 2),
        ((PART,), Outcome.PASSED, 0, 3),
        (("transformers.tokenization",), Outcome.FAILED, 1, 3),
        (("torch",), Outcome.FAILED, 1, 2),
    ],
)
def test_what_nobody_offers_is_not_asked_for(unobtainable, outcome, missing, total):
    result = judged((PART, Cause.PART_MISSING), unobtainable=unobtainable)
    counts = (result.imports.strict_missing, result.imports.strict_total)
    assert (result.outcome, counts) == (outcome, (missing, total))


def test_observation_of_before_is_judged_by_what_pyright_did_not_find():
    seen = replace(SEEN, absent=None, missing=("torch",), hollow=("zeta",))
    assert judge_imports(MANIFEST, seen).reason == "2 not installed: torch, zeta"
