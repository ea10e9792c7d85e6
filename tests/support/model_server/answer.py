"""One answer: as the scenario has it, whole or as a stream, and noted in its run."""

import gzip
import json
import time
import zlib
from contextlib import suppress
from dataclasses import replace

from reb_action.gateway.preflight import AGENT_NAME
from tests.support.model_server.dialects.turn import Turn
from tests.support.model_server.runs import Seen, counts
from tests.support.model_server.scenarios import Fault
from tests.support.model_server.tools import arguments, shell_of

MARK = "@@BAD@@"
CODINGS = {"gzip": gzip.compress, "deflate": zlib.compress, "br": lambda data: data}
KEY_ECHO = "your key is {}, is it not?"
BAD = b"\xff\xfe\x80"


class Answer:
    """Writes one answer to a client and notes in the run what it said."""

    def __init__(self, handler, module, script, run, body):
        self.handler = handler
        self.module = module
        self.script = script
        self.run = run
        self.body = body
        # What reb asks before an agent starts: faults of single answers are for the agent.
        self.is_preflight = handler.headers.get("user-agent") == AGENT_NAME
        self.index = -1 if self.is_preflight else run.next_index()
        is_hit = script.fault_at in (None, self.index)
        self.fault = script.fault if is_hit and not self.is_preflight else Fault.NONE

    def refuse(self, status, message):
        self._note(status)
        headers = {}
        if status in (429, 503, 529) and self.script.retry_after is not None:
            headers["Retry-After"] = self.script.retry_after
        if status == 302:
            headers["Location"] = f"{self.handler.server.model.root}/text/elsewhere"
        self._whole(status, self.module.error(status, message), **headers)

    def give(self, ask):
        script = self.script
        flaky = script.flaky
        is_over = flaky is not None and (self.is_preflight or self.index >= flaky)
        if script.status != 200 and not is_over:
            message = script.error or f"scripted error {script.status}"
            return self.refuse(script.status, message)
        if self.fault is Fault.SILENCE:
            self._note(0)
            return self._wait()
        if self.fault is Fault.DROPS:
            self._note(0)
            self.handler.close_connection = True
            return None
        if self.fault is Fault.SLOW_HEADERS:
            self._note(0)
            return self._drip()
        ask = replace(ask, model=script.answers_as or ask.model)
        turn = self._turn(ask)
        said = counts(self.index, writes=self.module.WRITES_CACHE)
        broken = self.fault in (Fault.CUT, Fault.STALL, Fault.FAILS)
        mute = self.fault is Fault.NO_USAGE
        heard = None if broken or mute or (ask.stream and not ask.wants_usage) else said
        events = self._events(turn, ask, said) if ask.stream else []
        value = None if ask.stream else self._value(turn, ask, said)
        data = b"".join(_event(*event) for event in events) or _bytes(value)
        tool_calls = int(turn.tool is not None)
        self._note(200, heard, whole=not broken, tool_calls=tool_calls, answer=data, true=said)
        return self._stream(events) if ask.stream else self._whole(200, value)

    def _turn(self, ask):
        if self.fault is Fault.ECHOES_KEY:
            return Turn(text=KEY_ECHO.format(self.handler.server.model.key))
        return _turn(self.script, ask)

    def _value(self, turn, ask, said):
        if self.fault is Fault.FAILS:
            return self.module.failed(ask, "scripted failure")
        value = self.module.whole(turn, ask, said)
        return _without_usage(value) if self.fault is Fault.NO_USAGE else value

    def _events(self, turn, ask, said):
        """Return the events of an answer; one that fails begins well."""
        events = list(self.module.events(turn, ask, said))
        if self.fault is Fault.FAILS:
            return [*events[: len(events) // 2], self.module.failure(ask, "scripted failure")]
        if self.fault is Fault.NO_USAGE:
            return [(kind, _without_usage(value)) for kind, value in events]
        if self.fault is Fault.ECHOES_KEY:
            key = self.handler.server.model.key
            kind, value = events[0]
            return [(kind, {**value, "metadata": KEY_ECHO.format(key)}), *events[1:]]
        return events

    def _note(self, status, said=None, *, whole=False, tool_calls=0, answer=b"", true=None):
        sent = {name.lower(): value for name, value in self.handler.headers.items()}
        seen = Seen(
            path=self.handler.path,
            headers=sent,
            body=self.body,
            status=status,
            whole=whole,
            counts=said,
            tool_calls=tool_calls if whole else 0,
            answer=answer,
            true_counts=true,
        )
        (self.run.preflights if self.is_preflight else self.run.seen).append(seen)

    def _whole(self, status, value, **headers):
        data = _bytes(value)
        if status == 200 and self.script.coding is not None:
            data = CODINGS[self.script.coding](data)
            headers["Content-Encoding"] = self.script.coding
        if status == 200 and self.fault in (Fault.CUT, Fault.STALL):
            headers["Content-Length"] = str(len(data))
            self._head(status, "application/json", headers)
            self._send(data[: len(data) // 2])
            return self._end()
        if self.fault is Fault.HANGS_UP:
            self.handler.close_connection = True
        if self.script.keeps_alive:
            # DeepSeek sends empty lines until the document is ready.
            data = b"\n\n\n" + data
        length = {"Content-Length": str(len(data))}
        self._head(status, "application/json", {**length, **headers})
        for part in self._pieces(data):
            self._send(part)
        return None

    def _stream(self, events):
        headers = {"Transfer-Encoding": "chunked"}
        if self.script.coding is not None:
            return self._compressed(events, headers)
        self._head(200, "text/event-stream; charset=utf-8", headers)
        half = len(events) // 2
        broken = self.fault in (Fault.CUT, Fault.STALL)
        for kind, value in events[:half] if broken else events:
            for part in self._pieces(_event(kind, value)):
                self._send(b"%x\r\n%s\r\n" % (len(part), part))
            time.sleep(self.script.seconds)
        if broken:
            return self._end()
        return self._send(b"0\r\n\r\n")

    def _pieces(self, data):
        """Yield what is sent at a time: an event, a comment before it, or a few bytes of either."""
        if self.script.keeps_alive and data.startswith((b"data:", b"event:")):
            yield b": keep-alive\n\n"
        size = self.script.drip or len(data) or 1
        yield from (data[at : at + size] for at in range(0, len(data), size))

    def _compressed(self, events, headers):
        """Send a stream that a proxy compresses: each event is flushed."""
        packer = zlib.compressobj(wbits=31 if self.script.coding == "gzip" else 15)
        headers["Content-Encoding"] = self.script.coding
        self._head(200, "text/event-stream", headers)
        for kind, value in events:
            data = packer.compress(_event(kind, value)) + packer.flush(zlib.Z_SYNC_FLUSH)
            self._send(b"%x\r\n%s\r\n" % (len(data), data))
        rest = packer.flush()
        return self._send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(rest), rest))

    def _end(self):
        if self.fault is Fault.STALL:
            self._wait()
        self.handler.close_connection = True

    def _head(self, status, kind, headers):
        self.handler.send_response(status)
        for name, value in {"Content-Type": kind, "Request-Id": "req_0", **headers}.items():
            self.handler.send_header(name, value)
        self.handler.end_headers()

    def _send(self, data):
        self.handler.wfile.write(data)
        self.handler.wfile.flush()

    def _wait(self):
        self.handler.close_connection = True
        self.handler.server.model.stopped.wait(3600)

    def _drip(self):
        self.handler.close_connection = True
        with suppress(OSError):
            self._send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not self.handler.server.model.stopped.wait(0.05):
                self._send(b"a")


def _turn(script, ask):
    """Return the step which this conversation has come to; one without a shell gets the text."""
    shell = shell_of(ask.tools)
    if script.steps and shell and (script.endless or ask.results < len(script.steps)):
        command = script.steps[min(ask.results, len(script.steps) - 1)]
        built = arguments(shell, command)
        return Turn(tool=shell.name, arguments=built, call=f"call_{ask.results}")
    return Turn(text=MARK + script.text if script.fault is Fault.BAD_BYTES else script.text)


def _event(kind, value):
    data = b"data: " + (value.encode() if isinstance(value, str) else _bytes(value))
    return (f"event: {kind}\n".encode() if kind else b"") + data + b"\n\n"


def _without_usage(value):
    """Return an answer, or an event, with no field that begins with `usage` at any depth."""
    if isinstance(value, list):
        return [_without_usage(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {name: part for name, part in value.items() if not name.startswith("usage")}
    return {name: _without_usage(part) for name, part in kept.items()}


def _bytes(value):
    return json.dumps(value).encode().replace(MARK.encode(), BAD)
