"""The dialects that the gateway speaks, each a module; `RULES` is all that differs."""

from collections.abc import Mapping
from typing import Final

from reb_action.gateway.dialects.anthropic import ANTHROPIC
from reb_action.gateway.dialects.chat import CHAT
from reb_action.gateway.dialects.gemini import GEMINI
from reb_action.gateway.dialects.responses import RESPONSES
from reb_action.gateway.dialects.rules import Route, Rules
from reb_action.model.agent import Dialect

__all__ = ["RULES", "Route", "Rules"]

RULES: Final[Mapping[Dialect, Rules]] = {
    Dialect.ANTHROPIC: ANTHROPIC,
    Dialect.RESPONSES: RESPONSES,
    Dialect.CHAT: CHAT,
    Dialect.GEMINI: GEMINI,
}
