"""Takes the key out of what the model's side says, however it is written there."""

import re
from collections.abc import Callable
from typing import Final

from reb_action.redaction import forms

_HIDDEN: Final = "[key]"


def hider(key: str) -> Callable[[str], str]:
    """Return what replaces a key: as it is, URL-encoded, in base64, each also escaped in JSON."""
    wanted = sorted((form.decode() for form in forms(key)), key=lambda form: (-len(form), form))
    if not wanted:
        return lambda said: said
    pattern = re.compile("|".join("".join(map(_either, form)) for form in wanted))
    return lambda said: pattern.sub(_HIDDEN, said)


def _either(letter: str) -> str:
    r"""Return a pattern of a letter, of its number in JSON, and of `\/` and the like."""
    return rf"(?:\\?{re.escape(letter)}|\\{{1,4}}u(?i:{ord(letter):04x}))"
