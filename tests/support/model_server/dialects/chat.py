"""OpenAI Chat Completions."""

import json

from tests.support.model_server.dialects.openai import error, failed, failure, key_of
from tests.support.model_server.dialects.turn import Ask, pieces, require
from tests.support.model_server.tools import Tool

__all__ = ["WRITES_CACHE", "error", "events", "failed", "failure", "key_of", "parse", "whole"]
WRITES_CACHE = False


def parse(body, _headers, _path):
    require(body.get("messages"), "messages: [] is too short")
    functions = [tool["function"] for tool in body.get("tools", ()) if tool["type"] == "function"]
    options = body.get("stream_options") or {}
    return Ask(
        model=body["model"],
        stream=bool(body.get("stream")),
        tools=tuple(
            Tool(name=function["name"], schema=function.get("parameters") or {})
            for function in functions
        ),
        results=sum(message["role"] == "tool" for message in body["messages"]),
        wants_usage=bool(options.get("include_usage")),
    )


def whole(turn, ask, counts):
    message = {"role": "assistant", "content": turn.text or None}
    if turn.tool:
        message["tool_calls"] = [_call(turn)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(turn)}
    head = _head(ask, "chat.completion")
    return {**head, "choices": [choice], "usage": _usage(counts)}


def events(turn, ask, counts):
    yield _chunk(ask, {"role": "assistant", "content": "" if not turn.tool else None})
    if turn.tool:
        call = {**_call(turn), "index": 0}
        call["function"] = {"name": turn.tool, "arguments": ""}
        yield _chunk(ask, {"tool_calls": [call]})
        for part in pieces(json.dumps(turn.arguments)):
            yield _chunk(ask, {"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
    for part in () if turn.tool else pieces(turn.text):
        yield _chunk(ask, {"content": part})
    yield _chunk(ask, {}, reason=_reason(turn))
    if ask.wants_usage:
        head = _head(ask, "chat.completion.chunk")
        yield None, {**head, "choices": [], "usage": _usage(counts)}
    yield None, "[DONE]"


def _chunk(ask, delta, reason=None):
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return None, {**_head(ask, "chat.completion.chunk"), "choices": [choice]}


def _head(ask, kind):
    return {"id": "chatcmpl-0", "object": kind, "created": 1764000000, "model": ask.model}


def _call(turn):
    function = {"name": turn.tool, "arguments": json.dumps(turn.arguments)}
    return {"id": turn.call, "type": "function", "function": function}


def _reason(turn):
    return "tool_calls" if turn.tool else "stop"


def _usage(counts):
    return {
        "prompt_tokens": counts.input,
        "completion_tokens": counts.output,
        "total_tokens": counts.input + counts.output,
        "prompt_tokens_details": {"cached_tokens": counts.cache_read},
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning},
    }
