"""A client of a model, in each dialect: what an agent sends, without an agent."""

import http.client
import json
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from reb_action.model.agent import Dialect

SCHEMA = {
    "type": "object",
    "properties": {"command": {"type": "string"}, "is_background": {"type": "boolean"}},
    "required": ["command", "is_background"],
}
PATHS = {
    Dialect.ANTHROPIC: "/v1/messages",
    Dialect.RESPONSES: "/v1/responses",
    Dialect.CHAT: "/v1/chat/completions",
}
MODEL = "scripted-1"


@dataclass(frozen=True)
class Reply:
    """An answer; `cut` where it ended before its end."""

    status: int
    headers: dict
    body: bytes
    cut: bool = False

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def events(self):
        lines = [line for line in self.body.split(b"\n") if line.startswith(b"data: {")]
        return [json.loads(line[6:].decode("utf-8", "replace")) for line in lines]


class _Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.place = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.place)


def connect(address):
    """Return a connection to `http://HOST:PORT/...` or to the path of a Unix socket."""
    if isinstance(address, str):
        return http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
    return _Unix(address)


def request(
    dialect, *, key, stream=False, results=0, model=MODEL, says="hello",
    command="true", output="out", **change,
):  # fmt: skip
    """Return path, headers and body of a request that brings so many results of the shell.

    Each is `output`, of a call with `command`. `change` are fields of its body that are otherwise.
    """
    step = (command, output)
    headers = {"Content-Type": "application/json"}
    if dialect is Dialect.GEMINI:
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        headers["x-goog-api-key"] = key
        return (
            f"/v1beta/models/{model}:{method}",
            headers,
            {**_gemini(results, says, *step), **change},
        )
    body = {"model": model, "stream": stream, **_BODIES[dialect](results, says, *step), **change}
    if dialect is Dialect.ANTHROPIC:
        headers |= {"x-api-key": key, "anthropic-version": "2023-06-01"}
    else:
        headers["Authorization"] = f"Bearer {key}"
    return PATHS[dialect], headers, body


def send(connection, path, headers, body, *, prefix=""):
    """Send a request and read the answer to its end, cut or not."""
    connection.request("POST", prefix + path, json.dumps(body), headers)
    answer = connection.getresponse()
    try:
        data, cut = answer.read(), False
    except http.client.IncompleteRead as broken:
        data, cut = broken.partial, True
    return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, data, cut)


def ask(address, dialect, *, prefix="", **wanted):
    """Send one request over a connection of its own."""
    connection = connect(address)
    try:
        return send(connection, *request(dialect, **wanted), prefix=prefix)
    finally:
        connection.close()


def _anthropic(results, says, command, output):
    messages = [{"role": "user", "content": says}]
    for number in range(results):
        call = {"id": f"call_{number}", "name": "Bash", "input": {"command": command}}
        messages.append({"role": "assistant", "content": [{"type": "tool_use", **call}]})
        result = {"type": "tool_result", "tool_use_id": f"call_{number}", "content": output}
        messages.append({"role": "user", "content": [result]})
    tool = {"name": "Bash", "description": "runs", "input_schema": SCHEMA}
    return {"max_tokens": 1000, "messages": messages, "tools": [tool]}


def _chat(results, says, command, output):
    messages = [{"role": "user", "content": says}]
    for number in range(results):
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": output})
    function = {"name": "bash", "parameters": SCHEMA}
    return {"messages": messages, "tools": [{"type": "function", "function": function}]}


def _responses(results, says, command, output):
    items = [{"type": "message", "role": "user", "content": says}]
    for number in range(results):
        arguments = json.dumps({"cmd": command})
        call = {"call_id": f"call_{number}", "name": "exec_command", "arguments": arguments}
        items.append({"type": "function_call", **call})
        result = {"call_id": f"call_{number}", "output": output}
        items.append({"type": "function_call_output", **result})
    schema = {"type": "object", "properties": {"cmd": {"type": "array"}}, "required": ["cmd"]}
    tool = {"type": "function", "name": "exec_command", "parameters": schema}
    return {"input": items, "tools": [{"type": "namespace", "name": "n", "tools": [tool]}]}


def _gemini(results, says, command, output):
    contents = [{"role": "user", "parts": [{"text": says}]}]
    for _ in range(results):
        call = {"name": "run_shell_command", "args": {"command": command}}
        contents.append({"role": "model", "parts": [{"functionCall": call}]})
        answer = {"name": "run_shell_command", "response": {"output": output}}
        contents.append({"role": "user", "parts": [{"functionResponse": answer}]})
    declaration = {"name": "run_shell_command", "parametersJsonSchema": SCHEMA}
    return {"contents": contents, "tools": [{"functionDeclarations": [declaration]}]}


_BODIES = {
    Dialect.ANTHROPIC: _anthropic,
    Dialect.CHAT: _chat,
    Dialect.RESPONSES: _responses,
}
