"""What C0 says of what is absent, and what it does not ask for."""

from dataclasses import replace

import pytest

from reb_action.judge.imports import judge_imports, unobserved_imports
from reb_action.model.manifest import Outcome
from reb_action.model.observation import Absent, Cause, ImportsObservation
from reb_action.render.lines import level_reason
from tests.support.evidence import MANIFEST

SEEN = ImportsObservation(
    total=10,
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


@pytest.mark.parametrize(
    ("declared", "of_paper", "reason"),
    [
        (10, True, "every third-party import resolves"),
        (None, False, "every third-party import resolves"),
        (
            3,
            False,
            (
                "every third-party import resolves; the manifest says imports: 3, and 10 were"
                " counted; correct it, or leave imports out"
            ),
        ),
    ],
)
def test_declared_total_is_compared_with_the_counted_one(declared, of_paper, reason):
    result = judge_imports(replace(MANIFEST, imports=declared), replace(SEEN, total=10, absent=()))
    assert (result.imports.total, result.imports.of_paper) == (10, of_paper)
    assert result.reason == reason
    assert ("paper: " in level_reason(result)) is of_paper


def test_total_that_nobody_declared_or_counted_is_unknown():
    result = unobserved_imports(replace(MANIFEST, imports=None), Outcome.BLOCKED, "no report")
    assert result.imports.known_total is None


def test_observation_of_before_is_judged_by_what_pyright_did_not_find():
    seen = replace(SEEN, absent=None, missing=("torch",), hollow=("zeta",))
    assert judge_imports(MANIFEST, seen).reason == "2 not installed: torch, zeta"
