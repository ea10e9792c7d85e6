"""Model gateway: holds the API key outside the sandbox, counts model calls and enforces budgets."""

from reb_action.gateway.gateway import Gateway
from reb_action.gateway.prices import Prices, load_prices
from reb_action.gateway.settings import DEFAULT_URLS, Budget, Upstream

__all__ = ["DEFAULT_URLS", "Budget", "Gateway", "Prices", "Upstream", "load_prices"]
