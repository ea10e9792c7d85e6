"""Credentials are taken out of logs and reports before these are hashed, judged and uploaded."""

import hashlib

import pytest

from reb_action import redaction
from reb_action.redaction import redact

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
    ],
)
def test_what_is_no_credential_stays(text):
    assert redact(text.encode()) == text.encode()


def test_log_of_many_lines_takes_no_time():
    assert len(redaction.redact(b"sk- gh hf_ epoch 1 loss 0.5\n" * 300_000)) == 8_400_000
