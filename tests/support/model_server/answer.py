"""One answer: as the scenario has it, whole or as a stream, and noted in its run."""

import json
import time
from contextlib import suppress

from tests.support.model_server.dialects.turn import Turn
from tests.support.model_server.runs import Seen, counts
from tests.support.model_server.scenarios import Fault
from tests.support.model_server.tools import arguments, shell_of

MARK = "@@BAD@@"
BAD = b"\xff\xfe\x80"


class Answer:
    """Writes one answer to a client and notes in the run what it said."""

    def __init__(self, handler, module, script, run, body):
        self.handler = handler
        self.module = module
        self.script = script
        self.run = run
        self.body = body
        self.index = run.next_index()

    def refuse(self, status, message):
        self._note(status)
        headers = {"Retry-After": "0"} if status in (429, 503, 529) else {}
        if status == 302:
            headers["Location"] = f"{self.handler.server.model.root}/text/elsewhere"
        self._whole(status, self.module.error(status, message), **headers)

    def give(self, ask):
        script = self.script
        if script.status != 200 and (script.flaky is None or self.index < script.flaky):
            return self.refuse(script.status, f"scripted error {script.status}")
        if script.fault is Fault.SILENCE:
            self._note(0)
            return self._wait()
        if script.fault is Fault.SLOW_HEADERS:
            self._note(0)
            return self._drip()
        turn = _turn(script, ask)
        said = counts(self.index, writes=self.module.WRITES_CACHE)
        broken = script.fault in (Fault.CUT, Fault.STALL)
        mute = script.fault is Fault.NO_USAGE
        heard = None if broken or mute or (ask.stream and not ask.wants_usage) else said
        self._note(200, heard, whole=not broken, tool_calls=int(turn.tool is not None))
        if ask.stream:
            return self._stream(list(self.module.events(turn, ask, said)))
        return self._whole(200, self.module.whole(turn, ask, said))

    def _note(self, status, said=None, *, whole=False, tool_calls=0):
        sent = {name.lower(): value for name, value in self.handler.headers.items()}
        seen = Seen(
            path=self.handler.path,
            headers=sent,
            body=self.body,
            status=status,
            whole=whole,
            counts=said,
            tool_calls=tool_calls if whole else 0,
        )
        self.run.add(seen)

    def _whole(self, status, value, **headers):
        data = _bytes(value, mute=self.script.fault is Fault.NO_USAGE)
        if status == 200 and self.script.fault in (Fault.CUT, Fault.STALL):
            self._head(status, "application/json", {"Content-Length": str(len(data))})
            self._send(data[: len(data) // 2])
            return self._end()
        if self.script.fault is Fault.HANGS_UP:
            self.handler.close_connection = True
        length = {"Content-Length": str(len(data))}
        self._head(status, "application/json", {**length, **headers})
        return self._send(data)

    def _stream(self, events):
        self._head(200, "text/event-stream; charset=utf-8", {"Transfer-Encoding": "chunked"})
        half = len(events) // 2
        broken = self.script.fault in (Fault.CUT, Fault.STALL)
        for kind, value in events[:half] if broken else events:
            data = b"data: " + (value.encode() if isinstance(value, str) else _bytes(value))
            event = (f"event: {kind}\n".encode() if kind else b"") + data + b"\n\n"
            self._send(b"%x\r\n%s\r\n" % (len(event), event))
            time.sleep(self.script.seconds)
        if broken:
            return self._end()
        return self._send(b"0\r\n\r\n")

    def _end(self):
        if self.script.fault is Fault.STALL:
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


def _bytes(value, *, mute=False):
    if mute:
        value = {name: part for name, part in value.items() if not name.startswith("usage")}
    return json.dumps(value).encode().replace(MARK.encode(), BAD)
