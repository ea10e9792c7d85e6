"""Hostile text for every channel of HTML, and a reader that keeps the skeleton of a page."""

import re
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from html.parser import HTMLParser

HOSTILE = (
    "</details></article><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "' autofocus onfocus='alert(1)",
    "<!-- --><!doctype html><style>*{display:none}</style>",
    "&lt;b&gt; &amp;amp; &#60;i&#62; &copy",
    "]]><svg/onload=alert(1)>",
    "javascript:alert(1) https://example.invalid/track.png",
    "\x1b]8;;https://example.invalid\x07link\x1b]8;;\x07 \x1b[2J",
    "a\u202eb\u2066c\u200bd\u0000e\ufefff\u2028g",
    "x" * 5000,
)
TAGS = re.findall(
    r"\w+",
    "html head meta title style body header main footer div section article figure p b small strong"
    " span a h1 h2 h3 h4 ul li dl dt dd code pre table caption thead tbody tr th td details summary"
    " wbr svg desc defs pattern rect line g polygon polyline text",
)
SITE_TAGS = [
    *TAGS,
    *("figcaption", "input", "label", "link", "nav"),
    *("option", "path", "script", "select", "strong"),
    *("abbr", "circle", "noscript"),
]
VOID = {"input", "link", "meta", "wbr"}


class Reader(HTMLParser):
    """Reads a page as a browser would, and keeps its skeleton: tags and attribute names."""

    def __init__(self, tags):
        super().__init__(convert_charrefs=True)
        self.tags = tags
        self.skeleton, self.open, self.links, self.said = [], [], [], []

    def handle_starttag(self, tag, attrs):
        assert tag in self.tags
        self.skeleton.append((tag, *(name for name, _ in attrs)))
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.skeleton.append(f"/{tag}")

    def handle_data(self, data):
        self.said.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def handle_pi(self, data):
        raise AssertionError(f"an instruction: {data}")

    def unknown_decl(self, data):
        raise AssertionError(f"a declaration: {data}")


def read(text, tags=TAGS):
    reader = Reader(tags)
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def filled(value, text):
    """Return a value with every string in it replaced: its fields, items and values."""
    if isinstance(value, Enum) or value is None:
        return value
    if isinstance(value, str):
        return text
    if is_dataclass(value):
        return replace(
            value, **{f.name: filled(getattr(value, f.name), text) for f in fields(value)}
        )
    if isinstance(value, tuple):
        return tuple(filled(item, text) for item in value)
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return {
            key if isinstance(key, Enum) else f"{text}{number}": filled(item, text)
            for number, (key, item) in pairs
        }
    return value
