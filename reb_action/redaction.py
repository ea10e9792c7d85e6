"""Remove credentials from text that will be published: by their shape and by their value."""

import base64
import re
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import quote

MARK: Final = b"***"

_SHAPES: Final = (
    # https://docs.github.com/en/authentication: GitHub's own, classic and fine-grained.
    rb"gh[oprsu]_[A-Za-z0-9]{36,}",
    rb"github_pat_[A-Za-z0-9_]{22,}",
    # A digit distinguishes a key from hyphenated words.
    rb"(?<![\w-])sk-(?=[A-Za-z_-]*[0-9])[\w-]{20,}",
    rb"(?<!\w)hf_[A-Za-z0-9]{30,}",
    rb"xox[abeprs]-[A-Za-z0-9-]{10,}",
    rb"(?<!\w)A[KS]IA[A-Z0-9]{16}(?!\w)",
    # Google's API keys and access tokens.
    rb"(?<![\w-])AIza[\w-]{35}(?![\w-])",
    rb"(?<![\w.-])ya29\.[\w-]{20,}",
    rb"(?<![\w-])glpat-[\w-]{20,}(?:\.[a-z0-9]{2}\.[a-z0-9]{7,9})?",
    rb"(?<!\w)gsk_[A-Za-z0-9]{40,}",
    rb"(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)",
    rb"(?<![\w-])xai-[A-Za-z0-9]{40,}",
    # A macaroon in base64: https://pypi.org/help/#apitoken.
    rb"(?<![\w-])pypi-(?:AgE|AgN)[\w-]{50,}",
    # This also finds a truncated key, and a key with line breaks that JSON has escaped.
    rb"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:(?!-----)[\s\S]){0,16384}(?:-----END [A-Z ]*KEY-----)?",
)
_SHAPE: Final = re.compile(b"|".join(_SHAPES))

# Every shape contains one of these; searching for them takes a hundredth of the time.
_MARKS: Final = (
    *(b"gho_", b"ghp_", b"ghr_", b"ghs_", b"ghu_", b"github_pat_"),
    *(b"sk-", b"hf_", b"xox", b"AKIA", b"ASIA", b"-----BEGIN "),
    *(b"AIza", b"ya29.", b"glpat-", b"gsk_", b"npm_", b"xai-", b"pypi-"),
)


# A terminal, a wrapped line of base64 or an escape of JSON may break a value anywhere.
_BREAK: Final = rb"(?:\s|\\[nr])*"
_SHORTEST: Final = 8


def redact(data: bytes, secrets: Iterable[str] = ()) -> bytes:
    """Return data with `***` for each credential; a second call changes nothing.

    `secrets` are removed by value, in any of their `forms`, also across a line break.
    """
    return redactor(secrets)(data)


def redactor(secrets: Iterable[str] = ()) -> Callable[[bytes], bytes]:
    """Return `redact` for some secrets, ready to be called often."""
    values = [
        _BREAK.join(re.escape(form[i : i + 1]) for i in range(len(form))) for form in _all(secrets)
    ]
    if not values:
        return _without_shapes
    value = re.compile(b"|".join(values))
    return lambda data: _without_shapes(value.sub(MARK, data))


def _without_shapes(data: bytes) -> bytes:
    return _SHAPE.sub(MARK, data) if any(mark in data for mark in _MARKS) else data


def may_hold_credentials(text: str) -> bool:
    """Return whether `redact` may find a credential by its form; False is certain."""
    return any(mark.decode() in text for mark in _MARKS)


def forms(secret: str) -> frozenset[bytes]:
    """Return the forms of a value: plain, URL-encoded, and as part of base64 text."""
    raw = secret.encode()
    quoted = quote(raw, safe="").encode()
    escaped = re.sub(rb"%..", lambda match: match[0].lower(), quoted)
    encoded = [_inside(raw, before) for before in range(3)]
    url_safe = [form.translate(bytes.maketrans(b"+/", b"-_")) for form in encoded]
    long = (form for form in (*encoded, *url_safe) if len(form) >= _SHORTEST)
    return frozenset({raw, quoted, escaped, *long}) - {b""}


def _inside(raw: bytes, before: int) -> bytes:
    """Return the base64 digits that depend only on a value, after `before` other bytes."""
    digits = base64.b64encode(bytes(before) + raw).rstrip(b"=")
    whole = (before + len(raw)) % 3 == 0
    return digits[(0, 2, 3)[before] : len(digits) if whole else -1]


def _all(secrets: Iterable[str]) -> list[bytes]:
    found = {form for secret in secrets for form in forms(secret)}
    return sorted(found, key=lambda form: (-len(form), form))
