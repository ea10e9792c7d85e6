"""Anthropic Messages."""

import json

from tests.support.model_server.dialects.turn import Ask, pieces, require
from tests.support.model_server.tools import Tool

WRITES_CACHE = True
KINDS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error"}
KINDS |= {404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error"}
KINDS |= {500: "api_error", 529: "overloaded_error"}


def key_of(headers, _query):
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    return headers.get("x-api-key") or bearer


def parse(body, headers, _path):
    require(headers.get("anthropic-version"), "anthropic-version: header is required")
    require(isinstance(body.get("max_tokens"), int), "max_tokens: Field required")
    require(body.get("messages"), "messages: at least one message is required")
    blocks = [
        block
        for message in body["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    tools = [
        Tool(name=tool.get("name", ""), schema=tool.get("input_schema", {}))
        for tool in body.get("tools", ())
    ]
    return Ask(
        model=body["model"],
        stream=bool(body.get("stream")),
        tools=tuple(tools),
        results=sum(block.get("type") == "tool_result" for block in blocks),
    )


def whole(turn, ask, counts):
    return {
        **_message(ask),
        "content": [_block(turn)],
        "stop_reason": _reason(turn),
        "usage": {**_input(counts), "output_tokens": counts.output},
    }


def events(turn, ask, counts):
    usage = {**_input(counts), "output_tokens": 1}
    yield _event("message_start", message={**_message(ask), "content": [], "usage": usage})
    yield _event("ping")
    if turn.tool:
        start = {**_block(turn), "input": {}}
        parts = pieces(json.dumps(turn.arguments))
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    else:
        start = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": part} for part in pieces(turn.text)]
    yield _event("content_block_start", index=0, content_block=start)
    for delta in deltas:
        yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    delta = {"stop_reason": _reason(turn), "stop_sequence": None}
    # Cumulative, as the vendor sends it; NexAU 0.3.4 reads the input from here alone.
    usage = {**_input(counts), "output_tokens": counts.output}
    yield _event("message_delta", delta=delta, usage=usage)
    yield _event("message_stop")


def error(status, message):
    kind = KINDS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_0"}


def failed(_ask, message):
    return error(529, message)


def failure(_ask, message):
    return _event("error", error={"type": "overloaded_error", "message": message})


def _event(kind, **fields):
    return kind, {"type": kind, **fields}


def _message(ask):
    return {
        # Claude Code joins messages of one id.
        "id": f"msg_{ask.results}",
        "type": "message",
        "role": "assistant",
        "model": ask.model,
        "stop_reason": None,
        "stop_sequence": None,
    }


def _block(turn):
    if turn.tool:
        return {"type": "tool_use", "id": turn.call, "name": turn.tool, "input": turn.arguments}
    return {"type": "text", "text": turn.text}


def _reason(turn):
    return "tool_use" if turn.tool else "end_turn"


def _input(counts):
    return {
        "input_tokens": counts.fresh,
        "cache_read_input_tokens": counts.cache_read,
        "cache_creation_input_tokens": counts.cache_write,
    }
