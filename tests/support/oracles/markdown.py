"""Reads Markdown as GitHub does where it matters here: CommonMark with tables and raw HTML."""

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
NOTIFIES = re.compile(r"@\w|#\d|\bGH-\d|\b[0-9a-f]{7,40}\b|https?://|www\.", re.IGNORECASE)
"""What GitHub makes a link of without being asked, and tells people about."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """A document taken apart: words outside code, code, raw tags, where links and images lead."""

    words: str
    code: tuple[str, ...]
    tags: tuple[str, ...]
    links: tuple[str, ...]
    cells: tuple[int, ...]


def read(text):
    """Return what a document says; `cells` are the numbers of cells of every row of a table."""
    words, code, tags, links = [], [], [], []
    for token in _flat(PARSER.parse(text)):
        match token.type:
            case "text" | "softbreak":
                words.append(token.content or "\n")
            case "code_inline" | "fence" | "code_block":
                code.append(token.content)
            case "html_inline" | "html_block":
                tags += re.findall(r"<[^>]*>?", token.content)
                words += re.split(r"<[^>]*>?", token.content)
            case "link_open" | "image":
                links.append(token.attrGet("href") or token.attrGet("src"))
    return Reading(
        words=" ".join(words),
        code=tuple(code),
        tags=tuple(tags),
        links=tuple(links),
        cells=tuple(_rows(text)),
    )


def _flat(tokens):
    for token in tokens:
        yield token
        yield from _flat(token.children or ())


def _rows(text):
    """Yield how many cells GitHub splits each table line into: every unescaped `|` counts."""
    for line in text.splitlines():
        if line.startswith("|"):
            yield len(re.split(r"(?<!\\)\|", line)) - 2
