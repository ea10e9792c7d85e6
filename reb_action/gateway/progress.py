"""Finds a loop without progress: the same tool calls with the same results, again and again."""

import hashlib
import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import Final

# Tools that read the output of a running command.
_POLLING_TOOLS: Final = frozenset(
    {"bashoutput", "taskoutput", "write_stdin", "wait", "wait_agent", "read_background_output"}
)
# Commands that wait for, or look at, work in progress.
_POLLING_COMMAND: Final = re.compile(
    r"\b(?:sleep|wait|tail|watch|pgrep|ps|jobs|top|nvidia-smi|squeue|kill -0)\b"
)
# Parts of a tool's result that differ each time although nothing changed.
_VOLATILE: Final = re.compile(
    r"(?i)chunk id: \w+|\b(?:pid|pgid|pids)\b\W{0,4}\d+|\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds)\b"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The last tool calls of a conversation, their names, and their results, as text."""

    names: tuple[str, ...]
    calls: str
    results: str

    @property
    def is_polling(self) -> bool:
        """Whether the step waits for, or looks at, a command that runs."""
        uses_tool = any(name.lower() in _POLLING_TOOLS for name in self.names)
        return uses_tool or _POLLING_COMMAND.search(_unescape(self.calls)) is not None

    @property
    def digest(self) -> str:
        """The same for the same calls with the same results."""
        text = f"{self.calls}\0{_VOLATILE.sub('', _unescape(self.results))}"
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _unescape(text: str) -> str:
    """Return JSON text with its escaped white space as spaces, so that words have boundaries."""
    return re.sub(r"(?:\\)+[nrt]", " ", text)


class LoopDetector:
    """Counts identical requests, and identical steps among the last `2 * limit`."""

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._requests: Counter[str] = Counter()
        self._steps: deque[str] = deque(maxlen=2 * (limit or 1))

    def check(self, request: bytes, step: Step | None) -> str | None:
        """Count a request; return the step that was repeated too often, or None."""
        if self._limit is None:
            return None
        digest = hashlib.sha256(request).hexdigest()
        if self._requests[digest] >= self._limit:
            return f"the same request was made {self._limit} times"
        self._requests[digest] += 1
        # A retry brings the same step again.
        if self._requests[digest] > 1 or step is None or step.is_polling:
            return None
        self._steps.append(step.digest)
        if self._steps.count(step.digest) >= self._limit:
            return f"the same tool call had the same result {self._limit} times"
        return None
