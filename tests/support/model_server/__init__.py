"""A scripted model: speaks four dialects, does what its URL says, knows what it was asked.

    with ModelServer() as server:
        url = server.url(Dialect.CHAT, "ok", run="1")   # what --model-url takes
        ...
        server.run("1").usage                           # the truth

`python -m tests.support.model_server --help` runs it as a program.
"""

from tests.support.model_server.runs import Counts, Run, Seen
from tests.support.model_server.scenarios import COMMANDS, SCENARIOS
from tests.support.model_server.server import KEY, ModelServer

__all__ = ["COMMANDS", "KEY", "SCENARIOS", "Counts", "ModelServer", "Run", "Seen"]
