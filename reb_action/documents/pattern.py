"""Says whether a text is a regular expression of Python."""

import re
import warnings


def is_pattern(text: object) -> bool:
    """Return whether Python can compile a pattern; True for what is no text, as JSON Schema has it.

    A warning about its spelling is not shown: it would name a line of reb.
    """
    if not isinstance(text, str):
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, OverflowError, RecursionError):
        # A repetition such as a{4294967296} overflows, and 500 nested groups are too deep.
        return False
    return True
