"""The judges on what was really observed on H200s (`tests/gpu/session.py`), without a GPU."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.judge import judge
from reb_action.judge.rules import BUSY_PERCENT
from reb_action.judge.runs import judge_distributed
from reb_action.model.diagnosis import Cause
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Standing
from reb_action.session import evidence
from reb_action.session.layout import SessionLayout
from tests.support.evidence import MANIFEST

GPU = Path(__file__).parents[1] / "gpu"
DATA, WITNESSES = GPU / "data", GPU / "witnesses.jsonl"
C1, C2, C3, C4 = Level.C1, Level.C2, Level.C3, Level.C4
PASSED, FAILED, INVALID = Outcome.PASSED, Outcome.FAILED, Outcome.INVALID

NO_KERNEL = "NVML saw no kernel on any GPU while the entry point ran"
NO_COLLECTIVE = "0 of 2 ranks took part in a collective, each on its own GPU"

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
    ("few-steps", C3, PASSED, "its proofs hold; 168 kernels were launched", None),
    ("only-allocates-counted", C3, FAILED, "; a second run launched 0 kernels on its GPUs", None),
    ("two-right-counted", C2, PASSED, "", None),
    ("two-right-counted", C4, PASSED, "", None),
    ("two-few-steps", C4, PASSED, "", None),
    ("two-independent-counted", C4, FAILED, NO_COLLECTIVE, None),
    ("two-gloo-on-cpu", C4, FAILED, NO_COLLECTIVE, None),
    ("two-one-rank-on-cpu-counted", C4, FAILED, "had not ended after 60 s", Cause.NCCL),
    ("two-forged", C4, FAILED, "the decoy run launched 2700 kernels", None),
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


def c4_of(case):
    return evidence.read(SessionLayout(folder=DATA / case)).observations[C4]


def test_the_logs_of_nccl_and_counted_launches_agree_on_each_rank():
    for case, number in (("two-right-counted", 2005), ("two-few-steps", 13)):
        seen = c4_of(case)
        counted = [gpu.collectives for one in seen.launches.processes for gpu in one.gpus]
        assert [rank.collectives for rank in seen.ranks] == counted == [number, number]


def test_forged_logs_beside_busy_gpus_fail_for_want_of_collectives_alone():
    """What passed before launches were counted: two ranks in the logs, and both GPUs busy."""
    seen = c4_of("two-forged")
    assert [rank.collectives for rank in seen.ranks] == [1, 1]
    assert [gpu.peak_utilisation_percent for gpu in seen.witness.gpus] == [100, 100]
    manifest = replace(MANIFEST, frameworks=())
    uncounted = replace(seen, launches=None)
    assert judge_distributed(manifest, uncounted).outcome is PASSED
    late = replace(seen, launches=replace(seen.launches, decoy_launches=0))
    assert judge_distributed(manifest, late).reason == (
        "0 of 2 ranks launched NCCL's kernels, each on its own GPU"
    )


def test_launches_tell_every_program_that_worked_from_every_idle_one():
    rows = [json.loads(line) for line in WITNESSES.read_text().splitlines()]
    counts = {
        row["program"]: sum(one["kernels"] + one["graphs"] for one in row["counted"]["processes"])
        for row in rows
    }
    assert len(counts) == 43
    assert {name for name, count in counts.items() if count} == {
        row["program"] for row in rows if row["works"]
    }
    assert [counts[f"steps-{number}"] for number in (1, 100, 1000)] == [21, 2100, 21_000]


def test_utilisation_takes_small_work_for_none():
    rows = [json.loads(line) for line in WITNESSES.read_text().splitlines()]
    seen = {row["program"]: row["plain"]["utilisation"] for row in rows if row["ranks"] == 1}
    works = {row["program"] for row in rows if row["works"]}
    missed = [name for name in seen if name in works and seen[name] < BUSY_PERCENT]
    mistaken = [name for name in seen if name not in works and seen[name] >= BUSY_PERCENT]
    assert (len(seen), len(missed), mistaken) == (39, 21, ["jax-devices"])


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
