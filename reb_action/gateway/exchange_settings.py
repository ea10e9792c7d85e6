"""What all model calls of one gateway share."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from reb_action.gateway.conversation.content import ContentRules
from reb_action.gateway.conversation.record import Conversation
from reb_action.gateway.dialects import DialectRules
from reb_action.gateway.ledger import Ledger
from reb_action.gateway.upstream.key_redaction import AnswerRedactor


@dataclass(frozen=True, kw_only=True, slots=True)
class ExchangeSettings:
    """Settings that all exchanges of a gateway share.

    `redact` removes the API key from text, `redactor` from answers. `host` is the vendor's.
    `content` reads what `conversation` records, where there is one.
    `closing` is set when the gateway ends.
    """

    rules: DialectRules
    content: ContentRules
    ledger: Ledger
    conversation: Conversation | None
    key: str = field(repr=False)
    redact: Callable[[str], str]
    redactor: AnswerRedactor
    host: str
    closing: threading.Event
    silent_seconds: float
    retry_seconds: float
    drain_seconds: float
