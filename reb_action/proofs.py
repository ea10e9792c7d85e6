"""Decides whether the proofs of an entry point hold, from its log and the files it wrote."""

import fnmatch
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from reb_action.model.manifest import (
    FileKind,
    FileProof,
    LogProof,
    MetricProof,
    Proof,
    StepsProof,
)
from reb_action.model.observation import ProofObservation

_LINE_LIMIT: Final = 4096
_WILDCARD: Final = re.compile(r"(?<!\\)(?:\.|\\[SDW]|\[\^[^\]]*\])(?:[*+]|\{\d+,\})")
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")

_TOKEN: Final = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]|(?P<repeat>[*+]|\{(?!0?,?1\})\d*,?\d*\})"
)

_MAGIC: Final[Mapping[FileKind, tuple[bytes, ...]]] = {
    FileKind.ANY: (b"",),
    FileKind.TEXT: (b"",),
    FileKind.JSON: (b"{", b"["),
    FileKind.ZIP: (b"PK\x03\x04",),
    FileKind.PNG: (b"\x89PNG\r\n\x1a\n",),
    FileKind.JPEG: (b"\xff\xd8\xff",),
    FileKind.NPY: (b"\x93NUMPY",),
    FileKind.WAV: (b"RIFF", b"RF64"),
    FileKind.PDF: (b"%PDF-",),
    FileKind.SAFETENSORS: (b"",),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenFile:
    """A file that the run wrote afresh; `head` is its first 64 bytes."""

    path: str
    size_bytes: int
    head: bytes


def may_explode(pattern: str) -> bool:
    """Tell whether a repeated group holds a choice or another repetition: `(a+)+`, `(a|b)*`.

    Searching a line for such a pattern can take time exponential in the line's length.
    """
    groups, closed = [False], (-1, False)
    for token in _TOKEN.finditer(pattern):
        match token[0]:
            case "(":
                groups.append(False)
            case ")" if len(groups) > 1:
                closed = (token.end(), groups.pop())
                groups[-1] |= closed[1]
            case "|":
                groups[-1] = True
            case _ if token["repeat"]:
                if closed == (token.start(), True):
                    return True
                groups[-1] = True
            case _:
                continue
    return False


def may_crawl(pattern: str) -> bool:
    """Tell whether a pattern has more than two open-ended repetitions of a wildcard.

    Searching a line takes time with the power of their number.
    """
    return len(_WILDCARD.findall(pattern)) > 2


def check(
    proofs: Sequence[Proof], *, log: bytes, files: Sequence[WrittenFile]
) -> tuple[ProofObservation, ...]:
    """Return each proof with what was found; the log is searched line by line, colours removed."""
    lines = [
        _ANSI.sub("", line)[:_LINE_LIMIT] for line in log.decode("utf-8", "replace").splitlines()
    ]
    return tuple(_check(proof, lines, files) for proof in proofs)


def _check(proof: Proof, lines: Sequence[str], files: Sequence[WrittenFile]) -> ProofObservation:
    match proof:
        case FileProof():
            satisfied, detail = _file(proof, files)
        case LogProof(log=pattern):
            satisfied = _count(pattern, lines) > 0
            detail = f"the log {'has' if satisfied else 'lacks'} {pattern}"
        case StepsProof(steps=pattern, at_least=wanted):
            count = _count(pattern, lines)
            satisfied, detail = count >= wanted, f"{count} of {wanted} steps in the log ({pattern})"
        case MetricProof():
            satisfied, detail = _metric(proof, lines)
        case _:
            assert_never(proof)
    return ProofObservation(proof=proof, satisfied=satisfied, detail=detail)


def _count(pattern: str, lines: Sequence[str]) -> int:
    # Ranks that write to one pipe now and then share a line.
    compiled = re.compile(pattern)
    return sum(1 for line in lines for _ in compiled.finditer(line))


def _file(proof: FileProof, files: Sequence[WrittenFile]) -> tuple[bool, str]:
    named = [file for file in files if fnmatch.fnmatchcase(file.path, proof.file)]
    if not named:
        return False, f"{proof.file} was not written"
    best = max(named, key=lambda file: file.size_bytes)
    if best.size_bytes < proof.min_bytes:
        return False, f"{best.path} has {best.size_bytes} of at least {proof.min_bytes} bytes"
    if not _is_kind(best.head, proof.kind):
        return False, f"{best.path} is not of kind {proof.kind}"
    return True, f"{best.path} was written, {best.size_bytes} bytes"


def _is_kind(head: bytes, kind: FileKind) -> bool:
    if kind is FileKind.TEXT:
        return b"\x00" not in head
    if kind is FileKind.SAFETENSORS:
        return head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 1 << 32
    if kind is FileKind.WAV and head[8:12] != b"WAVE":
        return False
    return head.lstrip(b" \n\r\t" if kind is FileKind.JSON else b"").startswith(_MAGIC[kind])


def _metric(proof: MetricProof, lines: Sequence[str]) -> tuple[bool, str]:
    compiled = re.compile(proof.metric)
    # A group that took no part in the match is no number.
    found = [match[1] or "" for line in lines for match in compiled.finditer(line)]
    if not found:
        return False, f"the log lacks {proof.metric}"
    wrong = [text for text in found if not _is_within(text, proof)]
    if wrong:
        return False, f"{proof.metric} gave {wrong[0]!r:.60}, which is not finite or out of bounds"
    return True, f"{proof.metric} gave {found[-1]}"


def _is_within(text: str, proof: MetricProof) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    above = proof.minimum is None or value >= proof.minimum
    return math.isfinite(value) and above and (proof.maximum is None or value <= proof.maximum)
