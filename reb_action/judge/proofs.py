"""Check the proofs of an entry point against its log and the files that it wrote."""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from reb_action.judge.curves import check_curve, describe_curve
from reb_action.judge.log_search import LogSearch, Tally
from reb_action.model.manifest import (
    CurveProof,
    FileKind,
    FileProof,
    LogProof,
    MetricProof,
    Proof,
    StepsProof,
)
from reb_action.model.observation import ProofObservation

_WILDCARD: Final = re.compile(r"(?<!\\)(?:\.|\\[SDW]|\[\^[^\]]*\])(?:[*+]|\{\d+,\})")

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
    """A file that the run wrote; `head` is its first 64 bytes."""

    path: str
    size_bytes: int
    head: bytes


def may_explode(pattern: str) -> bool:
    """Return whether a repeated group has a choice or another repetition: `(a+)+`, `(a|b)*`.

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
    """Return whether a pattern has more than two open-ended repetitions of a wildcard.

    Searching a line takes time with the power of their number.
    """
    return len(_WILDCARD.findall(pattern)) > 2


def check_proofs(log: LogSearch, *, files: Sequence[WrittenFile]) -> tuple[ProofObservation, ...]:
    """Return the observation of each proof; the log has ended."""
    log.finish()
    return tuple(_check(proof, log, files) for proof in log.proofs)


def _check(proof: Proof, log: LogSearch, files: Sequence[WrittenFile]) -> ProofObservation:
    curve = None
    match proof:
        case FileProof():
            satisfied, detail = _file(proof, files)
        case LogProof(log=pattern):
            satisfied = log.tallies[proof].count > 0
            detail = f"the log {'has' if satisfied else 'lacks'} {pattern}"
        case StepsProof(steps=pattern, at_least=wanted):
            count = log.tallies[proof].count
            satisfied, detail = count >= wanted, f"{count} of {wanted} steps in the log ({pattern})"
        case MetricProof():
            satisfied, detail = _metric(proof.metric, log.tallies[proof])
        case CurveProof():
            curve, fault = check_curve(proof, log.tallies[proof])
            satisfied, detail = fault is None, fault or describe_curve(curve)
        case _:
            assert_never(proof)
    if not satisfied and not isinstance(proof, FileProof):
        detail += log.unsearched
    return ProofObservation(proof=proof, satisfied=satisfied, detail=detail, curve=curve)


def _file(proof: FileProof, files: Sequence[WrittenFile]) -> tuple[bool, str]:
    matches = [file for file in files if fnmatch.fnmatchcase(file.path, proof.file)]
    if not matches:
        return False, f"{proof.file} was not written"
    best = max(matches, key=lambda file: file.size_bytes)
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


def _metric(pattern: str, tally: Tally) -> tuple[bool, str]:
    if not tally.count:
        return False, f"the log lacks {pattern}"
    if tally.wrong is not None:
        return False, f"{pattern} gave {tally.wrong!r:.60}, which is not finite or out of bounds"
    return True, f"{pattern} gave {tally.last}"
