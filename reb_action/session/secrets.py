"""Remembers, until a trial is stopped, the secrets that its sandbox was given.

An agent may have left them in its environment, and a level may print them hours later, in a step
that has no secret. They stand in the scratch of the harness, which no artifact holds.
"""

import json
import os
from collections.abc import Iterable
from typing import cast

from reb_action import documents
from reb_action.session.layout import SessionLayout

_LIMIT_BYTES = 1024 * 1024


def remember(layout: SessionLayout, secrets: Iterable[str]) -> None:
    """Keep values for this user alone; without any, nothing is written."""
    kept = sorted(set(secrets))
    if not kept:
        return
    handle = os.open(layout.secrets, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(kept, stream)


def values(layout: SessionLayout) -> tuple[str, ...]:
    """Return what is to be taken out of everything that leaves the sandbox."""
    if not layout.secrets.is_file():
        return ()
    found = documents.parse_json(documents.read_bytes(layout.secrets, limit=_LIMIT_BYTES))
    return tuple(cast(list[str], found))
