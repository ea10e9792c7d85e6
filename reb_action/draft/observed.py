"""Derives proofs from the log of a run that succeeded."""

import re
from itertools import islice
from typing import Final

from reb_action.judge.proofs import may_crawl
from reb_action.model.manifest import LogProof, MetricProof, Proof, StepsProof

_NUMBER: Final = re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
_METRIC: Final = re.compile(
    r"\b((?:\w+[ _])?(?:loss|acc|accuracy|error|mse|mae|auc|score|perplexity))\s*[:=]?\s*"
    r"[-+]?\d*\.\d+",
    re.IGNORECASE,
)
_PASSED: Final = re.compile(r"\b(\d+) passed\b")
_RAN: Final = re.compile(r"^Ran (\d+) tests?", re.MULTILINE)
_SKIPPED: Final = re.compile(r"^OK \(skipped=(\d+)", re.MULTILINE)
_NOISE: Final = re.compile(r"warning|deprecat|^\s*(?:File|Traceback)|\d+%\||^\W*$", re.IGNORECASE)
_LINE_LIMIT: Final = 120
_PATTERN_LIMIT: Final = 300
_ANY_NUMBER: Final = r"[-+\d.,e]+"
_ANY_PATH: Final = r"\S+"


def derive_proofs(log: str) -> tuple[Proof, ...]:
    """Return proofs that a log fulfils; none if it shows nothing, or skipped tests only."""
    if _is_all_skipped(log):
        return ()
    passed = _PASSED.search(log)
    if passed is not None:
        return (MetricProof(metric=r"(\d+) passed", minimum=float(passed[1])),)
    ran = _RAN.search(log)
    if ran is not None:
        done = int(ran[1]) - sum(map(int, _SKIPPED.findall(log)))
        return (StepsProof(steps=r"\.\.\. ok$", at_least=done),)
    metrics = [match[1] for match in _METRIC.finditer(log)]
    if metrics:
        return _measure(metrics[-1], metrics.count(metrics[-1]))
    lines = (line for line in reversed(log.splitlines()) if _tells_something(line))
    patterns = (pattern for pattern in map(_generalise, lines) if _is_allowed(pattern))
    return tuple(LogProof(log=pattern) for pattern in islice(patterns, 1))


def _is_all_skipped(log: str) -> bool:
    ran, skipped = _RAN.search(log), _SKIPPED.search(log)
    if ran is not None:
        return int(ran[1]) == 0 or (skipped is not None and skipped[1] == ran[1])
    return bool(re.search(r"\b\d+ skipped\b", log)) and not _PASSED.search(log)


def _measure(name: str, times: int) -> tuple[Proof, ...]:
    """Return the proof of a metric: its numbers are finite, and it occurs as often as it did."""
    pattern = rf"{escape_pattern(name)}\s*[:=]?\s*([-+]?\d*\.\d+)"
    finite = MetricProof(metric=pattern)
    return (
        (finite, StepsProof(steps=escape_pattern(name), at_least=times)) if times > 1 else (finite,)
    )


def _tells_something(line: str) -> bool:
    return 4 <= len(line.strip()) <= _LINE_LIMIT and not _NOISE.search(line)


def _is_allowed(pattern: str) -> bool:
    """Return whether a manifest may have a pattern, and whether it has a word of its line.

    A line of many numbers makes a long pattern; one of numbers only makes one that fits any line.
    """
    words = pattern.replace(_ANY_NUMBER, " ").replace(_ANY_PATH, " ")
    is_bounded = len(pattern) <= _PATTERN_LIMIT and not may_crawl(pattern)
    return is_bounded and re.search(r"[^\W\d_]{3}", words) is not None


def _generalise(line: str) -> str:
    """Return a pattern of a line in which every number may be another one, and every path."""
    words = re.sub(r"(?:/[\w.-]+){2,}", "\0", line.strip())
    parts = re.split(rf"({_NUMBER.pattern}|\0)", words)
    shown = (_ANY_PATH if part == "\0" else _ANY_NUMBER for part in parts[1::2])
    pairs = zip(map(escape_pattern, parts[::2]), (*shown, ""), strict=True)
    return "".join(text for pair in pairs for text in pair)


def escape_pattern(text: str) -> str:
    """Return a pattern that matches a text, with no more backslashes than it needs."""
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)
