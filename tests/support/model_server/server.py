"""The server: one for all tests at once, since scenario and run stand in the URL.

`/SCENARIO/RUN/v1/...` is the model; `/truth/RUN` says as JSON what a run was asked and told.
"""

import json
import threading
from collections import defaultdict
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from reb_action.model.agent import Dialect
from tests.support.model_server.answer import Answer
from tests.support.model_server.dialects import MODULES
from tests.support.model_server.dialects.turn import BadRequestError
from tests.support.model_server.runs import Run
from tests.support.model_server.scenarios import COMMANDS, scenarios

KEY = "sk-scripted-0123456789abcdef"
COUNTS = {"/v1/messages/count_tokens": "input_tokens"}
VERSIONED = (Dialect.CHAT, Dialect.RESPONSES)


class ModelServer:
    """Listens on a port of the loopback, or of `host`, while its `with` lasts.

    `route` may take another scenario and run than the URL names, by dialect and body of a request:
    where several trials have the same address.
    """

    def __init__(
        self, *, commands=COMMANDS, key=KEY, host="127.0.0.1", port=0, tls=None, route=None
    ):
        self.key = key
        self.route = route
        self.scenarios = scenarios(commands)
        self.runs = defaultdict(Run)
        self.stopped = threading.Event()
        self._http = _Http((host, port), self)
        self._scheme = "http" if tls is None else "https"
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)

    def __enter__(self):
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def root(self):
        host, port = self._http.server_address[:2]
        return f"{self._scheme}://{host}:{port}"

    def url(self, dialect, scenario, *, run):
        """Return the base URL as `--model-url` takes it: with the version where OpenAI has it."""
        return f"{self.root}/{scenario}/{run}" + ("/v1" if dialect in VERSIONED else "")

    def run(self, name):
        """Return what a run was asked so far."""
        return self.runs[name]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address, model):
        self.model = model
        super().__init__(address, _Handler)

    def handle_error(self, *_):
        """Keep still: that a client hangs up is what some tests are for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *_):
        """Keep still."""

    def do_GET(self):
        parts = self.path.split("/")
        if parts[1] != "truth":
            return self._json(404, {"error": {"message": f"no such route: {self.path}"}})
        run = self.server.model.run(parts[2])
        usage = asdict(run.usage)
        return self._json(200, {"usage": usage, "statuses": run.statuses, "asked": run.asked})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        _, scenario, name, *rest = urlsplit(self.path).path.split("/")
        path = "/" + "/".join(rest)
        dialect = _dialect_of(path)
        if self.server.model.route is not None:
            scenario, name = self.server.model.route(scenario, name, dialect, body)
        script = self.server.model.scenarios.get(scenario)
        if dialect is None or script is None:
            return self._json(404, {"error": {"message": f"no such route: {self.path}"}})
        module = MODULES[dialect]
        answer = Answer(self, module, script, self.server.model.run(name), body)
        key = module.key_of(self.headers, parse_qs(urlsplit(self.path).query))
        if key != self.server.model.key:
            return answer.refuse(401, f"the key {key} is not valid")
        if path in COUNTS or path.endswith(":countTokens"):
            return self._json(200, {COUNTS.get(path, "totalTokens"): 8001})
        try:
            ask = module.parse(json.loads(body), self.headers, path)
        except (BadRequestError, KeyError, TypeError, AttributeError, ValueError) as fault:
            return answer.refuse(400, f"{type(fault).__name__}: {fault}")
        return answer.give(ask)

    def _json(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()


def _dialect_of(path):
    if path == "/v1/messages" or path in COUNTS:
        return Dialect.ANTHROPIC
    if path == "/v1/responses":
        return Dialect.RESPONSES
    if path == "/v1/chat/completions":
        return Dialect.CHAT
    known = (":generateContent", ":streamGenerateContent", ":countTokens")
    return Dialect.GEMINI if path.startswith("/v1beta/models/") and path.endswith(known) else None
