"""How each dialect asks and is answered: `parse`, `whole`, `events`, `error` in each module."""

from reb_action.model.agent import Dialect
from tests.support.model_server.dialects import anthropic, chat, gemini, responses

MODULES = {
    Dialect.ANTHROPIC: anthropic,
    Dialect.RESPONSES: responses,
    Dialect.CHAT: chat,
    Dialect.GEMINI: gemini,
}
