"""Cut a log down to a bounded excerpt of clean lines, for the diagnosis rules to search."""

import re
from dataclasses import dataclass

HEAD_CHARACTERS = 32 * 1024
TAIL_CHARACTERS = 128 * 1024
LINE_CHARACTERS = 4000

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:<=>?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,256}\x07?)")
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r"}
_BREAKS = re.compile(r"[\r\n]+")
_TRACEBACK = "Traceback (most recent call last)"
_CHAINED = (
    "During handling of the above exception",
    "The above exception was the direct cause",
)

# A launcher reports only that its child process failed; the cause is in an earlier traceback.
_LAUNCHER = "ChildFailedError"
# Errors of the program's own logic: it caught the errors logged before, and continued.
_OWN = re.compile(
    r"^(?:\[rank\d{1,4}\]: {0,4})?(?:ValueError|KeyError|IndexError|AssertionError"
    r"|ZeroDivisionError)(?::|$)"
)

# Lines that look like failures but also occur in successful runs: warnings and handled errors.
_WARNING = re.compile(
    r"Warning\b|\bWARNING\b(?!: Retrying)|\bwarnings\.warn\(| W tensorflow/|^W\d{4} |\[W |dlerror"
    r"|Unable to register cu|Error caught was|[Pp]rocessing without|[Ff]alling back|NCCL INFO"
    r"|which is incompatible|[Ii]gnore above|[Ss]kipping"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """The searched part of a log; every text consists of whole lines, `end` is the last line.

    `is_own` is set when the last failure is an error of the program's own logic.
    """

    last_failure: str
    errors: str
    warnings: str
    end: str
    failed: bool
    is_own: bool


def cut_excerpt(log: str) -> Excerpt:
    """Return the searched part of a log, of bounded size for any log."""
    lines = split_lines(log)
    return Excerpt(
        last_failure=_join(lines[_find_last_traceback(lines) :], warnings=False),
        errors=_join(lines, warnings=False),
        warnings=_join(lines, warnings=True),
        end=next(reversed(_clean_lines(log)), "")[:LINE_CHARACTERS],
        is_own=_is_own(lines),
        failed=any(_TRACEBACK in line for line in lines),
    )


def split_lines(log: str) -> tuple[str, ...]:
    """Return the lines of the excerpt; a line that is too long becomes its two ends."""
    return tuple(part for line in _clean_lines(log) for part in _shorten(line))


def _clean_lines(log: str) -> list[str]:
    """Return the non-blank lines of a log's head and tail, without colours and controls."""
    cleaned = _ESCAPES.sub("", _cut_middle(log)).translate(_CONTROLS)
    return [line for raw in _BREAKS.split(cleaned) if (line := raw.rstrip())]


def _cut_middle(log: str) -> str:
    if len(log) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return log
    return f"{log[:HEAD_CHARACTERS]}\n{log[-TAIL_CHARACTERS:]}"


def _shorten(line: str) -> tuple[str, ...]:
    """Return a line, or its beginning and its end, which never overlap: text must not double."""
    if len(line) <= LINE_CHARACTERS:
        return (line,)
    return (line[: LINE_CHARACTERS // 2], line[-LINE_CHARACTERS // 2 :])


def _join(lines: tuple[str, ...], *, warnings: bool) -> str:
    return "\n".join(line for line in lines if bool(_WARNING.search(line)) is warnings)


def _find_last_traceback(lines: tuple[str, ...]) -> int:
    """Return the line where the last traceback begins, with the exceptions chained to it."""
    start = end = len(lines)
    for index in range(len(lines) - 1, -1, -1):
        if _TRACEBACK not in lines[index]:
            continue
        if start < end and not _is_chained(lines[max(index, start - 3) : start]):
            break
        start = index
    return start if start < end else 0


def _is_own(lines: tuple[str, ...]) -> bool:
    start = _find_last_traceback(lines)
    if any(_LAUNCHER in line for line in lines[start:]):
        lines = lines[:start]
        start = _find_last_traceback(lines)
    failed = any(_TRACEBACK in line for line in lines[start:])
    return failed and any(_OWN.match(line) for line in lines[start:])


def _is_chained(lines: tuple[str, ...]) -> bool:
    return any(words in line for line in lines for words in _CHAINED)
