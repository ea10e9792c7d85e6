"""Takes what has the shape of a credential out of text that will be published."""

import re
from typing import Final

MARK: Final = b"***"

_SHAPES: Final = (
    # https://docs.github.com/en/authentication: GitHub's own, classic and fine-grained.
    rb"gh[oprsu]_[A-Za-z0-9]{36,}",
    rb"github_pat_[A-Za-z0-9_]{22,}",
    # A digit tells a key from words with hyphens.
    rb"(?<![\w-])sk-(?=[A-Za-z_-]*[0-9])[\w-]{20,}",
    rb"(?<!\w)hf_[A-Za-z0-9]{30,}",
    rb"xox[abeprs]-[A-Za-z0-9-]{10,}",
    rb"(?<!\w)A[KS]IA[A-Z0-9]{16}(?!\w)",
    # Also a key that is cut off, and one whose line breaks JSON has escaped.
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----)[\s\S]){0,16384}(?:-----END [A-Z ]*KEY-----)?",
)
_SHAPE: Final = re.compile(b"|".join(_SHAPES))


def redact(data: bytes) -> bytes:
    """Return data with `***` for each credential; doing it again changes nothing."""
    return _SHAPE.sub(MARK, data)
