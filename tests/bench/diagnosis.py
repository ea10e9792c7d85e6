"""Times a diagnosis of ten megabytes of hostile text: `python tests/bench/diagnosis.py`."""

import random
import sys
from collections.abc import Iterator
from time import perf_counter

from reb_action.judge.diagnosis import Facts, diagnose

SIZE = 10_000_000
SEED = 1
# Beginnings that many rules share, and endings that none accepts.
LINES = {
    "one letter, no line break": "a",
    "escapes": "\x1b[",
    "tracebacks": "Traceback (most recent call last)\n",
    "warnings": "UserWarning\n",
    "walrus": ":=" * 900 + "\n",
    "match": "match " * 300 + "\n",
    "modules": "No module named '" + "a." * 900 + "\n",
    "names": "cannot import name 'a' from 'b' (" + "/x" * 800 + "\n",
    "files": "No such file or directory: '" + "/a" * 900 + "\n",
    "libraries": "lib" * 600 + "\n",
    "requirements": "ImportError: " + "requires " * 200 + "\n",
}
WORDS = [
    "the",
    "loss",
    "Error",
    "importing",
    "module",
    "No",
    "named",
    "'",
    "CUDA",
    "python3",
    "/env/lib",
    "site-packages",
    "(",
    ")",
    ":",
    ":=",
    'f"',
    "match",
    "Traceback",
    "cannot",
    "name",
    "from",
    "import",
    "lib",
    ".so",
    "command",
]


def main() -> None:
    """Print the seconds that each kind of log takes."""
    for name, log in _logs():
        begin = perf_counter()
        diagnose(log, Facts(exit_code=1))
        sys.stdout.write(f"{perf_counter() - begin:6.3f} s  {len(log) / 1e6:5.1f} MB  {name}\n")


def _logs() -> Iterator[tuple[str, str]]:
    for name, line in LINES.items():
        yield name, line * (SIZE // len(line))
    chosen = random.Random(SEED)
    yield "words", "\n".join(" ".join(chosen.choices(WORDS, k=14)) for _ in range(SIZE // 80))


if __name__ == "__main__":
    main()
