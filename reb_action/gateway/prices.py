"""List prices of models. A missing price means unknown cost, never zero."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from reb_action.documents import Json, NotJsonError, parse_json, read_input, show
from reb_action.documents.strict_yaml import parse_yaml
from reb_action.errors import DocumentError
from reb_action.gateway.estimate import UsageBounds
from reb_action.gateway.model_names import canonical_name
from reb_action.gateway.upstream.usage import TokenCounts

_FILE: Final = Path(__file__).parent / "prices.json"
_LIMIT_BYTES: Final = 4 * 1024 * 1024
_NUMBERS: Final = frozenset(
    {
        *("input", "output", "cache_read", "cache_write", "cache_write_long", "web_search"),
        "above",
    }
)
_MILLION: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Price:
    """US dollars per million tokens; `long` applies to requests with more than `above` input.

    `web_search` is the price of a thousand searches by the vendor.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_long: float | None = None
    web_search: float | None = None
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
            (1000 * (tokens.searches or 0), self.web_search),
        )
        if any(price is None for count, price in parts if count):
            return None
        return sum(count * (price or 0.0) for count, price in parts) / _MILLION

    def cost_bounds(self, bounds: UsageBounds) -> tuple[float, float]:
        """Return the least and the most that a call can have cost in US dollars.

        The least takes all input from the cache, the most writes all of it to the cache.
        """
        low_price, high_price = self, self
        if self.long is not None:
            above = self.long.above or 0
            low_price = self.long if (bounds.low.input or 0) > above else self
            high_price = self.long if (bounds.high.input or 0) > above else self
        low = _plain_cost(bounds.low, min(low_price.input_prices), low_price.output)
        high = _plain_cost(bounds.high, max(high_price.input_prices), high_price.output)
        return low, high

    @property
    def input_prices(self) -> tuple[float, ...]:
        """The known prices of an input token: fresh, from a cache, into a cache."""
        prices = (self.input, self.cache_read, self.cache_write, self.cache_write_long)
        return tuple(price for price in prices if price is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Prices by model name; `as_of` is the date of the list (ISO 8601).

    A model that is not listed by its exact name has the price of a name that means the same model.
    """

    as_of: str = ""
    models: Mapping[str, Price] = field(default_factory=dict[str, Price])

    def cost(self, model: str, tokens: TokenCounts) -> float | None:
        """Return the cost in US dollars; None if the model or a price is unknown."""
        price = self.find(model)
        return None if price is None else price.cost(tokens)

    def cost_bounds(self, model: str, bounds: UsageBounds) -> tuple[float, float] | None:
        """Return the least and the most that a call can have cost; None for an unknown model."""
        price = self.find(model)
        return None if price is None else price.cost_bounds(bounds)

    def find(self, model: str) -> Price | None:
        """Return the price of a model, or None."""
        exact = self.models.get(model)
        if exact is not None:
            return exact
        name = canonical_name(model)
        return next((self.models[key] for key in self.models if canonical_name(key) == name), None)


def _plain_cost(tokens: TokenCounts, input_price: float, output_price: float) -> float:
    dollars = (tokens.input or 0) * input_price + (tokens.output or 0) * output_price
    return dollars / _MILLION


def load_prices(path: Path | None = None) -> Prices:
    """Read the price list of this package, after a user's own list; raises DocumentError."""
    shipped = _read_list(_FILE)
    if path is None:
        return shipped
    own = _read_list(path)
    # The first of two names that mean the same model counts.
    others = {name: price for name, price in shipped.models.items() if name not in own.models}
    return Prices(as_of=own.as_of or shipped.as_of, models={**own.models, **others})


def _read_list(path: Path) -> Prices:
    data = read_input(path, limit=_LIMIT_BYTES)
    try:
        value = parse_json(data) if path.suffix == ".json" else parse_yaml(data, path.name)
    except NotJsonError as error:
        raise DocumentError(f"{path.name} is not valid JSON: {error}") from None
    models = value.get("models") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(models, dict):
        raise DocumentError(
            f"{path.name}: models is missing; write models: with a price for each name"
        )
    return Prices(
        as_of=str(value.get("as_of", "")),
        models={name: _read_price(price, f"{path.name}: {name}") for name, price in models.items()},
    )


def _read_price(value: Json, where: str) -> Price:
    if not isinstance(value, dict):
        raise DocumentError(f"{where} is not a price such as {{input: 1, output: 2}}")
    for name in sorted(value.keys() - _NUMBERS - {"long"}):
        raise DocumentError(f"{where}: {show(name)} is unknown; use {', '.join(sorted(_NUMBERS))}")
    numbers = {name: number for name, number in value.items() if name != "long"}
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
            raise DocumentError(f"{where}: {name} is {show(number)}; write US dollars, 0 or more")
    for name in ("input", "output"):
        if name not in numbers:
            raise DocumentError(f"{where}: {name} is missing")
    long = value.get("long")
    above = cast(int | None, numbers.pop("above", None))
    prices = cast(dict[str, float], numbers)
    inner = None if long is None else _read_price(long, f"{where}: long")
    return Price(**prices, above=above, long=inner)
