"""Gemini generateContent."""

from tests.support.model_server.dialects.turn import Ask, Turn, pieces, require
from tests.support.model_server.tools import Tool

WRITES_CACHE = False
KINDS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED"}
KINDS |= {404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}


def key_of(headers, query):
    return headers.get("x-goog-api-key") or query.get("key", [""])[0]


def parse(body, _headers, path):
    require(body.get("contents"), "* GenerateContentRequest.contents: contents is not specified")
    model, _, method = path.rpartition("/")[2].partition(":")
    declared = [
        declaration
        for tool in body.get("tools", ())
        for declaration in tool.get("functionDeclarations", ())
    ]
    return Ask(
        model=model,
        stream=method == "streamGenerateContent",
        tools=tuple(Tool(name=one["name"], schema=_schema(one)) for one in declared),
        results=sum(
            "functionResponse" in part
            for content in body["contents"]
            for part in content.get("parts", ())
        ),
    )


def whole(turn, ask, counts):
    call = {"functionCall": {"name": turn.tool, "args": turn.arguments}}
    return _answer(ask, call if turn.tool else {"text": turn.text}, counts, end=True)


def events(turn, ask, counts):
    parts = [] if turn.tool else pieces(turn.text)
    for part in parts[:-1]:
        yield None, _answer(ask, {"text": part}, counts, end=False)
    end = turn if turn.tool else Turn(text=parts[-1] if parts else "")
    yield None, whole(end, ask, counts)


def error(status, message):
    kind = KINDS.get(status, "INTERNAL")
    return {"error": {"code": status, "message": message, "status": kind}}


def failed(_ask, message):
    return error(503, message)


def failure(_ask, message):
    return None, error(503, message)


def _schema(declaration):
    return declaration.get("parametersJsonSchema") or declaration.get("parameters") or {}


def _answer(ask, part, counts, *, end):
    candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
    if end:
        candidate["finishReason"] = "STOP"
    thoughts = counts.reasoning
    usage = {"promptTokenCount": counts.input, "cachedContentTokenCount": counts.cache_read}
    if end:
        usage |= {"candidatesTokenCount": counts.output - thoughts, "thoughtsTokenCount": thoughts}
        usage["totalTokenCount"] = counts.input + counts.output
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": ask.model,
        "responseId": "answer-0",
    }
