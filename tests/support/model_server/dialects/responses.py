"""OpenAI Responses."""

import json

from tests.support.model_server.dialects.openai import error, key_of
from tests.support.model_server.dialects.turn import Ask, pieces, require
from tests.support.model_server.tools import Tool

__all__ = ["WRITES_CACHE", "error", "events", "key_of", "parse", "whole"]
WRITES_CACHE = False
RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def parse(body, _headers, _path):
    require(body.get("input"), "Missing required parameter: 'input'.")
    items = body["input"] if isinstance(body["input"], list) else []
    return Ask(
        model=body["model"],
        stream=bool(body.get("stream")),
        tools=tuple(_tools(body.get("tools", ()))),
        results=sum(item.get("type") in RESULTS for item in items),
    )


def whole(turn, ask, counts):
    item = _item(turn, "completed")
    return {**_response(ask, "completed"), "output": [item], "usage": _usage(counts)}


def events(turn, ask, counts):
    for number, (kind, fields) in enumerate(_steps(turn, ask, counts)):
        yield kind, {"type": kind, "sequence_number": number, **fields}


def _steps(turn, ask, counts):
    yield "response.created", {"response": _response(ask, "in_progress")}
    yield "response.in_progress", {"response": _response(ask, "in_progress")}
    started = {"output_index": 0, "item": _item(turn, "in_progress")}
    yield "response.output_item.added", started
    yield from _call(turn) if turn.tool else _text(turn)
    yield "response.output_item.done", {"output_index": 0, "item": _item(turn, "completed")}
    yield "response.completed", {"response": whole(turn, ask, counts)}


def failed(ask, message):
    fault = {"code": "rate_limit_exceeded", "message": message}
    return {**_response(ask, "failed"), "error": fault}


def failure(ask, message):
    kind = "response.failed"
    return kind, {"type": kind, "sequence_number": 99, "response": failed(ask, message)}


def _call(turn):
    place = {"item_id": "item_0", "output_index": 0}
    text = json.dumps(turn.arguments)
    for part in pieces(text):
        yield "response.function_call_arguments.delta", {**place, "delta": part}
    yield "response.function_call_arguments.done", {**place, "arguments": text}


def _text(turn):
    place = {"item_id": "item_0", "output_index": 0, "content_index": 0}
    yield "response.content_part.added", {**place, "part": _part("")}
    for part in pieces(turn.text):
        yield "response.output_text.delta", {**place, "delta": part, "logprobs": []}
    yield "response.output_text.done", {**place, "text": turn.text, "logprobs": []}
    yield "response.content_part.done", {**place, "part": _part(turn.text)}


def _tools(tools):
    for tool in tools:
        if tool["type"] == "function":
            yield Tool(name=tool["name"], schema=tool.get("parameters") or {})
        elif tool["type"] == "namespace":
            yield from _tools(tool["tools"])


def _response(ask, status):
    return {
        "id": "resp_0",
        "object": "response",
        "created_at": 1764000000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": ask.model,
        "output": [],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
    }


def _item(turn, status):
    done = status == "completed"
    if turn.tool:
        arguments = json.dumps(turn.arguments) if done else ""
        call = {"call_id": turn.call, "name": turn.tool, "arguments": arguments}
        return {"type": "function_call", "id": "item_0", "status": status, **call}
    content = [_part(turn.text)] if done else []
    message = {"role": "assistant", "content": content}
    return {"type": "message", "id": "item_0", "status": status, **message}


def _part(text):
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(counts):
    return {
        "input_tokens": counts.input,
        "input_tokens_details": {"cached_tokens": counts.cache_read},
        "output_tokens": counts.output,
        "output_tokens_details": {"reasoning_tokens": counts.reasoning},
        "total_tokens": counts.input + counts.output,
    }
