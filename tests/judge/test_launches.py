"""Tables of launches are read as the library writes them, and what they show is judged."""

import struct
from dataclasses import replace

import pytest

from reb_action.judge.launches import (
    TABLE_BYTES,
    find_collective_fault,
    find_small_work,
    read_table,
)
from reb_action.judge.runs import is_small, judge_distributed, judge_single_gpu
from reb_action.model.launches import GpuLaunches, Launches, ProcessLaunches
from reb_action.model.manifest import Level, Outcome
from tests.support.evidence import MANIFEST, decoy, gpu, run, witness

UUID = bytes(range(16))
NAME = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
NCCL = "_Z44ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE"


def table(*rows, status=1, result=0, kernels=0, graphs=0):
    data = struct.pack("<8sIiiIQQQ80x", b"REBLNCH1", 42, status, result, 0, kernels, graphs, 0)
    for name, count in rows:
        data += struct.pack("<16sQI100s", UUID, count, 1, name.encode())
    return data.ljust(TABLE_BYTES, b"\0")


def process(pid, *uuids, collectives=9, **changes):
    gpus = tuple(GpuLaunches(uuid=uuid, launches=50, collectives=collectives) for uuid in uuids)
    return replace(ProcessLaunches(pid=pid, kernels=50, graphs=0, gpus=gpus), **changes)


TWO = (process(1, "GPU-0"), process(2, "GPU-1"))


def counted(*processes, **changes):
    return replace(Launches(processes=processes, decoy_launches=0), **changes)


def test_a_table_names_the_gpu_and_tells_collectives_from_other_kernels():
    read = read_table(table((NCCL, 5), ("sm90_gemm", 20), ("(graph)", 1), kernels=25, graphs=1))
    assert read == ProcessLaunches(
        pid=42,
        kernels=25,
        graphs=1,
        gpus=(
            GpuLaunches(
                uuid=NAME, launches=26, collectives=5, kernels=("sm90_gemm", NCCL, "(graph)")
            ),
        ),
    )


@pytest.mark.parametrize(
    ("name", "collectives"),
    [
        (NCCL, 3),
        ("ncclKernel_AllReduce_RING_LL_Sum_float", 3),
        ("_Z35ncclKernel_AllGather_RING_LL_Sum_int8_t11ncclDevComm", 3),
        ("my_ncclDevKernel_", 0),
        ("nccl_like", 0),
    ],
)
def test_collectives_are_known_by_the_names_of_nccls_kernels(name, collectives):
    assert read_table(table((name, 3))).gpus[0].collectives == collectives


@pytest.mark.parametrize(
    ("status", "result", "fault"),
    [
        (0, 0, "it ended while it loaded CUPTI"),
        (-1, 0, "it found no CUPTI library"),
        (-2, 39, "CUPTI cannot count (error 39)"),
    ],
)
def test_a_table_that_counts_nothing_says_why(status, result, fault):
    assert read_table(table(status=status, result=result)).fault == fault


@pytest.mark.parametrize("data", [b"", b"x" * TABLE_BYTES, table()[:-1], table() + b"\0"])
def test_what_is_no_table_is_not_read(data):
    assert read_table(data) is None


SMALL = witness(gpu(0, utilisation=1))


def test_work_too_small_for_nvml_passes_c3_when_launches_were_counted():
    seen = run(witness=SMALL, launches=counted(process(1, "GPU-0"), gpus=SMALL.gpus))
    result = judge_single_gpu(MANIFEST, seen)
    assert result.outcome is Outcome.PASSED
    assert result.reason == "the entry point ran and its proofs hold; 50 kernels were launched"


@pytest.mark.parametrize(
    ("launches", "reason"),
    [
        (counted(gpus=SMALL.gpus), "; a second run launched 0 kernels on its GPUs"),
        (
            counted(process(1, "GPU-0"), gpus=SMALL.gpus, decoy_launches=50),
            "; a second run launched 50 kernels on its GPUs, the decoy run 50",
        ),
        (counted(not_counted="it profiles"), "; launches were not counted: it profiles"),
        (None, ""),
    ],
)
def test_an_idle_run_fails_c3_and_says_what_was_counted(launches, reason):
    result = judge_single_gpu(MANIFEST, run(witness=SMALL, launches=launches))
    alone = "NVML saw no GPU busier than 1 %, which a CUDA context alone causes"
    assert result.outcome is Outcome.FAILED
    assert result.reason == f"{alone}; work shows 3 % or more{reason}"


@pytest.mark.parametrize(
    "launches",
    [
        counted(process(1, "GPU-0"), gpus=()),
        counted(process(1, "GPU-9"), gpus=SMALL.gpus),
        counted(process(1, "GPU-0"), gpus=SMALL.gpus, decoy_launches=None),
    ],
)
def test_launches_alone_prove_no_work(launches):
    assert find_small_work(launches, launches.gpus) is None


@pytest.mark.parametrize(
    ("changes", "small"),
    [
        ({}, True),
        ({"witness": witness(gpu(0, utilisation=3))}, False),
        ({"witness": witness(gpu(0, memory=0, utilisation=0))}, False),
        ({"exit_code": 1}, False),
        ({"decoy": decoy(proofs_satisfied=True)}, False),
        ({"fault": "it was lost"}, False),
    ],
)
def test_only_a_run_that_lacks_nothing_but_load_is_counted_again(changes, small):
    seen = run(**{"witness": SMALL, **changes})
    assert is_small(Level.C3, seen) is small
    assert not is_small(Level.C1, seen)


def judged(launches, **changes):
    return judge_distributed(MANIFEST, run(launches=launches, **changes))


def test_c4_passes_when_each_rank_launched_collectives_on_its_own_gpu():
    result = judged(counted(*TWO))
    assert result.outcome is Outcome.PASSED
    assert result.reason == "the entry point ran and its proofs hold"


def test_c4_passes_with_counted_launches_however_small_the_load():
    idle = witness(gpu(0, utilisation=0), gpu(1, utilisation=1))
    assert judged(counted(*TWO), witness=idle).outcome is Outcome.PASSED


LACKS = "of 2 ranks launched NCCL's kernels, each on its own GPU"


@pytest.mark.parametrize(
    ("launches", "reason"),
    [
        # Forged logs of NCCL next to processes that keep both GPUs busy.
        (
            counted(process(1, "GPU-0", collectives=0), process(2, "GPU-1", collectives=0)),
            f"0 {LACKS}",
        ),
        (counted(), f"0 {LACKS}"),
        (counted(process(1, "GPU-0"), process(2, "GPU-0")), f"1 {LACKS}"),
        # One process that drives both GPUs is one rank.
        (counted(process(1, "GPU-0", "GPU-1")), f"1 {LACKS}"),
        (counted(process(1, "GPU-0"), process(2, fault="it found no CUPTI library")), f"1 {LACKS}"),
        (
            counted(*TWO, decoy_launches=7),
            "the decoy run launched 7 kernels too, so they prove nothing",
        ),
        (
            counted(process(1, "GPU-0"), process(2, "GPU-9")),
            "NVML saw no process of the run on 1 of the ranks' GPUs",
        ),
    ],
)
def test_c4_fails_without_collectives_of_every_rank(launches, reason):
    result = judged(launches)
    assert result.outcome is Outcome.FAILED
    assert result.reason == reason


def test_a_process_on_two_gpus_leaves_the_second_to_the_other_rank():
    launches = counted(process(1, "GPU-0", "GPU-1"), process(2, "GPU-0"))
    gpus = (gpu(0), gpu(1))
    assert find_collective_fault(launches, ranks=2, witnessed=gpus) is None


def test_c4_says_that_only_the_log_of_nccl_shows_the_collectives():
    result = judged(Launches(not_counted="it profiles itself"))
    assert result.outcome is Outcome.PASSED
    assert result.reason == (
        "the entry point ran and its proofs hold;"
        " only NCCL's own log shows the collectives: it profiles itself"
    )


def test_c4_without_a_count_still_asks_nvml_for_load():
    idle = witness(gpu(0, utilisation=0), gpu(1, utilisation=1))
    result = judged(Launches(not_counted="it profiles itself"), witness=idle)
    assert result.reason == "NVML saw 0 of 2 GPUs busy, which is at 3 % or more"
