"""The log of an agent: written as output comes, capped, without the secrets it was given."""

import re
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from reb_action.redaction import forms

LIMIT_BYTES: Final = 16 * 1024 * 1024
TAIL_BYTES: Final = 1024 * 1024
_RECENT_BYTES: Final = 4096
_LOST: Final = re.compile(rb"^\[reb left (\d{1,18}) bytes out here\]$", re.MULTILINE)


class AgentLog:
    """Writes two streams to one file: the head at once and, beyond the cap, the tail.

    With `continues` the existing content stays and counts towards the cap. Sandboxes call `feed`
    from several threads, and it must not raise: on a full disk output is lost, not the trial.
    """

    def __init__(
        self,
        path: Path,
        *,
        secrets: Iterable[str],
        limit_bytes: int = LIMIT_BYTES,
        continues: bool = False,
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        size = path.stat().st_size if continues and path.is_file() else 0
        self._file = path.open("ab" if continues else "wb", buffering=0)
        found = {form for secret in secrets for form in forms(secret)}
        self._secrets = sorted(found, key=len, reverse=True)
        self._heard = time.monotonic()
        self._held: dict[str, bytes] = {}
        self._recent = b""
        self._left = max(limit_bytes - size, 0)
        self._tail = b""
        self._dropped = 0
        self._lock = threading.Lock()
        if size:
            # The last line before the cut may be incomplete.
            self._keep(b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for data in self._held.values():
            self._keep(data)
        self._trim(TAIL_BYTES)
        if self._dropped:
            self._write(f"\n[reb left {self._dropped} bytes out]\n".encode())
        self._write(self._tail)
        self._file.close()

    def quiet_seconds(self) -> float:
        """Return the seconds since the last output, or since the start."""
        return time.monotonic() - self._heard

    @property
    def last_line(self) -> str:
        """The last line of output so far, without secrets; empty before the first."""
        lines = self._recent.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def feed(self, stream: str, data: bytes) -> None:
        """Take output of one stream; what may be the beginning of a secret is held back."""
        with self._lock:
            self._heard = time.monotonic()
            data = self._held.pop(stream, b"") + data
            for secret in self._secrets:
                data = data.replace(secret, b"***")
            held = max((_overlap(data, secret) for secret in self._secrets), default=0)
            self._held[stream] = data[len(data) - held :]
            self._keep(data[: len(data) - held])

    def _keep(self, data: bytes) -> None:
        self._recent = (self._recent + data)[-_RECENT_BYTES:]
        head, rest = data[: self._left], data[self._left :]
        self._left -= len(head)
        self._write(head)
        self._tail += rest
        # Not at every piece of output, so that a flood does not copy the tail over and over.
        if len(self._tail) > 8 * TAIL_BYTES:
            self._trim(TAIL_BYTES)

    def _trim(self, size: int) -> None:
        kept = self._tail[-size:]
        self._dropped += len(self._tail) - len(kept)
        self._tail = kept

    def _write(self, data: bytes) -> None:
        with suppress(OSError):
            self._file.write(data)


def count_lost_bytes(path: Path) -> int:
    """Return how many bytes a log lacks by its own note; 0 if it is complete or does not exist."""
    if not path.is_file():
        return 0
    return sum(int(size) for size in _LOST.findall(path.read_bytes()))


def _overlap(data: bytes, secret: bytes) -> int:
    """Return how many bytes at the end of data begin the secret."""
    longest = min(len(data), len(secret) - 1)
    return next((size for size in range(longest, 0, -1) if data.endswith(secret[:size])), 0)
