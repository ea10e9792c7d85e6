"""The escaping function of each text channel; HTML escapes in its templates, after `clean`."""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

_LIMIT: Final = 400
_ANSI: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
# Fillers, joiners and variation selectors: letters and marks by category, and without a glyph.
_INVISIBLE: Final = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_BYTE: Final = re.compile(r"[\udc80-\udcff]")
"""How Python represents a byte of a path that is not UTF-8."""
_HIDDEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})


def clean(text: str, *, limit: int = _LIMIT) -> str:
    """Return one visible line: no control, bidi or invisible characters, bounded in length."""
    if text.isascii() and text.isprintable() and len(text) <= limit:
        return " ".join(text.split())
    decoded = _BYTE.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", text)
    plain = _INVISIBLE.sub("", _ANSI.sub("", decoded))
    # Before words are joined: a hidden character may stand between the start and a space.
    visible = (c for c in plain if c.isspace() or unicodedata.category(c) not in _HIDDEN)
    # Printable text has none of these categories.
    shown = " ".join((plain if plain.isprintable() else "".join(visible)).split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def log(text: str, *, limit: int = _LIMIT) -> str:
    """Return one visible line that a runner cannot take for a command."""
    return guard(clean(text, limit=limit))


def guard(line: str) -> str:
    """Return a visible line that a runner cannot take for a command: no `::` in front, no `##[`.

    A name that a table wraps can begin a line.
    """
    shown = line.replace("##[", "## [")
    return f"| {shown}" if shown.lstrip().startswith("::") else shown


def log_rows(text: str, *, rows: int) -> tuple[str, ...]:
    """Return the last rows of a log with their spaces, each visible and bounded in length."""
    end = text[-_LIMIT * rows :].rstrip()
    lines = end.split("\n")[-rows:] if end else []
    return tuple(_row(line) for line in lines)


def _row(line: str) -> str:
    """Return one visible line with its spaces; a progress bar is cut to its last state."""
    last = line.rstrip("\r").rpartition("\r")[2].expandtabs(4)
    row = "".join(part if part.isspace() else clean(part) for part in re.split("( +)", last))
    return row if len(row) <= _LIMIT else row[: _LIMIT - 1] + "…"


def markdown(text: str, *, limit: int = _LIMIT) -> str:
    """Return text as one code span for Markdown, table cells too: no link, mention or tag in it."""
    # In a table, `|` ends a cell even within code.
    line = clean(text, limit=limit).replace("|", "\N{DIVIDES}") or "-"
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line[0] in "` " or line[-1] in "` " else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def markdown_block(lines: Iterable[str]) -> str:
    """Return lines as one fenced block for Markdown: no link, mention, tag or fence in it."""
    return markdown_rows(clean(line) for line in lines)


def markdown_rows(lines: Iterable[str]) -> str:
    """Return lines of `log_rows` as one fenced block, with their spaces."""
    rows = tuple(lines)
    longest = max((len(run) for row in rows for run in re.findall("`+", row)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join((f"{fence}text", *rows, fence))
