"""Seconds and memory of a scoreboard over 10,000 verdicts, and of reading trials from folders.

    python -m tests.bench.scoreboard

Each size in a process of its own; seconds are of its processor, so that a busy machine does not
show. Ends with 1 above 3 s or 250 MB for 10,000 verdicts, or if ten times as many take more than
fifteen times as long.
"""

import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from rich.console import Console

from reb_action import documents
from reb_action.corpus.paper import rows
from reb_action.model.verdict import Scoring, Verdict
from reb_action.render.markdown.scoreboard import board_summary
from reb_action.render.terminal.scoreboard import board_tables
from reb_action.results.collection import collect
from reb_action.score import score
from tests.support.scoreboards import AGENTS, REPOSITORIES, evidence_of, many
from tests.support.trial_folders import put

MOST_SECONDS, MOST_MB, MOST_RATIO = 3.0, 250.0, 15.0


def in_memory(count: int) -> dict[str, float]:
    """Return the seconds of each step over so many verdicts, and the peak memory in MB."""
    verdicts = {name: _read(one) for name, one in many(count).items()}
    times = [time.process_time()]
    board = score(verdicts, published=rows())
    times.append(time.process_time())
    board_summary(board, scoring=Scoring.STRICT, closed=None, limit_bytes=1 << 20)
    times.append(time.process_time())
    Console(file=io.StringIO(), width=120).print(board_tables(board, width=120, drawn=True))
    times.append(time.process_time())
    steps = [after - before for before, after in pairwise(times)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return dict(zip(("score", "summary", "terminal", "mb"), (*steps, peak), strict=True))


def from_folders(count: int) -> dict[str, float]:
    """Return the seconds that reading, hashing and judging so many trials again take."""
    pairs = len(AGENTS) * len(REPOSITORIES)
    with tempfile.TemporaryDirectory() as place:
        for number in range(count):
            attempt, pair = divmod(number, pairs)
            agent, repository = divmod(pair, len(REPOSITORIES))
            evidence = evidence_of(REPOSITORIES[repository], AGENTS[agent], attempt + 1)
            put(Path(place) / f"reb-{evidence.trial.id}.a1", evidence)
        began = time.process_time()
        found = collect([Path(place)]).found
        seconds = time.process_time() - began
    return {"seconds": seconds, "each_ms": 1000 * seconds / len(found)}


def _read(verdict: Verdict) -> Verdict:
    """Return a verdict that shares nothing with others, as if read from a file."""
    data = documents.encode(verdict, kind="verdict")
    return documents.decode(data, Verdict, kind="verdict", name="verdict.json")


def measured(step: str, count: int) -> dict[str, float]:
    """Return what one step says in a process of its own."""
    argv = [sys.executable, "-m", "tests.bench.scoreboard", step, str(count)]
    done = subprocess.run(
        argv, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    return json.loads(done.stdout)


def main() -> None:
    """Print both, and whether the limits hold."""
    small, large = (measured("in_memory", count) for count in (1_000, 10_000))
    total = [one["score"] + one["summary"] + one["terminal"] for one in (small, large)]
    for count, one in ((1_000, small), (10_000, large)):
        steps = "  ".join(f"{name} {one[name]:.2f} s" for name in ("score", "summary", "terminal"))
        print(f"{count:6} verdicts  {steps}  peak {one['mb']:.0f} MB")
    print(f"ratio of 10,000 to 1,000: {total[1] / total[0]:.1f}")
    for count in (60, 600):
        read = measured("from_folders", count)
        print(f"{count:6} folders   {read['seconds']:.2f} s, {read['each_ms']:.1f} ms each")
    fine = total[1] <= MOST_SECONDS and large["mb"] <= MOST_MB and total[1] <= MOST_RATIO * total[0]
    print("within the limits" if fine else "ABOVE THE LIMITS")
    sys.exit(0 if fine else 1)


STEPS = {"in_memory": in_memory, "from_folders": from_folders}

if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(STEPS[sys.argv[1]](int(sys.argv[2]))))
    else:
        main()
