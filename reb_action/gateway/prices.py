"""List prices of models. A missing price means unknown cost, never zero."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import yaml

from reb_action.documents import Json, read_bytes
from reb_action.errors import DocumentError
from reb_action.gateway.upstream.usage import TokenCounts

_FILE: Final = Path(__file__).parent / "prices.yaml"
_LIMIT_BYTES: Final = 1024 * 1024
_MILLION: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """US dollars per million tokens; `long` applies to requests with more than `above` input."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_long: float | None = None
    above: int | None = None
    long: "Price | None" = None

    def cost(self, tokens: TokenCounts) -> float | None:
        """Return US dollars; None if a count or a needed price is unknown."""
        if tokens.input is None or tokens.output is None:
            return None
        if self.long is not None and tokens.input > (self.long.above or 0):
            return self.long.cost(tokens)
        read, write = tokens.cache_read or 0, tokens.cache_write or 0
        write_long = min(tokens.cache_write_long or 0, write)
        parts = (
            (max(tokens.input - read - write, 0), self.input),
            (read, self.cache_read),
            (write - write_long, self.cache_write),
            (write_long, self.cache_write_long),
            (tokens.output, self.output),
        )
        if any(price is None for count, price in parts if count):
            return None
        return sum(count * (price or 0.0) for count, price in parts) / _MILLION


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Prices by model name; `as_of` is the date of the list (ISO 8601)."""

    as_of: str = ""
    models: Mapping[str, Price] = field(default_factory=dict[str, Price])

    def cost(self, model: str, tokens: TokenCounts) -> float | None:
        """Return the cost in US dollars; None if the model or a price is unknown."""
        price = self.models.get(model)
        return None if price is None else price.cost(tokens)


def load_prices(path: Path = _FILE) -> Prices:
    """Read a price list, by default the one of this package; raises DocumentError."""
    try:
        data = cast(dict[str, Json], yaml.safe_load(read_bytes(path, limit=_LIMIT_BYTES)))
        return Prices(as_of=str(data["as_of"]), models=dict(_read_models(data["vendors"])))
    except (yaml.YAMLError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DocumentError(f"{path.name} is not a price list ({error})") from None


def _read_models(vendors: Json) -> Iterator[tuple[str, Price]]:
    for vendor in cast(list[dict[str, Json]], vendors):
        for name, fields in cast(dict[str, dict[str, Json]], vendor["models"]).items():
            yield name, _read_price(fields)


def _read_price(fields: Mapping[str, Json]) -> Price:
    rest = {key: cast(float, value) for key, value in fields.items() if key != "long"}
    long = cast(dict[str, Json] | None, fields.get("long"))
    above = cast(int | None, rest.pop("above", None))
    return Price(**rest, above=above, long=None if long is None else _read_price(long))
