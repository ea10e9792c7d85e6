"""What one answer of a model says: what it used, which tools it calls, whether it is whole."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """The tokens of one call; input includes cache, output includes reasoning; unknown is None.

    `cache_write_long` is that part of `cache_write` which is kept for an hour.
    """

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cache_write_long: int | None = None
    output: int | None = None

    def updated(self, later: "Spent") -> "Spent":
        """Return these numbers with those that are known later."""
        return self._with(later, lambda mine, its: mine if its is None else its)

    def plus(self, other: "Spent") -> "Spent":
        """Return the sum of what is known."""
        return self._with(other, lambda mine, its: (mine or 0) + its if its is not None else mine)

    def _with(
        self, other: "Spent", join: Callable[[int | None, int | None], int | None]
    ) -> "Spent":
        return Spent(
            input=join(self.input, other.input),
            cache_read=join(self.cache_read, other.cache_read),
            cache_write=join(self.cache_write, other.cache_write),
            cache_write_long=join(self.cache_write_long, other.cache_write_long),
            output=join(self.output, other.output),
        )


@dataclass(kw_only=True, slots=True)
class Reading:
    """What an answer has said so far; `tools` are name and arguments by their place in it."""

    spent: Spent = field(default_factory=Spent)
    tools: dict[str, str] = field(default_factory=dict[str, str])
    ended: bool = False
    error: str | None = None

    def uses(self, spent: Spent) -> None:
        """Take over numbers; later ones count."""
        self.spent = self.spent.updated(spent)

    def calls(self, place: str, said: str) -> None:
        """Add to the call at a place of the answer."""
        self.tools[place] = self.tools.get(place, "") + said

    @property
    def fingerprint(self) -> str | None:
        """The same for the same tools with the same arguments; None without a call."""
        if not self.tools:
            return None
        return hashlib.sha256("\0".join(self.tools.values()).encode("utf-8", "replace")).hexdigest()
