"""Stores the secrets that a sandbox was given, until its trial is stopped.

An agent may have written them into its environment, and a level may print them hours later, in a
step that has no secret. The file is in the scratch of the harness, which is never an artifact.
"""

import json
import os
from collections.abc import Iterable
from typing import cast

from reb_action import documents
from reb_action.session.layout import SessionLayout

_LIMIT_BYTES = 1024 * 1024


def remember(layout: SessionLayout, secrets: Iterable[str]) -> None:
    """Add values to a file that only this user can read; without values, write nothing.

    An agent that was resumed had another placeholder before.
    """
    new = set(secrets)
    if not new:
        return
    kept = sorted(new | set(values(layout)))
    handle = os.open(layout.secrets, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(kept, stream)


def values(layout: SessionLayout) -> tuple[str, ...]:
    """Return the values to redact in everything that leaves the sandbox."""
    if not layout.secrets.is_file():
        return ()
    stored = documents.parse_json(documents.read_bytes(layout.secrets, limit=_LIMIT_BYTES))
    return tuple(cast(list[str], stored))
