"""The judges on what was really observed on H200s (`tests/gpu/session.py`), without a GPU."""

from pathlib import Path

import pytest

from reb_action.judge import judge
from reb_action.model.diagnosis import Cause
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Standing
from reb_action.session import evidence
from reb_action.session.layout import SessionLayout

DATA = Path(__file__).parents[1] / "gpu" / "data"
C1, C2, C3, C4 = Level.C1, Level.C2, Level.C3, Level.C4
PASSED, FAILED, INVALID = Outcome.PASSED, Outcome.FAILED, Outcome.INVALID

NO_KERNEL = "NVML saw no kernel on any GPU while the entry point ran"
NO_COLLECTIVE = "0 of 2 ranks took part in a collective on a GPU of their own"

SEEN = [
    ("right", C1, PASSED, "", None),
    ("right", C2, PASSED, "", None),
    ("right", C3, PASSED, "", None),
    ("on-the-cpu", C3, FAILED, NO_KERNEL, None),
    ("only-allocates", C3, FAILED, "NVML saw no GPU busier than 1 %", None),
    ("neighbour-works", C3, FAILED, NO_KERNEL, None),
    ("hidden-devices", C2, FAILED, "No CUDA GPUs are available", Cause.GPU_HIDDEN),
    ("hidden-devices", C3, FAILED, "exit code 1", Cause.GPU_HIDDEN),
    ("fake-torch", C2, FAILED, "no attribute 'version'", None),
    ("fake-torch", C3, FAILED, "exit code 1", None),
    ("torch-for-the-cpu", C1, PASSED, "", None),
    ("torch-for-the-cpu", C2, FAILED, "not compiled with CUDA", Cause.WRONG_CUDA_BUILD),
    ("torch-for-the-cpu", C3, FAILED, "exit code 1", Cause.WRONG_CUDA_BUILD),
    ("torch-for-other-cards", C1, PASSED, "", None),
    ("torch-for-other-cards", C2, FAILED, "no kernel image", Cause.UNSUPPORTED_COMPUTE_CAPABILITY),
    ("torch-for-other-cards", C3, FAILED, "exit code 1", Cause.UNSUPPORTED_COMPUTE_CAPABILITY),
    ("jax-for-the-cpu", C2, FAILED, "Platforms present are: cpu", None),
    ("jax-beside-torch", C2, PASSED, "", None),
    ("driver-too-old", C2, FAILED, "torch", Cause.GPU_HIDDEN),
    ("kernel-of-another-card", C3, FAILED, "exit code 1", Cause.UNSUPPORTED_COMPUTE_CAPABILITY),
    ("one-gpu-for-two-ranks", C4, INVALID, "C4 needs 2 GPUs, 1 promised", None),
    ("gloo-on-two-cpu-ranks", C1, PASSED, "", None),
    ("nccl-of-one-rank", C3, PASSED, "", None),
    ("two-right", C2, PASSED, "", None),
    ("two-right", C4, PASSED, "", None),
    ("two-one-hidden", C2, FAILED, "torch sees 1 of 2 GPUs", None),
    ("two-one-hidden", C4, FAILED, "exit code 1", Cause.GPU_HIDDEN),
    ("two-independent", C4, FAILED, NO_COLLECTIVE, None),
    ("two-device-map", C4, FAILED, NO_COLLECTIVE, None),
    ("two-one-rank-on-cpu", C4, FAILED, "had not ended after 60 s", Cause.NCCL),
    ("two-hang", C4, FAILED, "had not ended after 60 s", Cause.NCCL),
    ("two-nccl-removed", C3, FAILED, "exit code 1", Cause.WRONG_CUDA_BUILD),
    ("two-nccl-removed", C4, FAILED, "exit code 1", Cause.WRONG_CUDA_BUILD),
    ("two-nccl-of-the-machine", C4, PASSED, "", None),
    ("two-nccl-older", C3, FAILED, "exit code 1", Cause.ABI_MISMATCH),
    ("two-nccl-older", C4, FAILED, "exit code 1", Cause.ABI_MISMATCH),
    ("two-nccl-for-other-cards", C3, PASSED, "", None),
    ("two-nccl-for-other-cards", C4, FAILED, "exit code 1", Cause.NCCL),
]


def judged(case):
    return judge.judge(evidence.read(SessionLayout(folder=DATA / case)))


@pytest.mark.parametrize(("case", "level", "outcome", "reason", "cause"), SEEN)
def test_what_was_seen_on_real_gpus_is_judged_rightly(case, level, outcome, reason, cause):
    result = judged(case).result(level)
    assert result.outcome is outcome
    assert reason in result.reason
    if cause is not None:
        assert result.diagnosis.cause is cause


def test_every_folder_of_data_is_judged():
    assert {case for case, *_ in SEEN} == {place.name for place in DATA.iterdir()}


def test_the_claim_of_cuda_is_refuted_only_where_cuda_failed():
    standing = {
        case: next(c for c in judged(case).audit.claims if c.field == "cuda_available").standing
        for case in ("right", "hidden-devices", "fake-torch")
    }
    assert standing == {
        "right": Standing.SUPPORTED,
        "hidden-devices": Standing.REFUTED,
        "fake-torch": Standing.REFUTED,
    }


def test_a_run_that_only_made_a_context_was_seen_to_hold_memory():
    seen = evidence.read(SessionLayout(folder=DATA / "only-allocates")).observations[C3]
    gpu = seen.witness.gpus[0]
    assert gpu.peak_memory_mib > 256
    assert gpu.peak_utilisation_percent == 1
