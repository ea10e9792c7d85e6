"""The rows of the benchmark's table: what was measured, its peer, their ratio and its spread."""

import os
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

HEAD = "| what | ours | against | ratio (spread) | goal |\n|---|---|---|---|---|"

MANY = 20


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row; values are of interleaved runs, `peer_first` says that a large ratio is good."""

    what: str
    ours: Sequence[float]
    peer: Sequence[float]
    peer_name: str
    goal: str
    unit: str = "s"
    peer_first: bool = False
    note: str = ""

    def render(self) -> str:
        """Return the row in Markdown."""
        pairs = zip(self.ours, self.peer, strict=True)
        ratios = [b / a if self.peer_first else a / b for a, b in pairs]
        ours, peer = statistics.median(self.ours), statistics.median(self.peer)
        low, high = find_spread(ratios)
        spread = f"{statistics.median(ratios):.2f} ({low:.2f} to {high:.2f})"
        note = f" {self.note}" if self.note else ""
        return (
            f"| {self.what} | {ours:.2f} {self.unit}{note}"
            f" | {self.peer_name} {peer:.2f} {self.unit} | {spread} | {self.goal} |"
        )


def find_spread(values: Sequence[float]) -> tuple[float, float]:
    """Return the smallest and largest of a few values, of many the middle half."""
    if len(values) < MANY:
        return min(values), max(values)
    low, _, high = statistics.quantiles(values, n=4)
    return low, high


def cpu_seconds(*argv: object, env: dict[str, str] | None = None) -> float:
    """Return the processor time of one command and its children."""
    before = os.times()
    words = [str(word) for word in argv]
    subprocess.run(words, check=True, capture_output=True, timeout=600, env=env)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def interleave(pairs: int, *runs: Callable[[], float]) -> list[list[float]]:
    """Run each in turn, so that a busy machine slows all; return the values of each."""
    values: list[list[float]] = [[] for _ in runs]
    for _ in range(pairs):
        for kept, run in zip(values, runs, strict=True):
            kept.append(run())
    return values
