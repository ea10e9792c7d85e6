"""Writes reb_action/gateway/prices.json from the maintained list of the package genai-prices.

uv run --no-project --with genai-prices==0.2.3 prices/generate.py

The package is no dependency of reb: the result is committed, with its date. `--date` sets the day
whose prices are taken (default: today).
"""

import argparse
import datetime
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

from genai_prices.data import providers  # pyright: ignore[reportMissingImports]

TARGET = Path(__file__).parent.parent / "reb_action" / "gateway" / "prices.json"
# Vendors before routers: of two equal names the first one counts.
PROVIDERS = (
    *("anthropic", "openai", "google", "deepseek", "moonshotai", "zai", "minimax", "mistral"),
    *("x-ai", "meta", "openrouter"),
)
# What Google and Azure host under the names of others has other prices.
OWN_NAMES = {"google": ("gemini-", "gemma-")}
# What the package does not know yet, by the vendor's own list.
EXTRA = {
    "gpt-6.2-sol": {
        "input": 2.0,
        "cache_read": 0.1,
        "cache_write": 2.5,
        "output": 10.0,
        "long": {
            "above": 272000,
            "input": 4.0,
            "cache_read": 0.2,
            "cache_write": 5.0,
            "output": 15.0,
        },
    },
}
FIELDS = {
    "input": "input_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_long": "cache_write_1h_mtok",
    "output": "output_mtok",
    "web_search": "web_searches_kcount",
}


def current_prices(prices: Any, date: datetime.date) -> Any:
    """Return the prices of a day; of prices by time of day the most expensive ones."""
    if not isinstance(prices, list):
        return prices
    valid = [entry for entry in prices if getattr(entry.constraint, "start_date", date) <= date]
    dated = [entry for entry in valid if hasattr(entry.constraint, "start_date")]
    if dated:
        return max(dated, key=lambda entry: entry.constraint.start_date).prices
    return max((entry.prices for entry in valid), key=lambda p: price_at(p.input_mtok or 0, 0))


def price_at(price: Any, tokens: int) -> Decimal:
    """Return the price for a request with this many input tokens."""
    if not hasattr(price, "tiers"):
        return price
    reached = [tier.price for tier in price.tiers if tokens >= tier.start]
    return reached[-1] if reached else price.base


def price_fields(prices: Any, tokens: int) -> dict[str, float]:
    """Return our fields for a request with this many input tokens."""
    found = {name: getattr(prices, source, None) for name, source in FIELDS.items()}
    return {
        name: float(price_at(price, tokens)) for name, price in found.items() if price is not None
    }


def tier_starts(prices: Any) -> list[int]:
    """Return where prices change with the size of the request."""
    tiers = [getattr(getattr(prices, source, None), "tiers", ()) for source in FIELDS.values()]
    return sorted({tier.start for some in tiers for tier in some})


def model_price(prices: Any) -> dict[str, Any] | None:
    """Return a model's price in our format; None where it is not sold by tokens."""
    price: dict[str, Any] = price_fields(prices, 0)
    if not {"input", "output"} <= set(price):
        return None
    inner = price
    for start in tier_starts(prices):
        inner["long"] = {"above": start, **price_fields(prices, start)}
        inner = inner["long"]
    return price


def equal_names(match: Any) -> Iterator[str]:
    """Yield the names that mean a model by themselves; dates are dropped by model_names."""
    for clause in getattr(match, "or_", [match]):
        name = getattr(clause, "equals", None)
        if name and not re.search(r"\d{4}", name):
            yield name


def models(date: datetime.date) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each model with its price, vendors before routers."""
    by_id = {provider.id: provider for provider in providers}
    for name in PROVIDERS:
        for model in by_id[name].models:
            if model.id.startswith(OWN_NAMES.get(name, "")) and model.prices:
                price = model_price(current_prices(model.prices, date))
                if price is not None:
                    yield from ((alias, price) for alias in (model.id, *equal_names(model.match)))


def main() -> None:
    """Write the list, one model a line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--date", type=datetime.date.fromisoformat, default=datetime.date.today())
    date = parser.parse_args().date
    unique: dict[str, dict[str, Any]] = {}
    for name, price in (*models(date), *EXTRA.items()):
        unique.setdefault(name, price)
    lines = [f"    {json.dumps(name)}: {json.dumps(price)}" for name, price in unique.items()]
    head = {"as_of": date.isoformat(), "source": f"genai-prices {version('genai-prices')}"}
    start = json.dumps(head)[1:-1].replace(', "', ',\n  "')
    TARGET.write_text(f'{{\n  {start},\n  "models": {{\n' + ",\n".join(lines) + "\n  }\n}\n")


if __name__ == "__main__":
    main()
