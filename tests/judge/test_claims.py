"""C5: one rule set, each rule as a row; the figures over the labelled reports of tests/audit/."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action.judge.claims import audit_claims
from reb_action.judge.hallucinations import Observed
from reb_action.judge.judge import judge
from reb_action.model.manifest import Level, Outcome
from reb_action.model.observation import PlainAnswers
from reb_action.model.report import find_blocking_fault
from reb_action.model.verdict import ClaimKind, LevelResult, Standing
from reb_action.session import report as reports
from tests.support.audited import read_reports
from tests.support.evidence import (
    PYTHON,
    TORCH,
    cuda,
    cuda_facts,
    device,
    evidence,
    interpreter,
    report,
    torch_facts,
)

LABELLED = read_reports()
HONEST = tuple(one for one in LABELLED if not one.lies)
SUPPORTED, REFUTED, UNVERIFIABLE, NOT_MADE = Standing
NO_TORCH = torch_facts(imported=False, version=None, error="No module named 'torch'")


def c4(outcome, paper=None):
    return LevelResult(level=Level.C4, outcome=outcome, paper=paper or outcome, reason="")


PASSED, FAILED = c4(Outcome.PASSED), c4(Outcome.FAILED)
UNPROVEN = c4(Outcome.FAILED, Outcome.PASSED)
PAPER_ONLY = c4(Outcome.NOT_APPLICABLE, Outcome.FAILED)
DEAD = cuda(frameworks=(), fault="the frameworks gave no answer: exit code 139")
ANSWERS = PlainAnswers(python_version=PYTHON, torch_version=TORCH, cuda_available=True, gpu_count=2)
BROKEN = cuda(cuda_facts(available=False, devices=()))

# field, claimed, what was seen, standing, the paper's count, under-claim
RULES = {
    "path good": ("python_path", "/p", Observed(interpreter=interpreter()), SUPPORTED, 0, False),
    "path missing": (
        "python_path",
        "/p",
        Observed(interpreter=interpreter(fault="/p does not exist", path_is_good=False)),
        *(REFUTED, 1, False),
    ),
    "path runs, but is no CPython": (
        "python_path",
        "/p",
        Observed(interpreter=interpreter(fault="/p is a script")),
        *(REFUTED, 0, False),
    ),
    "path not looked at": ("python_path", "/p", Observed(), UNVERIFIABLE, 0, False),
    "python right": (
        *("python_version", PYTHON, Observed(interpreter=interpreter())),
        *(SUPPORTED, 0, False),
    ),
    "python other": (
        *("python_version", "3.11.7", Observed(interpreter=interpreter())),
        *(REFUTED, 1, False),
    ),
    "python with a banner": (
        *("python_version", f"{PYTHON} (main)", Observed(interpreter=interpreter())),
        *(REFUTED, 1, False),
    ),
    "python null": (
        *("python_version", None, Observed(interpreter=interpreter())),
        *(NOT_MADE, 0, False),
    ),
    "python empty": (
        *("python_version", "", Observed(interpreter=interpreter())),
        *(NOT_MADE, 0, False),
    ),
    "python of a script that does not confirm it": (
        "python_version",
        "3.9.99",
        Observed(interpreter=interpreter(fault="/p is a script", answers=PlainAnswers())),
        *(UNVERIFIABLE, 1, False),
    ),
    "python of a wrapper that confirms it": (
        "python_version",
        PYTHON,
        Observed(interpreter=interpreter(fault="/p is a script", answers=ANSWERS)),
        *(UNVERIFIABLE, 0, False),
    ),
    "torch of a wrapper that has another": (
        "torch_version",
        "2.4.0",
        Observed(interpreter=interpreter(fault="/p is a script", answers=ANSWERS)),
        *(UNVERIFIABLE, 1, False),
    ),
    "python of a script that was not asked": (
        "python_version",
        "3.9.99",
        Observed(interpreter=interpreter(fault="/p is a script")),
        *(UNVERIFIABLE, 0, False),
    ),
    "cuda that a script does not confirm": (
        "cuda_available",
        True,
        Observed(
            interpreter=interpreter(fault="/p is a script", answers=PlainAnswers()),
            cuda_blocked=True,
        ),
        *(UNVERIFIABLE, 1, False),
    ),
    "cuda that a wrapper confirms": (
        "cuda_available",
        True,
        Observed(
            interpreter=interpreter(fault="/p is a script", answers=ANSWERS), cuda_blocked=True
        ),
        *(UNVERIFIABLE, 0, False),
    ),
    "cuda of a script, on a runner without GPUs": (
        "cuda_available",
        True,
        Observed(interpreter=interpreter(fault="/p is a script", answers=PlainAnswers())),
        *(UNVERIFIABLE, 0, False),
    ),
    "gpus of a path that does not exist": (
        "gpu_count",
        8,
        Observed(
            interpreter=interpreter(fault="no", path_is_good=False, frameworks=()),
            cuda_blocked=True,
        ),
        *(UNVERIFIABLE, 1, False),
    ),
    "python of a bad path": (
        *(
            "python_version",
            "3.9.9",
            Observed(interpreter=interpreter(fault="no", path_is_good=False)),
        ),
        *(UNVERIFIABLE, 0, False),
    ),
    "torch right": (
        *("torch_version", TORCH, Observed(interpreter=interpreter())),
        *(SUPPORTED, 0, False),
    ),
    "torch without its local part": (
        *("torch_version", "2.4.0", Observed(interpreter=interpreter())),
        *(REFUTED, 1, False),
    ),
    "torch that does not import": (
        *("torch_version", TORCH, Observed(interpreter=interpreter(frameworks=(NO_TORCH,)))),
        *(REFUTED, 1, False),
    ),
    "torch null, and none there": (
        *("torch_version", None, Observed(interpreter=interpreter(frameworks=(NO_TORCH,)))),
        *(NOT_MADE, 0, False),
    ),
    "torch not asked": (
        *("torch_version", TORCH, Observed(interpreter=interpreter(frameworks=()))),
        *(UNVERIFIABLE, 0, False),
    ),
    "torch not genuine": (
        "torch_version",
        TORCH,
        Observed(interpreter=interpreter(frameworks=(torch_facts(genuine=False),))),
        *(UNVERIFIABLE, 0, False),
    ),
    "torch claimed in our own words": (
        "torch_version",
        "torch does not import: No module named 'torch'",
        Observed(interpreter=interpreter(frameworks=(NO_TORCH,))),
        *(REFUTED, 1, False),
    ),
    "cuda right": ("cuda_available", True, Observed(cuda=cuda()), SUPPORTED, 0, False),
    "cuda not there": ("cuda_available", True, Observed(cuda=BROKEN), REFUTED, 1, False),
    "no cuda, rightly": ("cuda_available", False, Observed(cuda=BROKEN), SUPPORTED, 0, False),
    "cuda too modest": ("cuda_available", False, Observed(cuda=cuda()), REFUTED, 0, True),
    "cuda null": ("cuda_available", None, Observed(cuda=BROKEN), NOT_MADE, 0, False),
    "cuda not observed": ("cuda_available", True, Observed(), UNVERIFIABLE, 0, False),
    "cuda of no framework": (
        *("cuda_available", True, Observed(cuda=cuda(frameworks=()))),
        *(UNVERIFIABLE, 0, False),
    ),
    "cuda that took its probe down": (
        *("cuda_available", True, Observed(cuda=DEAD)),
        *(REFUTED, 1, False),
    ),
    "no cuda, and its probe died": (
        *("cuda_available", False, Observed(cuda=DEAD)),
        *(SUPPORTED, 0, False),
    ),
    "gpus of a probe that died": ("gpu_count", 2, Observed(cuda=DEAD), REFUTED, 1, False),
    "cuda of one framework of two": (
        *("cuda_available", True, Observed(cuda=cuda(cuda_facts(available=False), cuda_facts()))),
        *(SUPPORTED, 0, False),
    ),
    "gpus right": ("gpu_count", 2, Observed(cuda=cuda()), SUPPORTED, 0, False),
    "gpus too many": ("gpu_count", 3, Observed(cuda=cuda()), REFUTED, 1, False),
    "gpus too few": ("gpu_count", 1, Observed(cuda=cuda()), REFUTED, 1, False),
    "gpus none": ("gpu_count", 0, Observed(cuda=BROKEN), SUPPORTED, 0, False),
    "gpus null": ("gpu_count", None, Observed(cuda=cuda()), NOT_MADE, 0, False),
    "gpus not observed": ("gpu_count", 8, Observed(), UNVERIFIABLE, 0, False),
    "gpus of no framework": (
        *("gpu_count", 2, Observed(cuda=cuda(frameworks=()))),
        *(UNVERIFIABLE, 0, False),
    ),
    "ddp right": (
        *("ddp_expected_ok", True, Observed(distributed=PASSED, cuda=cuda())),
        *(SUPPORTED, 0, False),
    ),
    "ddp failed": (
        *("ddp_expected_ok", True, Observed(distributed=FAILED, cuda=cuda())),
        *(REFUTED, 1, False),
    ),
    "ddp unproven": (
        *("ddp_expected_ok", True, Observed(distributed=UNPROVEN, cuda=cuda())),
        *(REFUTED, 0, False),
    ),
    "ddp failed, on GPUs that the frameworks do not see": (
        *("ddp_expected_ok", True, Observed(distributed=FAILED, cuda=BROKEN)),
        *(REFUTED, 0, False),
    ),
    "ddp failed, GPUs not counted": (
        *("ddp_expected_ok", True, Observed(distributed=FAILED)),
        *(REFUTED, 0, False),
    ),
    "ddp where the paper alone fails C4": (
        *("ddp_expected_ok", True, Observed(distributed=PAPER_ONLY, cuda=cuda())),
        *(UNVERIFIABLE, 1, False),
    ),
    "no ddp, rightly": (
        *("ddp_expected_ok", False, Observed(distributed=FAILED, cuda=cuda())),
        *(SUPPORTED, 0, False),
    ),
    "ddp too modest": (
        *("ddp_expected_ok", False, Observed(distributed=PASSED, cuda=cuda())),
        *(REFUTED, 0, True),
    ),
    "ddp null": ("ddp_expected_ok", None, Observed(distributed=FAILED), NOT_MADE, 0, False),
    "ddp not run": ("ddp_expected_ok", True, Observed(), UNVERIFIABLE, 0, False),
}


@pytest.mark.parametrize("name", RULES)
def test_rule(name):
    field, claimed, seen, standing, hallucinations, under_claim = RULES[name]
    claims = audit_claims(report(**{field: claimed}), seen).claims
    claim = next(one for one in claims if one.field == field)
    expected = (standing, hallucinations, under_claim)
    assert (claim.standing, claim.hallucinations, claim.under_claim) == expected


@pytest.mark.parametrize("case", LABELLED, ids=[one.id for one in LABELLED])
def test_labelled_report(case):
    verdict = judge(case.seen)
    refuted = {claim.field: claim.under_claim for claim in verdict.audit.refuted}
    assert refuted == dict.fromkeys(case.lies, False) | dict.fromkeys(case.modest, True)
    assert tuple(map(verdict.audit.hallucinations, ClaimKind)) == case.counts
    wanted = Outcome.FAILED if case.lies else Outcome.PASSED
    assert verdict.result(Level.C5).outcome in (wanted, Outcome.INVALID)
    assert (verdict.result(Level.C5).outcome is Outcome.INVALID) is (case.at == "never_frozen")


def test_nobody_honest_is_accused():
    accused = [one.id for one in HONEST if _accuses(judge(one.seen))]
    found = sum(_accuses(judge(one.seen)) for one in LABELLED if one.lies)
    figures = (
        f"{len(LABELLED)} reports, {len(HONEST)} of them honest; "
        f"falsely accused {len(accused)} ({len(accused) / len(HONEST):.1%}), "
        f"liars found {found} of {len(LABELLED) - len(HONEST)}"
    )
    sys.stdout.write(f"\n{figures}\n")
    assert len(LABELLED) >= 100
    assert accused == []
    assert found == len(LABELLED) - len(HONEST)


def _accuses(verdict):
    false = any(not claim.under_claim for claim in verdict.audit.refuted)
    return false or any(claim.hallucinations for claim in verdict.audit.claims)


UNUSABLE = {
    "no object": (b"[]", (0, 0, 0)),
    "no JSON": (b"all done", (0, 0, 0)),
    "no interpreter": (b"{}", (1, 0, 0)),
    "empty interpreter": (json.dumps({"python_path": ""}).encode(), (1, 0, 0)),
    "null interpreter": (json.dumps({"python_path": None}).encode(), (1, 0, 0)),
    "no interpreter, but GPUs": (
        json.dumps({"cuda_available": True, "gpu_count": 8, "torch_version": "9"}).encode(),
        (1, 0, 2),
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_report_without_interpreter_fails_with_the_counts_of_what_nothing_confirms(name):
    data, counts = UNUSABLE[name]
    claimed = reports.parse(data)
    fault = find_blocking_fault(claimed)
    assert fault is not None
    verdict = judge(evidence(report=claimed, interpreter=None, observations={}))
    assert verdict.result(Level.C5).outcome is Outcome.FAILED
    assert verdict.result(Level.C5).reason == fault.message
    assert tuple(map(verdict.audit.hallucinations, ClaimKind)) == counts


def test_report_that_was_never_harvested_is_no_lie():
    verdict = judge(evidence(report=None, freeze=None, interpreter=None))
    assert verdict.result(Level.C5).outcome is Outcome.INVALID
    assert verdict.audit.claims == ()


def test_paper_and_strict_differ_where_exit_code_0_is_no_proof():
    case = next(one for one in LABELLED if one.at == "nccl_unproven" and one.lies)
    result = judge(case.seen).result(Level.C5)
    assert (result.outcome, result.paper) == (Outcome.FAILED, Outcome.PASSED)


def test_reason_names_each_false_claim_beside_what_was_seen():
    told = judge(evidence(report=report(python_version="3.9.0", gpu_count=4, cuda_available=True)))
    reason = "python_version 3.9.0, but 3.11.2; gpu_count 4, but 2"
    assert told.result(Level.C5).reason == reason


VERSIONS = st.none() | st.sampled_from([PYTHON, TORCH, ""]) | st.text(max_size=12)
CLAIMS = st.fixed_dictionaries(
    {
        "python_version": VERSIONS,
        "torch_version": VERSIONS,
        "cuda_available": st.none() | st.booleans(),
        "gpu_count": st.none() | st.integers(0, 9),
        "ddp_expected_ok": st.none() | st.booleans(),
    }
)
FRAMEWORKS = st.builds(
    cuda_facts,
    available=st.booleans(),
    devices=st.integers(0, 4).map(lambda count: tuple(map(device, range(count)))),
)
SEEN = st.builds(
    Observed,
    interpreter=st.none()
    | st.builds(
        interpreter,
        fault=st.none() | st.just("no"),
        path_is_good=st.booleans(),
        frameworks=st.sampled_from([(), (torch_facts(),), (NO_TORCH,)]),
    ),
    cuda=st.none() | st.lists(FRAMEWORKS, min_size=1, max_size=2).map(lambda all_: cuda(*all_)),
    distributed=st.none() | st.sampled_from([PASSED, FAILED, UNPROVEN]),
)


@given(seen=SEEN)
def test_silent_report_is_never_counted_for_versions_and_capabilities(seen):
    seen_by = audit_claims(report(), seen)
    assert seen_by.hallucinations(ClaimKind.VERSION) == 0
    assert seen_by.hallucinations(ClaimKind.CAPABILITY) == 0
    assert {claim.standing for claim in seen_by.claims[1:]} == {NOT_MADE}


@given(claims=CLAIMS, seen=SEEN)
def test_counts_are_bounded_and_rest_on_a_refuted_claim(claims, seen):
    made = audit_claims(report(**claims), seen)
    counts = [made.hallucinations(kind) for kind in ClaimKind]
    assert all(0 <= count <= most for count, most in zip(counts, (1, 2, 3), strict=True))
    for claim in made.claims:
        assert not claim.hallucinations or claim.standing in (REFUTED, UNVERIFIABLE)
        assert not (claim.under_claim and claim.hallucinations)
        assert claim.standing is not REFUTED or claim.observed is not None


@given(claims=CLAIMS)
def test_nothing_observed_is_nothing_refuted(claims):
    made = audit_claims(report(**claims), Observed())
    assert made.refuted == ()
    assert not any(claim.hallucinations for claim in made.claims)


@given(seen=SEEN)
def test_claims_equal_to_what_was_seen_are_never_counted(seen):
    first = audit_claims(report(python_version="?", torch_version="?"), seen)
    said = {claim.field: claim.observed for claim in first.claims}
    imported = seen.interpreter is not None and seen.interpreter.frameworks != (NO_TORCH,)
    facts = seen.cuda.frameworks if seen.cuda else ()
    honest = report(
        python_version=said["python_version"],
        torch_version=said["torch_version"] if imported else None,
        cuda_available=any(one.available for one in facts) if facts else None,
        gpu_count=max(len(one.devices) for one in facts) if facts else None,
        ddp_expected_ok=seen.distributed.outcome is Outcome.PASSED if seen.distributed else None,
    )
    made = audit_claims(honest, seen)
    assert {claim.field for claim in made.refuted} <= {"python_path"}
    assert made.hallucinations(ClaimKind.VERSION) + made.hallucinations(ClaimKind.CAPABILITY) == 0
