"""Credentials are taken out of logs and reports before these are hashed, judged and uploaded."""

import base64
import hashlib
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action import redaction
from reb_action.redaction import forms, redact

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nAAAA\n-----END RSA PRIVATE KEY-----"
# In pieces, so that no scanner takes this file for a leak.
CREDENTIALS = {
    "classic": "gh" + "p_" + "a1B2" * 9,
    "runner": "gh" + "s_" + "a1B2" * 9,
    "fine-grained": "github" + "_pat_" + "11AAAA_" * 8,
    "model": "s" + "k-proj-" + "a1B2" * 8,
    "hub": "h" + "f_" + "aBcD" * 9,
    "chat": "xo" + "xb-" + "1234567890-abcdef",
    "cloud": "AK" + "IA" + "ABCDEFGH12345678",
    "Google key": "AI" + "za" + "Sy-_1" * 7,
    "Google token": "ya" + "29." + "a0Af-_" * 9,
    "GitLab": "gl" + "pat-" + "aB1-_" * 4,
    "GitLab, routable": "gl" + "pat-" + "aB1-_" * 6 + ".01.0z1abcdef",
    "Groq": "gs" + "k_" + "aB1c" * 13,
    "npm": "np" + "m_" + "aB1c" * 9,
    "xAI": "xa" + "i-" + "aB1c" * 20,
    "PyPI": "py" + "pi-" + "AgEIcHlwaS5vcmc" + "aB1-_" * 20,
    "key": PEM,
    "key in JSON": PEM.replace("\n", "\\n"),
    "key that is cut off": PEM.partition("\n-----END")[0],
}


@pytest.mark.parametrize("kind", CREDENTIALS)
def test_credential_is_taken_out_and_the_rest_stays(kind):
    text = f'before "{CREDENTIALS[kind]}'.encode()
    assert redact(text) == b'before "***'
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "loss 0.31 at step 4000",
        "task-1234567890123456789012345",
        "s" + "k-learn-contrib-with-words-only",
        hashlib.sha256(b"").hexdigest(),
        "MAKIAABCDEFGH12345678",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "gh" + "p_short",
        "npm_config_registry npm_package_name",
        "gsk_short AIzaShort ya29. ya29.short",
        "pypi-simple pypi-server-with-a-very-long-name-that-goes-on-and-on-and-on-for-ever",
        "xai-explainability-toolkit glpat-short",
    ],
)
def test_what_is_no_credential_stays(text):
    assert redact(text.encode()) == text.encode()


def test_log_of_many_lines_takes_no_time():
    assert len(redaction.redact(b"sk- gh hf_ epoch 1 loss 0.5\n" * 300_000)) == 8_400_000


SECRET = "k3y/with+odd=signs~and-length"


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET, safe="").replace("%2F", "%2f").replace("%2B", "%2b").replace("%3D", "%3d"),
        SECRET[:9] + "\r\n" + SECRET[9:],
        json.dumps(SECRET[:9] + "\n" + SECRET[9:]).strip('"'),
    ],
)
def test_value_is_taken_out_in_every_form(text):
    assert redact(f"before {text} after".encode(), [SECRET]) == b"before *** after"


@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@given(before=st.binary(max_size=7), after=st.binary(max_size=7), width=st.integers(1, 90))
def test_value_inside_base64_is_taken_out(encode, before, after, width):
    text = encode(before + SECRET.encode() + after)
    lines = b"\n".join(text[at : at + width] for at in range(0, len(text), width))
    clean = redact(lines, [SECRET])
    assert b"***" in clean
    # What is left of it is less than a byte at each end.
    kept = clean.replace(b"\n", b"").replace(b"=", b"")
    assert len(kept) <= len(b"***") + -(-len(before) * 4 // 3) + -(-len(after) * 4 // 3) + 2


def test_of_a_short_value_no_common_text_goes():
    assert redact(b"abcd YWJj abc", ["abc"]) == b"***d YWJj ***"
    assert forms("") == frozenset()


def test_longer_value_goes_before_one_that_begins_it():
    assert redact(b"secret-two secret", ["secret", "secret-two"]) == b"*** ***"


def test_large_log_without_the_value_takes_no_time():
    data = b"epoch 1 loss 0.5 k3y k3y/with aHR0cA==\n" * 400_000
    assert redact(data, [SECRET]) == data
