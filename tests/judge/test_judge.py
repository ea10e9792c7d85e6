"""The verdict is a pure function of the evidence, and absence is never the best value."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from reb_action import documents
from reb_action.judge.judge import judge, judge_level
from reb_action.judge.levels import spec_of
from reb_action.model.agent import Change, Freeze, Touched
from reb_action.model.diagnosis import Cause
from reb_action.model.limits import LimitHits
from reb_action.model.manifest import GPU_LEVELS, Framework, Level, Outcome, Trial
from reb_action.model.report import Report, ReportFault, ReportFaultKind
from reb_action.model.verdict import ClaimKind
from tests.support.evidence import (
    FREEZE,
    MANIFEST,
    cuda,
    cuda_facts,
    device,
    evidence,
    gpu,
    imports,
    interpreter,
    observations,
    run,
    witness,
)
from tests.support.values import evidences

PASSED, FAILED, BLOCKED, NOT_APPLICABLE, INVALID = Outcome
FAULT = ReportFault(kind=ReportFaultKind.MISSING, message="report.json does not exist")
NO_INTERPRETER = interpreter(fault="/venv/bin/python does not exist", path_is_good=False)
OBSERVED = (Level.C0, Level.C1, Level.C2, Level.C3, Level.C4)


def of(**changes):
    return Trial(manifest=replace(MANIFEST, **changes), agent="replay")


def without(*levels):
    return {level: one for level, one in MANIFEST.entrypoints.items() if level not in levels}


def present(count):
    """Observations of a machine that has so many GPUs, whatever was promised."""
    seen = observations()
    return {
        level: one if level is Level.C0 else replace(one, gpus_present=count)
        for level, one in seen.items()
    }


OTHER_MODEL = replace(evidence().agent_run, invalid="4 of 4 answers came from cheap-model-9")

# level, what differs from the right evidence, strict, paper, reason
CASES = {
    "report missing": (
        *("C1", {"report": FAULT, "interpreter": None, "observations": {}}),
        *(BLOCKED, BLOCKED, FAULT.message),
    ),
    "report missing, C0": (
        *("C0", {"report": FAULT, "interpreter": None, "observations": {}}),
        *(BLOCKED, BLOCKED, FAULT.message),
    ),
    "interpreter faulty": (
        *("C3", {"interpreter": NO_INTERPRETER, "observations": {}}),
        *(BLOCKED, BLOCKED, NO_INTERPRETER.fault),
    ),
    "never frozen": (
        "C1",
        {"freeze": None, "report": None, "interpreter": None, "observations": {}},
        INVALID,
        INVALID,
        "the sandbox was never frozen, so nothing could be observed; run the trial again",
    ),
    "left out": (
        *("C1", {"levels": (Level.C0, Level.C2)}),
        *(INVALID, INVALID, "not measured: this trial was asked to leave it out"),
    ),
    "left out, report missing": (
        *("C1", {"levels": (Level.C0,), "report": FAULT, "interpreter": None}),
        *(INVALID, INVALID, "not measured: this trial was asked to leave it out"),
    ),
    "left out, report missing, C5": (
        *("C5", {"levels": (Level.C0,), "report": FAULT, "interpreter": None}),
        *(INVALID, INVALID, "not measured: this trial was asked to leave it out"),
    ),
    "left out, though observed": (
        *("C0", {"levels": ()}),
        *(INVALID, INVALID, "not measured: this trial was asked to leave it out"),
    ),
    "not observed": (
        *("C1", {"observations": observations(C1=None)}),
        *(INVALID, INVALID, "not observed: the probe of C1 did not end; run it again"),
    ),
    "imports not observed": (
        *("C0", {"observations": observations(C0=None)}),
        *(INVALID, INVALID, "not observed: the probe of C0 did not end; run it again"),
    ),
    "interpreter not observed": (
        *("C1", {"interpreter": None}),
        *(INVALID, INVALID, "not observed: the probe of C1 did not end; run it again"),
    ),
    "another model answered": (
        *("C1", {"agent_run": OTHER_MODEL}),
        *(INVALID, INVALID, OTHER_MODEL.invalid),
    ),
    "another model answered, report missing": (
        *("C0", {"agent_run": OTHER_MODEL, "report": FAULT, "interpreter": None}),
        *(INVALID, INVALID, OTHER_MODEL.invalid),
    ),
    "another model answered, C5": (
        *("C5", {"agent_run": OTHER_MODEL, "report": FAULT, "interpreter": None}),
        *(INVALID, INVALID, OTHER_MODEL.invalid),
    ),
    "no GPU promised": (
        *("C3", {"gpus_promised": 0, "observations": observations(C2=None, C3=None, C4=None)}),
        *(INVALID, INVALID, "not measured: C3 needs 1 GPU, 0 promised"),
    ),
    "one GPU promised, two needed": (
        *("C4", {"gpus_promised": 1}),
        *(INVALID, INVALID, "not measured: C4 needs 2 GPUs, 1 promised"),
    ),
    "promised GPU absent": (
        *("C2", {"observations": present(0)}),
        *(INVALID, INVALID, "the runner promised 1 GPU and has 0"),
    ),
    "second promised GPU absent": (
        *("C4", {"observations": present(1)}),
        *(INVALID, INVALID, "the runner promised 2 GPUs and has 1"),
    ),
    "CPU run without any GPU": (
        "C1",
        {"gpus_promised": 0, "observations": present(0)},
        *(PASSED, PASSED, "the entry point ran and its proofs hold"),
    ),
    "not applicable": (
        *("C4", {"trial": of(entrypoints=without("C4"), not_applicable={Level.C4: "no ranks"})}),
        *(NOT_APPLICABLE, NOT_APPLICABLE, "no ranks"),
    ),
    "not applicable outranks a missing report": (
        "C2",
        {"trial": of(not_applicable={Level.C2: "no framework"}), "report": FAULT},
        *(NOT_APPLICABLE, NOT_APPLICABLE, "no framework"),
    ),
    "paper only": (
        *("C4", {"trial": of(entrypoints=without("C4"), paper_only={Level.C4: "no collective"})}),
        *(NOT_APPLICABLE, FAILED, "no collective"),
    ),
    "machine with more GPUs than the sandbox": (
        *("C2", {"observations": observations(C2=cuda(gpus_present=8))}),
        *(PASSED, PASSED, "every framework computes correctly on every GPU"),
    ),
    "sandbox with fewer GPUs than promised": (
        *("C2", {"observations": observations(C2=cuda(cuda_facts(devices=(device(0),))))}),
        *(FAILED, PASSED, "torch sees 1 of 2 GPUs"),
    ),
    "exit code 0 without a witness": (
        *("C3", {"observations": observations(C3=run(witness=witness(gpu(utilisation=0))))}),
        *(FAILED, PASSED, "NVML saw no kernel on any GPU while the entry point ran"),
    ),
    "report missing, C5": (
        *("C5", {"report": FAULT, "interpreter": None, "observations": {}}),
        *(FAILED, FAILED, FAULT.message),
    ),
    "report beside nothing, C5": (
        *("C5", {"interpreter": None, "observations": {}}),
        *(INVALID, INVALID, "the report was not compared with an observation; run it again"),
    ),
    "silent report, C5": (
        *("C5", {"observations": {}}),
        *(PASSED, PASSED, "no claim of the report is contradicted"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_outcome(name):
    level, changes, strict, paper, reason = CASES[name]
    result = judge(evidence(**changes)).result(Level(level))
    assert (result.outcome, result.paper, result.reason) == (strict, paper, reason)


def test_right_environment_passes_everything():
    results = judge(evidence()).results
    assert [(one.level, one.outcome, one.paper) for one in results] == [
        (level, PASSED, PASSED) for level in Level
    ]
    assert all(one.diagnosis is None for one in results)


def test_level_needs_no_other_level():
    failing = observations(C1=run(exit_code=1), C2=None)
    outcomes = {one.level: one.outcome for one in judge(evidence(observations=failing)).results}
    assert outcomes == dict.fromkeys(Level, PASSED) | {"C1": FAILED, "C2": INVALID}


def test_limits_that_an_environment_uses_up_at_c0_do_not_make_its_failure_invalid():
    seen = imports(
        fault="pyright cannot analyse this environment", hits=LimitHits(processes_refused=9)
    )
    result = judge_level(evidence(observations={**observations(), Level.C0: seen}), Level.C0)
    assert (result.outcome, result.paper) == (FAILED, FAILED)


def test_survivors_are_of_the_agent_and_of_every_run():
    seen = {**observations(), Level.C1: run(survivors=("python3", "sleep"))}
    seen[Level.C2] = cuda(survivors=("nvidia-smi",))
    left = evidence(
        freeze=replace(FREEZE, survivors=("sleep",)),
        interpreter=interpreter(survivors=("hook",)),
        observations=seen,
    )
    assert judge(left).survivors == ("sleep", "hook", "python3", "nvidia-smi")
    assert judge(evidence()).survivors == ()


def test_what_was_seen_besides_is_told():
    touched = (Touched(path="train.py", change=Change.MODIFIED),)
    freeze = Freeze(
        report=None,
        report_sha256=None,
        touched=touched,
        survivors=("sleep",),
        native=(),
        copies=("site-packages/a.py",),
        shadowing=("json.py",),
    )
    verdict = judge(evidence(freeze=freeze, interpreter=interpreter(hooks=("a.pth",))))
    assert verdict.copies == ("site-packages/a.py",)
    assert verdict.shadowing == ("json.py",)
    assert (verdict.touched, verdict.survivors, verdict.hooks) == (touched, ("sleep",), ("a.pth",))
    assert (verdict.prefix_bytes, verdict.evidence) == (5_000_000, {"report.json": "0" * 64})


OOM = "torch.OutOfMemoryError: CUDA out of memory."
OWN = "ModuleNotFoundError: No module named 'mypackage.parts'"
MISSING = "ModuleNotFoundError: No module named 'einops'"


@pytest.mark.parametrize(
    ("level", "seen", "log", "cause"),
    [
        ("C1", run(exit_code=1), f"Traceback\n{MISSING}\n", Cause.MISSING_DEPENDENCY),
        (
            "C3",
            run(exit_code=1),
            "torch.OutOfMemoryError: CUDA out of memory.",
            "out_of_memory_gpu",
        ),
        ("C4", run(exit_code=None, timed_out=True), "epoch 1\n", Cause.TIMED_OUT),
        ("C1", run(exit_code=1), "what happened?", None),
        ("C1", run(exit_code=0), MISSING, None),
        ("C3", run(witness=witness(gpu(utilisation=0))), MISSING, None),
    ],
)
def test_failed_run_has_the_likely_cause_of_its_log(level, seen, log, cause):
    level = Level(level)
    given_ = evidence(observations=observations(**{level: seen}), logs={level: log})
    diagnosis = judge(given_).result(level).diagnosis
    assert (diagnosis and diagnosis.cause) == cause


def test_failed_cuda_has_the_likely_cause_of_its_errors():
    error = "ImportError: libcudart.so.11.0: cannot open shared object file"
    broken = cuda(cuda_facts(available=False, devices=(), error=error))
    result = judge(evidence(observations=observations(C2=broken))).result(Level.C2)
    assert result.diagnosis is not None
    assert result.diagnosis.line == error


@pytest.mark.parametrize(
    ("local", "cause"),
    [((), Cause.MISSING_DEPENDENCY), (("mypackage",), Cause.REPOSITORY_DEFECT)],
)
def test_diagnosis_knows_the_modules_of_the_repository(local, cause):
    seen = observations(C0=imports(local=local), C1=run(exit_code=1))
    log = f"Traceback (most recent call last):\n{OWN}"
    result = judge(evidence(observations=seen, logs={Level.C1: log})).result(Level.C1)
    assert result.diagnosis.cause is cause


def test_log_never_decides_an_outcome():
    logs = dict.fromkeys(Level, MISSING)
    plain, told = judge(evidence()), judge(evidence(logs=logs))
    assert plain == told


def test_every_level_has_a_name_for_people():
    assert [spec_of(level).title for level in Level] == [
        *("static integrity", "CPU run", "CUDA alignment"),
        *("single-GPU run", "distributed run", "honest report"),
    ]


# Generating evidence takes most of the time, so that one test checks all properties of it.
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(given_=evidences())
def test_properties_of_any_verdict(given_):
    verdict = judge(given_)
    check_one_result_for_every_level(given_, verdict)
    check_equal_evidence_gives_equal_bytes(given_, verdict)
    check_nothing_passes_without_an_observation(given_, verdict)
    check_absence_is_never_the_best_value_of_a_metric(given_)
    check_without_gpus_no_gpu_level_is_judged(given_)


def check_one_result_for_every_level(given_, verdict):
    assert tuple(one.level for one in verdict.results) == tuple(Level)
    assert verdict.results == tuple(judge_level(given_, level) for level in Level)


def check_equal_evidence_gives_equal_bytes(given_, verdict):
    first, second = (documents.to_json(each) for each in (verdict, judge(given_)))
    assert documents.dump_json(first) == documents.dump_json(second)
    assert (
        documents.find_problem({"document": "verdict", "schema": 1, "value": first}, "verdict")
        is None
    )


def check_nothing_passes_without_an_observation(given_, verdict):
    for result in verdict.results:
        observed = result.level in given_.observations and given_.freeze is not None
        if result.level is Level.C5:
            observed = given_.interpreter is not None
        if not observed:
            assert PASSED not in (result.outcome, result.paper)


def check_absence_is_never_the_best_value_of_a_metric(given_):
    verdict = judge(replace(given_, observations={}))
    total = given_.trial.manifest.imports
    count = verdict.result(Level.C0).imports
    assert (count.missing, count.strict_missing) == (total, None)
    assert all(verdict.result(level).paper is not PASSED for level in OBSERVED)
    # A report that names no interpreter, or one that does not run, leaves nothing to observe, and
    # the paper counts its claims.
    report, interpreter = given_.report, given_.interpreter
    is_named = not isinstance(report, Report) or report.python_path
    if is_named and (interpreter is None or interpreter.path_is_good):
        assert verdict.audit.hallucinations(ClaimKind.CAPABILITY) == 0


def check_without_gpus_no_gpu_level_is_judged(given_):
    verdict = judge(replace(given_, gpus_promised=0))
    judged = {verdict.result(level).outcome for level in GPU_LEVELS}
    assert judged <= {BLOCKED, NOT_APPLICABLE, INVALID}


def test_frameworks_of_the_manifest_decide_what_cuda_asks():
    trial = of(frameworks=(Framework.TORCH, Framework.JAX))
    result = judge(evidence(trial=trial)).result(Level.C2)
    assert result.reason == "jax gave no answer"


def test_freeze_alone_is_no_observation():
    verdict = judge(evidence(freeze=FREEZE, interpreter=None, observations={}))
    assert {one.outcome for one in verdict.results} == {INVALID}
