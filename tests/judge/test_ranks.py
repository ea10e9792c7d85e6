"""NCCL's debug lines as its versions print them, from its sources and from public logs."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action.judge.ranks import read_ranks
from reb_action.model.observation import Rank

HOST = "gpu1:13135:13922 [{dev}] NCCL INFO"
ID, PARENT = "commId 0x5ae77eb5ea4ec1ee", "parent 0x5951213c0f90"


def line(middle, caller=""):
    joins = "comm {comm} rank {rank} nranks {ranks} cudaDev {dev}"
    return f"{HOST} {caller}{joins} {middle} - Init COMPLETE"


# How each version says that a process joined.
JOINED = {
    "2.4": line("nvmlDev {dev}"),
    "2.7": line("busId {bus}"),
    "2.18": line(f"busId {{bus}} {ID}"),
    "2.19": line(f"nvmlDev {{dev}} busId {{bus}} {ID}"),
    "2.22, split": line(
        f"nvmlDev {{dev}} busId {{bus}} {PARENT} color 16845 key 0 {ID}", "ncclCommSplit "
    ),
    "2.27": line(f"nvmlDev {{dev}} busId {{bus}} {ID}", "ncclCommInitRank "),
    "2.27, configured": line(f"nvmlDev {{dev}} busId {{bus}} {ID}", "ncclCommInitRankConfig "),
    "2.27, split": line(
        f"nvmlDev {{dev}} busId {{bus}} {PARENT} splitCount 2 color 1 key 0", "ncclCommSplit "
    ),
    "2.30, split": line(
        f"nvmlDev {{dev}} busId {{bus}} {PARENT} childCount 2 color 1 key 0", "ncclCommSplit "
    ),
    "with a time stamp": f"[2026-03-01 12:00:00] {line('nvmlDev {dev} busId {bus}')}",
}
COMM, OTHER = "0x7f0c741162f0", "0x7f0c7410f0e0"
NEW = JOINED["2.27"]


def joined(rank=0, ranks=2, *, line=NEW, comm=COMM, dev=0, bus="1a000"):
    return line.format(rank=rank, ranks=ranks, comm=comm, dev=dev, bus=bus) + "\n"


def collective(name="AllReduce", *, comm=COMM, ranks=2, dev=0):
    return (
        f"{HOST.format(dev=dev)} {name}: opCount 1a sendbuff 0x10048f82700 recvbuff 0x10048f82800"
        f" count 64 datatype 7 op 0 root 0 comm {comm} [nranks={ranks}] stream 0x7f0c74002f00\n"
    )


def only(*parts):
    return read_ranks([part.encode() for part in parts])


@pytest.mark.parametrize("version", JOINED)
def test_joining_is_read_from_every_version(version):
    device = "0" if version == "2.4" else "1a000"
    seen = only(joined(line=JOINED[version]) + collective())
    assert seen == (Rank(rank=0, ranks=2, device=device, collectives=1),)


@pytest.mark.parametrize(
    "name",
    [
        *("AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce"),
        *("AlltoAll", "Gather", "Scatter", "Send", "Recv"),
    ],
)
def test_every_collective_counts(name):
    assert only(joined() + collective(name) * 3)[0].collectives == 3


def test_two_processes_are_two_ranks_on_their_own_gpus():
    seen = only(
        joined(1, dev=1, bus="3d000") + collective(dev=1),
        joined(0) + collective() + collective("Broadcast"),
    )
    assert seen == (
        Rank(rank=0, ranks=2, device="1a000", collectives=2),
        Rank(rank=1, ranks=2, device="3d000", collectives=1),
    )


def test_two_processes_on_one_gpu_name_one_device():
    seen = only(joined(0), joined(1, bus="1a000"))
    assert {rank.device for rank in seen} == {"1a000"}


def test_one_process_with_two_gpus_is_two_ranks():
    seen = only(
        joined(0)
        + joined(1, comm=OTHER, dev=1, bus="3d000")
        + collective()
        + collective(comm=OTHER, dev=1)
    )
    assert [(rank.rank, rank.device, rank.collectives) for rank in seen] == [
        (0, "1a000", 1),
        (1, "3d000", 1),
    ]


def test_world_of_one_is_no_distributed_run():
    assert only(joined(ranks=1) + collective(ranks=1)) == ()


def test_collectives_of_a_world_of_one_do_not_count():
    seen = only(joined() + joined(ranks=1, comm=OTHER) + collective(comm=OTHER, ranks=1))
    assert seen[0].collectives == 0


def test_widest_communicator_names_the_rank_and_all_collectives_count():
    log = joined(0, 2, comm=OTHER) + joined(3, 4) + collective(ranks=4) + collective(comm=OTHER)
    assert only(log) == (Rank(rank=3, ranks=4, device="1a000", collectives=2),)


def test_collective_on_an_unknown_communicator_does_not_count():
    assert only(joined() + collective(comm="0x1"))[0].collectives == 0


@pytest.mark.parametrize(
    "log",
    [
        "",
        "Init COMPLETE",
        collective(),
        joined().replace("Init COMPLETE", "Init START"),
        joined().replace("NCCL INFO", "said"),
        joined(rank="x"),
        f"{HOST.format(dev=0)} comm {COMM} rank 0 nRanks 2 nNodes 1 localRanks 2 MNNVL 0\n",
        joined().replace("Init COMPLETE", "Destroy COMPLETE"),
        joined()[:60],
        "\x00\xff" * 500,
    ],
)
def test_what_is_no_joining_is_no_rank(log):
    assert only(log) == ()


def test_joining_and_its_end_are_on_one_line():
    head, tail = joined().split(" - ")
    assert only(f"{head}\n - {tail}") == ()


@pytest.mark.parametrize("version", JOINED)
def test_what_is_no_bus_address_is_not_kept(version):
    log = joined(line=JOINED[version], bus="a" * 4_000_000, dev=7)
    assert only(log) in ((), (Rank(rank=0, ranks=2, device="7", collectives=0),))


def test_a_number_of_any_length_is_not_kept():
    assert only(joined(rank="1" * 5000), joined(ranks="2" * 5000), joined(dev="3" * 5000)) == ()


def test_forged_logs_give_a_bounded_number_of_ranks():
    log = "".join(joined(number, 10**6, bus=f"{number:x}") for number in range(200))
    assert len(only(log)) == 64
    assert len(only(*[log] * 20)) == 1024


def test_long_forged_line_is_read_in_linear_time():
    start = f"{HOST.format(dev=0)} comm {COMM} rank 0 nranks 2 cudaDev 0 "
    begun = time.process_time()
    assert only((start + f"{HOST.format(dev=0)} AllReduce: opCount ") * 16_000) == ()
    assert time.process_time() - begun < 5


@given(st.lists(st.binary(max_size=400), max_size=3))
def test_any_bytes_are_read(logs):
    assert read_ranks(logs) == ()


def test_long_hostile_log_is_read_in_linear_time():
    line = f"{HOST.format(dev=0)} AllReduce: opCount " + " comm 0x1" * 200 + "\n"
    assert only((joined() + line) * 300)[0].collectives == 0
