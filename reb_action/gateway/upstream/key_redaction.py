"""Removes the API key from text of the model's vendor, in every common encoding."""

import re
from collections.abc import Callable
from typing import Final

from reb_action.redaction import forms

_REPLACEMENT: Final = "[key]"


def build_redactor(key: str) -> Callable[[str], str]:
    """Return a function that replaces the key: plain, URL-encoded, base64, each JSON-escaped."""
    encodings = sorted((form.decode() for form in forms(key)), key=lambda form: (-len(form), form))
    if not encodings:
        return lambda text: text
    pattern = re.compile("|".join("".join(map(_letter_pattern, form)) for form in encodings))
    return lambda text: pattern.sub(_REPLACEMENT, text)


def _letter_pattern(letter: str) -> str:
    r"""Return a pattern for a letter, its JSON escape `\uXXXX`, and `\/` and the like."""
    return rf"(?:\\?{re.escape(letter)}|\\{{1,4}}u(?i:{ord(letter):04x}))"
