"""Reads the evidence that each rank's own communication library left in its debug log."""

import re
from collections.abc import Iterable
from typing import Final

from reb_action.model.observation import Rank

ENVIRONMENT: Final = {
    "NCCL_DEBUG": "INFO",
    "NCCL_DEBUG_SUBSYS": "INIT,COLL",
    "NCCL_DEBUG_FILE": "{out}/nccl.%h.%p.log",
}
"""Makes NCCL itself record, one file per process, who took part in which collective."""

FILES: Final = "{out}/nccl.*.log"

_INIT: Final = re.compile(r"rank (\d+) nranks (\d+) cudaDev (\d+).*?busId (\w+).*Init COMPLETE")
_COLLECTIVE: Final = re.compile(
    r"NCCL INFO (AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|AlltoAll|Send|Recv): opCount"
)


def read(logs: Iterable[bytes]) -> tuple[Rank, ...]:
    """Return one Rank for each process that joined a communicator of several ranks."""
    ranks = [rank for log in logs if (rank := _read(log.decode("utf-8", "replace")))]
    return tuple(sorted(ranks, key=lambda rank: rank.rank))


def _read(log: str) -> Rank | None:
    joined = [match for match in _INIT.finditer(log) if int(match[2]) > 1]
    if not joined:
        return None
    widest = max(joined, key=lambda match: int(match[2]))
    return Rank(
        rank=int(widest[1]),
        ranks=int(widest[2]),
        device=widest[4],
        collectives=len(_COLLECTIVE.findall(log)),
    )
