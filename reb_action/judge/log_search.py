"""Counts the patterns of proofs in a log while it is read: of any length, in bounded memory."""

import codecs
import math
import re
import time
from collections.abc import Callable, Sequence
from typing import Final

from reb_action.model.manifest import FileProof, LogProof, MetricProof, Proof, StepsProof
from reb_action.redaction import may_hold_credentials, redactor

SEARCH_SECONDS: Final = 300
"""How long one log may be searched; a pattern of a manifest takes about 1 s for 100 MB."""

# A long line is searched in pieces: a pattern can take time with the square of the length.
_SEGMENT: Final = 4096
# Matches up to this length are found wherever a long line is cut.
_OVERLAP: Final = 1024
_STEP: Final = _SEGMENT - _OVERLAP
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_BREAKS: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_MIB: Final = 1024 * 1024

Clock = Callable[[], float]


class Tally:
    """What was found of one pattern: how often and, of a metric, its last and a wrong number."""

    def __init__(self, proof: LogProof | StepsProof | MetricProof) -> None:
        self.pattern = re.compile(_pattern(proof))
        self.count = 0
        self.last = ""
        self.wrong: str | None = None
        # Where the last match ended, in the line that is searched in pieces.
        self.end = 0
        self._proof = proof

    def take(self, text: str) -> None:
        """Count every match in a line."""
        for match in self.pattern.finditer(text):
            self._add(match)

    def take_part(self, text: str, start: int, stop: int) -> None:
        """Count the matches of a part of a line that begin between start and stop."""
        for match in self.pattern.finditer(text, max(start, self.end)):
            if match.start() < stop:
                self.end = match.end()
                self._add(match)

    def _add(self, match: re.Match[str]) -> None:
        self.count += 1
        if isinstance(self._proof, MetricProof):
            # A group that took no part in the match is no number.
            self.last = (match[1] or "")[:_SEGMENT]
            if self.wrong is None and not _is_within(self.last, self._proof):
                self.wrong = self.last


class LogSearch:
    """Takes a log in pieces, as it comes; `tallies` are those of the proofs that need the log.

    The log is searched line by line, colours removed. What credentials would be taken out of is
    searched without them. After `seconds` of searching, the rest is not searched: see `unsearched`.
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
        # The line that has not ended, without what was searched of it but for one character.
        self._rest = ""
        self._is_inside = False
        self._ended_in_cr = False

    def feed(self, data: bytes) -> None:
        """Search the next piece."""
        if self._spent > self._seconds:
            self._unsearched += len(data)
            return
        begun = self._clock()
        self._searched += len(data)
        self._take(self._decode(data))
        self._spent += self._clock() - begun

    def finish(self) -> None:
        """Search the last line, which may lack its end."""
        self._take(self._decode(b"", final=True))
        if self._rest:
            self._rest = self._advance(self._rest, ended=True)

    @property
    def unsearched(self) -> str:
        """Return what was left out of the search and why, or nothing."""
        if not self._unsearched:
            return ""
        total = self._searched + self._unsearched
        searched = f"{self._searched / _MIB:.0f} of {total / _MIB:.0f} MiB of the log"
        return f"; only the first {searched} were searched, which took {self._seconds:.0f} s"

    def _take(self, text: str) -> None:
        if self._ended_in_cr:
            text = text.removeprefix("\n")
        if not text:
            return
        self._ended_in_cr = text.endswith("\r")
        text = self._rest + text
        if "\x1b" in text:
            text = _ANSI.sub("", text)
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
        """Search a line, or what is there of one; return what has to wait for more of it."""
        while len(text) > _SEGMENT + self._is_inside:
            start = int(self._is_inside)
            self._search_part(text[: start + _SEGMENT], start, start + _STEP)
            # One character stays, so that no pattern takes the cut for the beginning of the line.
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
        """Return a line that matches without credentials: what is judged is what is kept."""
        if not self._is_suspect:
            return text
        raw = text.encode("utf-8", "replace")
        clean = self._redact(raw)
        return text if clean == raw else clean.decode("utf-8", "replace")


def _pattern(proof: LogProof | StepsProof | MetricProof) -> str:
    match proof:
        case LogProof():
            return proof.log
        case StepsProof():
            return proof.steps
        case MetricProof():
            return proof.metric


def _is_within(text: str, proof: MetricProof) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    above = proof.minimum is None or value >= proof.minimum
    return math.isfinite(value) and above and (proof.maximum is None or value <= proof.maximum)
