"""Finds the comments of a file that can change what pyright reports."""

import io
import re
import tokenize
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_IGNORE: Final = re.compile(r"(type|pyright)\s*:\s*ignore")
_DIRECTIVE: Final = re.compile(r"#\s*pyright:(?!\s*ignore)")
_NO_TOKEN: Final = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Comments:
    """The comments that matter: those for the whole file, and those for one line.

    `header` has the lines to put at the top: ignores before the first token, which hold for the
    whole file, and `# pyright:` directives from anywhere. `trailing` is by line, from 1.
    """

    header: tuple[str, ...]
    trailing: Mapping[int, str]


def read_comments(text: str) -> Comments | None:
    """Read the comments of a file that Python can parse; None if they are not certain."""
    if not _IGNORE.search(text) and "pyright:" not in text:
        return Comments(header=(), trailing={})
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline=None).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    return _comments(tokens)


def _comments(tokens: list[tokenize.TokenInfo]) -> Comments:
    first = next((n for n, each in enumerate(tokens) if each.type not in _NO_TOKEN), len(tokens))
    header: list[str] = []
    trailing: dict[int, str] = {}
    for position, token in enumerate(tokens):
        if token.type != tokenize.COMMENT:
            continue
        if _DIRECTIVE.match(token.string) or (position < first and _IGNORE.search(token.string)):
            header.append(token.string)
        elif _IGNORE.search(token.string):
            trailing[token.start[0]] = token.string
    return Comments(header=tuple(header), trailing=trailing)
