"""What the tokens of a model cost, as its vendor lists it; unknown is unknown."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """List prices by the name of a model; `as_of` is the day on which they were read (ISO 8601)."""

    as_of: str = ""
    models: Mapping[str, object] = field(default_factory=dict[str, object])


def load_prices() -> Prices:
    """Read the prices that come with us."""
    return Prices()
