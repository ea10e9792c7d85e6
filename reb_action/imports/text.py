"""Cuts statements out of a source text by the positions that `ast` gives."""

import ast
import re
from typing import Final

_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


def physical_lines(text: str) -> tuple[bytes, ...]:
    """Split into lines as Python does: form feeds and Unicode separators end none.

    Lines are UTF-8, since `ast` counts columns in its bytes.
    """
    return tuple(_LINE_END.split(text.encode("utf-8")))


def segment(lines: tuple[bytes, ...], node: ast.stmt) -> str:
    """Return the text of a statement, without the indent and comment around it."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    cut = list(lines[first : last + 1])
    cut[-1] = cut[-1][: node.end_col_offset]
    cut[0] = cut[0][node.col_offset :]
    return b"\n".join(cut).decode("utf-8")
