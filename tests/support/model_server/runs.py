"""What the server was asked, run by run, and what it truly said that it used."""

import threading
from dataclasses import dataclass, field

from reb_action.model.agent import Usage


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What one answer says it used; `output` holds `reasoning`, `fresh` no cache."""

    fresh: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int

    @property
    def input(self):
        return self.fresh + self.cache_read + self.cache_write


def counts(index, *, writes):
    """Return the numbers of a run's answer: no two answers are alike, so that none is lost."""
    return Counts(
        fresh=2001 + index,
        cache_read=6000 + 10 * index,
        cache_write=400 if writes else 0,
        output=101 + 100 * index,
        reasoning=20,
    )


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request and its answer, `whole` where it came to its end; `counts` is what it said.

    `true_counts` is what the answer used, also where it could not say so.
    """

    path: str
    headers: dict
    body: bytes
    status: int
    whole: bool
    counts: Counts | None
    tool_calls: int
    answer: bytes = b""
    true_counts: Counts | None = None


@dataclass
class Run:
    """All requests of one run, in the order in which they were answered."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: int = 0
    seen: list = field(default_factory=list)
    preflights: list = field(default_factory=list)

    def next_index(self):
        """Return the number of this request within the run, from 0."""
        with self.lock:
            self.asked += 1
            return self.asked - 1

    @property
    def statuses(self):
        return [seen.status for seen in self.seen]

    @property
    def usage(self):
        """Return the sum of what the answers said, in our own terms."""
        said = [seen.counts for seen in self.seen if seen.counts is not None]
        writes = sum(one.cache_write for one in said)
        return Usage(
            input_tokens=sum(one.input for one in said) if said else None,
            cache_read_tokens=sum(one.cache_read for one in said) if said else None,
            cache_write_tokens=writes or None,
            output_tokens=sum(one.output for one in said) if said else None,
            turns=sum(seen.whole for seen in self.seen),
            tool_calls=sum(seen.tool_calls for seen in self.seen),
        )
