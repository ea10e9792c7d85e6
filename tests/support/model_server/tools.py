"""Finds the shell tool among those that a request offers, and builds arguments by its schema."""

from dataclasses import dataclass, field

SHELLS = (
    *("bash", "shell", "exec_command", "run_shell_command", "execute_bash", "terminal"),
    *("run_command", "execute_command", "shell_command", "local_shell"),
)
COMMANDS = ("command", "cmd", "script", "input")


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool as the request offers it; `schema` is the JSON schema of its arguments."""

    name: str
    schema: dict = field(default_factory=dict)


def shell_of(tools):
    """Return the first shell tool by our order, or None."""
    named = {tool.name.lower(): tool for tool in reversed(tools)}
    return next((named[name] for name in SHELLS if name in named), None)


def arguments(tool, command):
    """Return arguments that make the tool run a command line, with all that its schema requires."""
    properties = tool.schema.get("properties") or {}
    key = next((name for name in COMMANDS if name in properties), "command")
    is_list = properties.get(key, {}).get("type") in ("array", "ARRAY")
    built = {key: ["bash", "-c", command] if is_list else command}
    for name in tool.schema.get("required", ()):
        built.setdefault(name, _filler(properties.get(name, {})))
    return built


def _filler(schema):
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type", "string")).lower()
    by_kind = {"boolean": False, "integer": 120, "number": 120, "array": [], "object": {}}
    return by_kind.get(kind, "run the scripted command")
