"""The text of a conversation, read from the requests and answers that pass the gateway."""

from collections.abc import Mapping
from typing import Final

from reb_action.gateway.conversation import anthropic, chat, gemini, responses
from reb_action.gateway.conversation.content import ContentRules
from reb_action.model.agent import Dialect

CONTENT: Final[Mapping[Dialect, ContentRules]] = {
    Dialect.ANTHROPIC: anthropic.CONTENT,
    Dialect.RESPONSES: responses.CONTENT,
    Dialect.CHAT: chat.CONTENT,
    Dialect.GEMINI: gemini.CONTENT,
}
"""How each dialect is read."""
