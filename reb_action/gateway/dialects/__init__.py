"""The API dialects that the gateway speaks; `DIALECTS` holds all that differs between them."""

from collections.abc import Mapping
from typing import Final

from reb_action.gateway.dialects.anthropic import ANTHROPIC
from reb_action.gateway.dialects.chat import CHAT
from reb_action.gateway.dialects.gemini import GEMINI
from reb_action.gateway.dialects.responses import RESPONSES
from reb_action.gateway.dialects.rules import DialectRules, Route
from reb_action.model.agent import Dialect

__all__ = ["DIALECTS", "DialectRules", "Route"]

DIALECTS: Final[Mapping[Dialect, DialectRules]] = {
    Dialect.ANTHROPIC: ANTHROPIC,
    Dialect.RESPONSES: RESPONSES,
    Dialect.CHAT: CHAT,
    Dialect.GEMINI: GEMINI,
}
