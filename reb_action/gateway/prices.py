"""What the tokens of a model cost, as its vendor lists it; unknown is unknown, never nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import yaml

from reb_action.documents import Json, read_bytes
from reb_action.errors import DocumentError
from reb_action.gateway.upstream.usage import Spent

_FILE: Final = Path(__file__).parent / "prices.yaml"
_LIMIT_BYTES: Final = 1024 * 1024
_MILLION: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """US dollars per million tokens; `long` holds for requests with more input than `above`."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_long: float | None = None
    above: int | None = None
    long: "Price | None" = None

    def cost(self, spent: Spent) -> float | None:
        """Return US dollars; None where tokens or the price of some of them are unknown."""
        if spent.input is None or spent.output is None:
            return None
        if self.long is not None and spent.input > (self.long.above or 0):
            return self.long.cost(spent)
        read, write = spent.cache_read or 0, spent.cache_write or 0
        long = min(spent.cache_write_long or 0, write)
        parts = (
            (max(spent.input - read - write, 0), self.input),
            (read, self.cache_read),
            (write - long, self.cache_write),
            (long, self.cache_write_long),
            (spent.output, self.output),
        )
        if any(price is None for count, price in parts if count):
            return None
        return sum(count * (price or 0.0) for count, price in parts) / _MILLION


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """List prices by the name of a model; `as_of` is the day on which they were read (ISO 8601)."""

    as_of: str = ""
    models: Mapping[str, Price] = field(default_factory=dict[str, Price])

    def cost(self, model: str, spent: Spent) -> float | None:
        """Return what these tokens of a model cost in US dollars, or None."""
        price = self.models.get(model)
        return None if price is None else price.cost(spent)


def load_prices(path: Path = _FILE) -> Prices:
    """Read a list of prices, ours where no other is named; raises DocumentError."""
    try:
        data = cast(dict[str, Json], yaml.safe_load(read_bytes(path, limit=_LIMIT_BYTES)))
        return Prices(as_of=str(data["as_of"]), models=dict(_models(data["vendors"])))
    except (yaml.YAMLError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DocumentError(f"{path.name} is no list of prices ({error}); see ours") from None


def _models(vendors: Json) -> Iterator[tuple[str, Price]]:
    for vendor in cast(list[dict[str, Json]], vendors):
        for name, given in cast(dict[str, dict[str, Json]], vendor["models"]).items():
            yield name, _price(given)


def _price(given: Mapping[str, Json]) -> Price:
    rest = {key: cast(float, value) for key, value in given.items() if key != "long"}
    long = cast(dict[str, Json] | None, given.get("long"))
    above = cast(int | None, rest.pop("above", None))
    return Price(**rest, above=above, long=None if long is None else _price(long))
