"""The agents there are: YAML files of `definitions/` or of the user, each read into a value."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from reb_action.agents.argument import with_argument
from reb_action.agents.spec import (
    AgentFile,
    AgentSpec,
    Install,
    Need,
    PaperSetup,
    Parser,
    Source,
    Stdin,
    Takes,
    Task,
)
from reb_action.documents import Json, find_problem, read_bytes, read_input, show
from reb_action.documents.strict_yaml import parse_yaml
from reb_action.errors import DocumentError, UsageError
from reb_action.model.agent import Dialect

AGENTS: Final = (
    *("nop", "replay", "command", "pip", "uv", "documented"),
    *("claude-code", "codex", "opencode", "gemini-cli", "qwen-code", "mini-swe-agent", "nexau"),
    "nexau-paper",
)
"""The agents that come with us, each a file of `definitions/`."""

NAMES: Final = frozenset(
    {
        *("repo", "home", "report", "agent", "prompt_file", "deadline_seconds", "tmp"),
        *("state", "cli", "prompt_json"),
    }
)
"""What texts of an agent may name in braces."""

MODEL_NAMES: Final = frozenset({"base_url", "key", "model"})
"""Additional placeholders of agents with a dialect, that is, with a model."""

_COMMAND: Final = "{command}"
_LIMIT_BYTES: Final = 256 * 1024
_LOCK_BYTES: Final = 1024 * 1024
_DEFINITIONS: Final = Path(__file__).parent / "definitions"
_PROGRAMS: Final = Path(__file__).parent / "inside"


def agent(name: str, *, argument: str | None = None) -> AgentSpec:
    """Return one of AGENTS, or the agent of a YAML file, with the user's argument.

    Raises UsageError for a wrong name or argument, DocumentError for a wrong file.
    """
    if name in AGENTS:
        return with_argument(load_packaged(name), argument)
    if name.endswith((".yaml", ".yml")):
        return with_argument(load(Path(name)), argument)
    raise UsageError(
        f"there is no agent {show(name)}; name a file ending in .yaml or one of: "
        + ", ".join(AGENTS)
    )


def load_packaged(name: str) -> AgentSpec:
    """Read one of AGENTS, without the user's argument."""
    return load(_DEFINITIONS / f"{name}.yaml")


def load(path: Path) -> AgentSpec:
    """Read the file of an agent; raises DocumentError that names file, key and value."""
    data = parse_yaml(read_input(path, limit=_LIMIT_BYTES), path.name)
    fault = find_problem(data, "agent") or next(_faults(cast(dict[str, Json], data)), None)
    if fault is not None:
        raise DocumentError(f"{path.name}: {fault}")
    spec = _spec(cast(dict[str, Json], data), lock=path.with_suffix(".lock"))
    if spec.name != path.stem:
        raise DocumentError(f"{path.name}: the agent {spec.name} belongs in {spec.name}.yaml")
    return spec


def _faults(data: dict[str, Json]) -> Iterator[str]:
    argv = cast(list[str], data["argv"])
    if (_COMMAND in argv) != (data.get("takes") == Takes.COMMAND):
        yield f"{_COMMAND} must be in argv if takes is command, and only then"
    env = cast(dict[str, str], data.get("env", {}))
    files = [file for key in ("files", "state") for file in _mapping(data, key).values()]
    resume = cast(list[str], data.get("resume", []))
    words = (word for word in (*argv, *resume) if word != _COMMAND)
    texts = (*words, *env.values(), *(file for file in files if isinstance(file, str)))
    known = NAMES | MODEL_NAMES if "dialect" in data else NAMES
    for name in (name for text in texts for name in re.findall(r"\{([a-z_]+)\}", text)):
        if name in MODEL_NAMES - known:
            yield f"only an agent with a dialect can use {{{name}}}"
        elif name not in known:
            yield f"{{{name}}} is not known; use one of {', '.join(sorted(known))}"
    install = _mapping(data, "install")
    if ("git" in install) != bool(re.fullmatch("[0-9a-f]{40}", str(install.get("version", "")))):
        yield "install.version: give a commit of 40 digits (git) or a release (package)"
    for file in files:
        if isinstance(file, dict) and not (_PROGRAMS / str(file["packaged"])).is_file():
            yield f"files: there is no packaged file {show(file['packaged'])}"


def _spec(data: dict[str, Json], *, lock: Path) -> AgentSpec:
    return AgentSpec(
        name=cast(str, data["name"]),
        title=cast(str, data["title"]),
        argv=_texts(data, "argv"),
        resume=_texts(data, "resume"),
        needs=tuple(Need(need) for need in _texts(data, "needs")),
        takes=Takes(cast(str, data.get("takes", Takes.NOTHING))),
        dialect=Dialect(cast(str, data["dialect"])) if "dialect" in data else None,
        install=_install(_mapping(data, "install"), lock) if "install" in data else None,
        env=cast(dict[str, str], data.get("env", {})),
        files=tuple(_file(*item) for item in _mapping(data, "files").items()),
        state=tuple(_file(*item) for item in _mapping(data, "state").items()),
        stdin=Stdin(cast(str, data.get("stdin", Stdin.NONE))),
        parser=Parser(cast(str, data.get("parser", Parser.NONE))),
        sessions=_texts(data, "sessions"),
        paper=_paper(_mapping(data, "paper")),
    )


def _paper(data: dict[str, Json]) -> PaperSetup:
    return PaperSetup(
        root=cast(bool, data.get("root", False)),
        task=Task(cast(str, data.get("task", Task.COMMON))),
    )


def _install(data: dict[str, Json], lock: Path) -> Install:
    source = next(source for source in Source if source in data)
    return Install(
        source=source,
        package=cast(str, data[source]),
        version=cast(str, data["version"]),
        python=cast("str | None", data.get("python")),
        lock=read_bytes(lock, limit=_LOCK_BYTES) if lock.is_file() else None,
    )


def _mapping(data: dict[str, Json], key: str) -> dict[str, Json]:
    return cast(dict[str, Json], data.get(key, {}))


def _texts(data: dict[str, Json], key: str) -> tuple[str, ...]:
    return tuple(cast(list[str], data.get(key, [])))


def _file(name: str, value: Json) -> AgentFile:
    if isinstance(value, dict):
        return AgentFile(name=name, content=(_PROGRAMS / str(value["packaged"])).read_bytes())
    return AgentFile(name=name, content=str(value).encode(), text=True)
