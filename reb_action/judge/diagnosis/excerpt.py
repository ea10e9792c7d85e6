"""Cuts a log down to the bounded, cleaned lines that are worth searching."""

import re
from dataclasses import dataclass

HEAD_CHARACTERS = 32 * 1024
TAIL_CHARACTERS = 128 * 1024
LINE_CHARACTERS = 2000

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:<=>?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,256}\x07?)")
_CONTROLS = {code: None for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r"}
_BREAKS = re.compile(r"[\r\n]+")
_TRACEBACK = "Traceback (most recent call last)"
_CHAINED = (
    "During handling of the above exception",
    "The above exception was the direct cause",
)

# A launcher's error is that what it launched has failed.
_LAUNCHER = "ChildFailedError"
# Errors of a program's own logic: what came before was caught, and the program went on.
_OWN = re.compile(
    r"^(?:\[rank\d{1,4}\]: {0,4})?(?:ValueError|KeyError|IndexError|AssertionError"
    r"|ZeroDivisionError)(?::|$)"
)

# Lines that sound like failures in runs that succeed: warnings, attempts that are caught, chatter.
_WARNING = re.compile(
    r"Warning\b|\bWARNING\b(?!: Retrying)|\bwarnings\.warn\(| W tensorflow/|^W\d{4} |\[W |dlerror"
    r"|Unable to register cu|Error caught was|[Pp]rocessing without|[Ff]alling back|NCCL INFO"
    r"|which is incompatible|[Ii]gnore above|[Ss]kipping"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """The searched part of a log: each text is of whole lines, `end` is the last of them.

    `is_own` says that the last failure is an error of the program's own logic.
    """

    last_failure: str
    errors: str
    warnings: str
    end: str
    failed: bool
    is_own: bool


def excerpt(log: str) -> Excerpt:
    """Return the searched part of a log; its size is bounded, whatever the log is."""
    lines = lines_of(log)
    return Excerpt(
        last_failure=_joined(lines[_last_traceback(lines) :], warning=False),
        errors=_joined(lines, warning=False),
        warnings=_joined(lines, warning=True),
        end=_end(lines),
        is_own=_is_own(lines),
        failed=any(_TRACEBACK in line for line in lines),
    )


def lines_of(log: str) -> tuple[str, ...]:
    """Return the non-blank lines of the head and tail of a log, without colours and controls."""
    cleaned = _ESCAPES.sub("", _window(log)).translate(_CONTROLS)
    whole = (line.rstrip() for line in _BREAKS.split(cleaned))
    return tuple(piece for line in whole if line for piece in _pieces(line))


def _window(log: str) -> str:
    if len(log) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return log
    return f"{log[:HEAD_CHARACTERS]}\n{log[-TAIL_CHARACTERS:]}"


def _pieces(line: str) -> tuple[str, ...]:
    """Split a line that is too long into its beginning and its end."""
    if len(line) <= LINE_CHARACTERS:
        return (line,)
    return (line[:LINE_CHARACTERS], line[-LINE_CHARACTERS:])


def _end(lines: tuple[str, ...]) -> str:
    """Return the last line, of one that was split its beginning."""
    split = len(lines) > 1 and all(len(line) == LINE_CHARACTERS for line in lines[-2:])
    return lines[-2 if split else -1] if lines else ""


def _joined(lines: tuple[str, ...], *, warning: bool) -> str:
    return "\n".join(line for line in lines if bool(_WARNING.search(line)) is warning)


def _last_traceback(lines: tuple[str, ...]) -> int:
    """Return where the last traceback begins, with all the exceptions that it was chained to."""
    start = end = len(lines)
    for index in range(len(lines) - 1, -1, -1):
        if _TRACEBACK not in lines[index]:
            continue
        if start < end and not _is_chained(lines[max(index, start - 3) : start]):
            break
        start = index
    return start if start < end else 0


def _is_own(lines: tuple[str, ...]) -> bool:
    start = _last_traceback(lines)
    if any(_LAUNCHER in line for line in lines[start:]):
        lines = lines[:start]
        start = _last_traceback(lines)
    failed = any(_TRACEBACK in line for line in lines[start:])
    return failed and any(_OWN.match(line) for line in lines[start:])


def _is_chained(lines: tuple[str, ...]) -> bool:
    return any(words in line for line in lines for words in _CHAINED)
