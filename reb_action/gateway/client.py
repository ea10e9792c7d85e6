"""The agent's side of one exchange: where status, headers and body of an answer go."""

from collections.abc import Mapping
from typing import Protocol


class Client(Protocol):
    """The agent's connection; each method raises OSError if the agent closed it."""

    def start(self, status: int, headers: Mapping[str, str], length: int | None) -> None:
        """Send status and headers; `length` is None if unknown."""
        ...

    def write(self, data: bytes) -> None:
        """Send a part of the body at once."""
        ...

    def end(self, *, complete: bool) -> None:
        """End the body; an incomplete one is cut so that the agent notices."""
        ...

    def is_open(self) -> bool:
        """Return whether the agent still waits for the answer."""
        ...
