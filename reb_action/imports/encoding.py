"""Decodes a source file as Python does: byte order mark, declared encoding, else UTF-8."""

import codecs
import re
from typing import Final

_COOKIE: Final = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_NO_CODE: Final = re.compile(rb"^[ \t\f]*(?:#|$)")
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")


def text_of(source: bytes) -> str:
    """Return the text of a source, with one kind of line end; no source is refused.

    Bytes that the declared encoding lacks are replaced, so that the imports around them stay.
    """
    if source.startswith(codecs.BOM_UTF8):
        return _lines(source[len(codecs.BOM_UTF8) :].decode("utf-8", "replace"))
    try:
        return _lines(source.decode(_declared(source), "replace"))
    except (LookupError, ValueError):
        # The codec does not exist, does not produce text, or cannot replace bad bytes.
        return _lines(source.decode("utf-8", "replace"))


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _declared(source: bytes) -> str:
    """Return the encoding that a comment in the first two lines declares (PEP 263)."""
    for line in _LINE_END.split(source[:1000], maxsplit=2)[:2]:
        found = _COOKIE.match(line)
        if found is not None:
            return found[1].decode("ascii")
        if not _NO_CODE.match(line):
            break
    return "utf-8"
