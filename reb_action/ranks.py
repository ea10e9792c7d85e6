"""Reads the evidence that each rank's own communication library left in its debug log.

NCCL has said "joined a communicator" in these ways; `%s` is the calling function's name:

    2.4          comm 0x… rank 0 nranks 2 cudaDev 0 nvmlDev 0 - Init COMPLETE
    2.7 to 2.18  comm 0x… rank 0 nranks 2 cudaDev 0 busId 1000 [commId 0x…] - Init COMPLETE
    2.19         comm 0x… rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x… - Init COMPLETE
    since 2.22   %s comm 0x… as 2.19, with `parent 0x…` for a part of another communicator

and "takes part in a collective" always in this one:

    AllReduce: opCount 0 sendbuff 0x… … comm 0x… [nranks=2] stream 0x…
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from reb_action.model.observation import Rank

ENVIRONMENT: Final = {
    "NCCL_DEBUG": "INFO",
    "NCCL_DEBUG_SUBSYS": "INIT,COLL",
    "NCCL_DEBUG_FILE": "{out}/nccl.%h.%p.log",
}
"""Makes NCCL itself record, one file per process, who took part in which collective."""

FILES: Final = "{out}/nccl.*.log"

_JOINED: Final = re.compile(
    r"NCCL INFO (?:\w{1,40} )?comm (0x[0-9a-f]+) rank (\d{1,9}) nranks (\d{1,9}) cudaDev (\d+)"
    r"(?: nvmlDev (\d+))?(?: busId ([0-9a-f]+))?[^\n]* - Init COMPLETE"
)
_COLLECTIVE: Final = re.compile(
    r"NCCL INFO (?:AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|AlltoAll|Gather|Scatter"
    r"|Send|Recv): opCount [^\n]* comm (0x[0-9a-f]+) \[nranks=(\d{1,9})\]"
)


def read(logs: Iterable[bytes]) -> tuple[Rank, ...]:
    """Return one Rank for each GPU with which a process joined communicators of several ranks.

    Each log is one process's. The widest communicator names the rank; collectives count over all.
    """
    ranks = (rank for log in logs for rank in _read(log.decode("utf-8", "replace")))
    return tuple(sorted(ranks, key=lambda rank: (rank.rank, rank.device)))


def _read(log: str) -> Iterator[Rank]:
    joined = [match for match in _JOINED.finditer(log) if int(match[3]) > 1]
    done = Counter(match[1] for match in _COLLECTIVE.finditer(log) if int(match[2]) > 1)
    for device in {_device(match): None for match in joined}:
        own = [match for match in joined if _device(match) == device]
        widest = max(own, key=lambda match: int(match[3]))
        yield Rank(
            rank=int(widest[2]),
            ranks=int(widest[3]),
            device=device,
            collectives=sum(done[comm] for comm in {match[1] for match in own}),
        )


def _device(joined: re.Match[str]) -> str:
    """Return the bus address or, of a version that tells none, the GPU's number."""
    return joined[6] or joined[5] or joined[4]
