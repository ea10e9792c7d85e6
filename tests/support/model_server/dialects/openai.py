"""What both dialects of OpenAI share."""

KINDS = {400: "invalid_request_error", 401: "invalid_request_error", 429: "rate_limit_exceeded"}
CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


def key_of(headers, _query):
    return headers.get("authorization", "").removeprefix("Bearer ")


def failed(_ask, message):
    return error(500, message)


def failure(_ask, message):
    return None, error(500, message)


def error(status, message):
    return {
        "error": {
            "message": message,
            "type": KINDS.get(status, "server_error"),
            "param": None,
            "code": CODES.get(status),
        }
    }
