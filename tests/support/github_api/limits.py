"""What GitHub enforces and its description does not say; each with where that is known from."""

COMMENT_CHARACTERS = 65_536
"""422 `Body is too long`: peter-evans/create-or-update-comment#181."""
CHECK_BYTES = 65_535
"""Told as characters, counted in bytes: github/docs#35252, dorny/test-reporter#57."""
ANNOTATION_BYTES = 64_000
"""Told in the description's prose only, as 64 KB: the smaller reading."""
ANNOTATION_TITLE = 255
"""Told in the description's prose only."""
HOURLY = 1_000
"""Requests of a job's token, per repository; none on an Enterprise Server."""
CONTENT_PER_MINUTE = 80
"""Secondary limit on what creates content."""
CONTENT_PER_HOUR = 500
"""As above."""
PER_PAGE = (30, 100)
"""The default and the most; more is taken as the most."""


def comment_fault(body):
    """Return what GitHub says of a comment's text, or None."""
    if not body["body"].strip():
        return "Body cannot be blank"
    if len(body["body"]) > COMMENT_CHARACTERS:
        return f"Body is too long (maximum is {COMMENT_CHARACTERS} characters)"
    return None


def check_fault(body):
    """Return what GitHub says of a check run, or None."""
    if body.get("status") == "completed" and "conclusion" not in body:
        return "conclusion is required for a completed check run"
    output = body.get("output", {})
    for name in ("summary", "text"):
        if len(output.get(name, "").encode()) > CHECK_BYTES:
            return f"{name} exceeds a maximum bytesize of {CHECK_BYTES}"
    for one in output.get("annotations", ()):
        if len(one["message"].encode()) > ANNOTATION_BYTES:
            return f"message exceeds a maximum bytesize of {ANNOTATION_BYTES}"
        if len(one.get("title", "")) > ANNOTATION_TITLE:
            return f"title is too long (maximum is {ANNOTATION_TITLE} characters)"
        if one["end_line"] < one["start_line"]:
            return "end_line must not be before start_line"
    return None
