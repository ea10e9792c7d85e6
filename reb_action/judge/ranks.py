"""Read which ranks took part in collectives, from the debug logs of NCCL.

NCCL logs "joined a communicator" in these forms; `%s` is the calling function's name:

    2.4          comm 0x… rank 0 nranks 2 cudaDev 0 nvmlDev 0 - Init COMPLETE
    2.7 to 2.18  comm 0x… rank 0 nranks 2 cudaDev 0 busId 1000 [commId 0x…] - Init COMPLETE
    2.19         comm 0x… rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x… - Init COMPLETE
    since 2.22   %s comm 0x… as 2.19, with `parent 0x…` for a part of another communicator

and "takes part in a collective" always in this form:

    AllReduce: opCount 0 sendbuff 0x… … comm 0x… [nranks=2] stream 0x…
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from reb_action.model.observation import Rank

ENVIRONMENT: Final = {
    "NCCL_DEBUG": "INFO",
    "NCCL_DEBUG_SUBSYS": "INIT,COLL",
    "NCCL_DEBUG_FILE": "{out}/nccl.%h.%p.log",
}
"""Make NCCL log, in one file per process, which rank took part in which collective."""

FILES: Final = "{out}/nccl.*.log"

_RANKS: Final = 1024
_DEVICES: Final = 64
# NCCL cuts its lines at 1024 characters; a longer line comes from another program.
_REST: Final = r"[^\n]{0,800}"

_JOINED: Final = re.compile(
    r"NCCL INFO (?:\w{1,40} )?comm (0x[0-9a-f]{1,16}) rank (\d{1,9}) nranks (\d{1,9})"
    r" cudaDev (\d{1,9})(?: nvmlDev (\d{1,9}))?(?: busId ([0-9a-f]{1,16}))?(?: "
    + _REST
    + r")? - Init COMPLETE"
)
_COLLECTIVE: Final = re.compile(
    r"NCCL INFO (?:AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|AlltoAll|Gather|Scatter"
    r"|Send|Recv): opCount " + _REST + r" comm (0x[0-9a-f]{1,16}) \[nranks=(\d{1,9})\]"
)


def read_ranks(logs: Iterable[bytes]) -> tuple[Rank, ...]:
    """Return one Rank for each GPU with which a process joined communicators of several ranks.

    Each log belongs to one process. The widest communicator gives the rank; collectives of all
    communicators count. Logs are untrusted: at most 1024 ranks, and 64 of one log, are returned.
    """
    ranks = islice((rank for log in logs for rank in _read(log.decode("utf-8", "replace"))), _RANKS)
    return tuple(sorted(ranks, key=lambda rank: (rank.rank, rank.device)))


def _read(log: str) -> Iterator[Rank]:
    done = Counter(match[1] for match in _COLLECTIVE.finditer(log) if int(match[2]) > 1)
    joined: dict[str, list[re.Match[str]]] = {}
    for match in _JOINED.finditer(log):
        if int(match[3]) > 1:
            joined.setdefault(_device(match), []).append(match)
    for device, own in islice(joined.items(), _DEVICES):
        widest = max(own, key=lambda match: int(match[3]))
        yield Rank(
            rank=int(widest[2]),
            ranks=int(widest[3]),
            device=device,
            collectives=sum(done[comm] for comm in {match[1] for match in own}),
        )


def _device(joined: re.Match[str]) -> str:
    """Return the bus address or, for a version without it, the GPU's number."""
    return joined[6] or joined[5] or joined[4]
