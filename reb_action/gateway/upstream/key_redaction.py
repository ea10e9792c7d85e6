"""Removes the API key from text of the model's vendor, in every common encoding."""

import re
from collections.abc import Callable
from typing import Final

from reb_action.redaction import forms

_REPLACEMENT: Final = "[key]"
_ESCAPE: Final = re.compile(rb"\\{1,4}u00([0-9a-fA-F]{2})")
_ESCAPED_LETTER_BYTES: Final = len("\\\\\\\\u0000")


def build_redactor(key: str) -> Callable[[str], str]:
    """Return a function that replaces the key: plain, URL-encoded, base64, each JSON-escaped."""
    pattern = _key_pattern(key)
    if pattern is None:
        return lambda text: text
    return lambda text: pattern.sub(_REPLACEMENT, text)


class AnswerRedactor:
    """Replaces the key in the bytes of an answer by as many asterisks, so its length stays.

    `longest` is the length of the longest encoding of the key.
    """

    def __init__(self, key: str) -> None:
        self._forms = tuple(forms(key))
        self._pattern = _key_pattern(key)
        self.longest = _ESCAPED_LETTER_BYTES * max((len(form) for form in self._forms), default=0)

    def redact(self, data: bytes) -> bytes:
        """Return the data without the key."""
        if self._pattern is None or not self._may_contain(data):
            return data
        text = self._pattern.sub(lambda match: "*" * len(match[0]), data.decode("latin-1"))
        return text.encode("latin-1")

    def _may_contain(self, data: bytes) -> bool:
        """Return whether the slow pattern may match: without escapes the key is in the data."""
        if b"\\" in data:
            data = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), data).replace(b"\\", b"")
        return any(form in data for form in self._forms)


def _key_pattern(key: str) -> re.Pattern[str] | None:
    encodings = sorted((form.decode() for form in forms(key)), key=lambda form: (-len(form), form))
    if not encodings:
        return None
    return re.compile("|".join("".join(map(_letter_pattern, form)) for form in encodings))


def _letter_pattern(letter: str) -> str:
    r"""Return a pattern for a letter, its JSON escape `\uXXXX`, and `\/` and the like."""
    return rf"(?:\\?{re.escape(letter)}|\\{{1,4}}u(?i:{ord(letter):04x}))"
