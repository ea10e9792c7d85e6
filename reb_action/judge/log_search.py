"""Count matches of proof patterns while a log is streamed: any length, bounded memory."""

import codecs
import math
import re
import time
from collections.abc import Callable, Sequence
from typing import Final

from reb_action.model.manifest import (
    CurveProof,
    FileProof,
    LogProof,
    MetricProof,
    Proof,
    StepsProof,
)
from reb_action.redaction import may_hold_credentials, redactor

SEARCH_SECONDS: Final = 300
"""Limit for one log; a manifest's pattern takes about 1 s for 100 MB."""

# Long lines are searched in segments: a pattern can take time quadratic in the length.
_SEGMENT: Final = 4096
# Matches up to this length are found across the cuts of a long line.
_OVERLAP: Final = 1024
_STEP: Final = _SEGMENT - _OVERLAP
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# A carriage return at the end, or all of the text, then perhaps the start of a colour.
_END_IN_CR: Final = re.compile(r"(\r|\A)(\x1b(\[[0-9;?]*[ -/]*)?)?\Z")
_BREAKS: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_MIB: Final = 1024 * 1024

Clock = Callable[[], float]
TextProof = LogProof | StepsProof | MetricProof | CurveProof
"""A proof that is looked for in the log."""

MOST_LOSSES: Final = 2000
"""Longest curve that is kept."""


class Tally:
    """The matches of one pattern: the count and, for numbers, the last and the first wrong one.

    `losses` and the times of the first and the last, in seconds, are those of a curve.
    """

    def __init__(self, proof: TextProof) -> None:
        self.pattern = re.compile(_pattern(proof))
        self.count = 0
        self.last = ""
        self.wrong: str | None = None
        self.losses: list[float] = []
        self.times = (0.0, 0.0)
        # End of the last match within the line that is searched in segments.
        self.end = 0
        self._proof = proof

    def take(self, text: str) -> None:
        """Count every match in a line."""
        for match in self.pattern.finditer(text):
            self._add(match)

    def take_part(self, text: str, start: int, stop: int) -> None:
        """Count the matches that begin between start and stop in part of a line."""
        for match in self.pattern.finditer(text, max(start, self.end)):
            if match.start() < stop:
                self.end = match.end()
                self._add(match)

    def _add(self, match: re.Match[str]) -> None:
        self.count += 1
        if not isinstance(self._proof, MetricProof | CurveProof):
            return
        # A group that did not match yields no number.
        self.last = (match[1] or "")[:_SEGMENT]
        if self.wrong is None and not _is_within(self.last, self._proof):
            self.wrong = self.last
        if isinstance(self._proof, CurveProof) and self.wrong is None:
            now = time.monotonic()
            self.times = (self.times[0] if self.losses else now, now)
            if self.count <= MOST_LOSSES:
                self.losses.append(float(self.last))


class LogSearch:
    """Search a streamed log; `tallies` has the matches of each proof that needs the log.

    The log is searched line by line, without colours and without the credentials that redaction
    removes. After `seconds` of searching the rest is skipped: see `unsearched`.
    """

    def __init__(
        self,
        proofs: Sequence[Proof],
        *,
        hidden: tuple[str, ...] = (),
        seconds: float = SEARCH_SECONDS,
        clock: Clock = time.thread_time,
    ) -> None:
        self.proofs = tuple(proofs)
        self.tallies = {proof: Tally(proof) for proof in proofs if not isinstance(proof, FileProof)}
        self._redact = redactor(hidden)
        self._has_hidden = bool(hidden)
        self._is_suspect = True
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._seconds = seconds
        self._clock = clock
        self._spent = 0.0
        self._searched = 0
        self._unsearched = 0
        # The unfinished line, without its searched part except for one character.
        self._rest = ""
        self._is_inside = False
        self._ended_in_cr = False

    def feed(self, data: bytes) -> None:
        """Search the next chunk of the log."""
        if self._spent > self._seconds:
            self._unsearched += len(data)
            return
        started = self._clock()
        self._searched += len(data)
        self._take(self._decode(data))
        self._spent += self._clock() - started

    def finish(self) -> None:
        """Search the last line, which may have no line break."""
        self._take(self._decode(b"", final=True))
        if self._rest:
            self._rest = self._advance(self._rest, ended=True)

    @property
    def unsearched(self) -> str:
        """Return how much of the log was not searched and why; empty if all was searched."""
        if not self._unsearched:
            return ""
        total = self._searched + self._unsearched
        searched = f"{self._searched / _MIB:.0f} of {total / _MIB:.0f} MiB of the log"
        return f"; only the first {searched} were searched, which took {self._seconds:.0f} s"

    def _take(self, text: str) -> None:
        if not text:
            return
        text = self._rest + text
        if "\x1b" in text:
            text = _ANSI.sub("", text)
        # A line break of two characters may be cut in two, with colours between them.
        is_after_cr = self._ended_in_cr and not text.startswith("\n")
        if self._ended_in_cr:
            text = text.removeprefix("\n")
        end = _END_IN_CR.search(text[-_SEGMENT:])
        self._ended_in_cr = end is not None and (is_after_cr or end[0].startswith("\r"))
        self._is_suspect = self._has_hidden or may_hold_credentials(text)
        lines = text.splitlines()
        rest = lines.pop() if text and text[-1] not in _BREAKS else ""
        if self._is_inside and lines:
            self._advance(lines.pop(0), ended=True)
        self._search(lines)
        self._rest = self._advance(rest, ended=False)

    def _search(self, lines: list[str]) -> None:
        if max(map(len, lines), default=0) > _SEGMENT:
            for line in lines:
                self._advance(line, ended=True)
            return
        for tally in self.tallies.values():
            for line in filter(tally.pattern.search, lines):
                tally.take(self._clean(line))

    def _advance(self, text: str, *, ended: bool) -> str:
        """Search a line or the start of one; return the part that needs more input."""
        while len(text) > _SEGMENT + self._is_inside:
            start = int(self._is_inside)
            self._search_part(text[: start + _SEGMENT], start, start + _STEP)
            # One character is kept, so that `^` does not match at the cut.
            cut = start + _STEP - 1
            text, self._is_inside = text[cut:], True
            for tally in self.tallies.values():
                tally.end = max(0, tally.end - cut)
        if not ended:
            return text
        self._search_part(text, int(self._is_inside), len(text) + 1)
        self._is_inside = False
        for tally in self.tallies.values():
            tally.end = 0
        return ""

    def _search_part(self, text: str, start: int, stop: int) -> None:
        for tally in self.tallies.values():
            if tally.pattern.search(text, max(start, tally.end)):
                tally.take_part(self._clean(text), start, stop)

    def _clean(self, text: str) -> str:
        """Return a matching line without credentials: the judged text is the stored text."""
        if not self._is_suspect:
            return text
        raw = text.encode("utf-8", "replace")
        clean = self._redact(raw)
        return text if clean == raw else clean.decode("utf-8", "replace")


def _pattern(proof: TextProof) -> str:
    match proof:
        case LogProof():
            return proof.log
        case StepsProof():
            return proof.steps
        case MetricProof():
            return proof.metric
        case CurveProof():
            return proof.curve


def _is_within(text: str, proof: MetricProof | CurveProof) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    if isinstance(proof, CurveProof):
        return math.isfinite(value)
    above = proof.minimum is None or value >= proof.minimum
    return math.isfinite(value) and above and (proof.maximum is None or value <= proof.maximum)
