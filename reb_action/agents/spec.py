"""What an agent is: a YAML file of this folder, or of the user's, read into a value."""

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Final, assert_never, cast

import yaml

from reb_action.documents import Json, problem, read_bytes, show
from reb_action.errors import DocumentError, UsageError

AGENTS: Final = ("nop", "replay", "command", "pip", "uv")
"""The agents that come with us, each a file of this folder."""

NAMES: Final = frozenset(
    {"repo", "home", "report", "agent", "prompt_file", "deadline_seconds", "tmp"}
)
"""What texts of an agent may name in braces."""

_COMMAND: Final = "{command}"
_LIMIT_BYTES: Final = 256 * 1024
_FOLDER_BYTES: Final = 64 * 1024 * 1024
_HERE: Final = Path(__file__).parent


class Need(StrEnum):
    """What an agent needs of its sandbox."""

    NETWORK = "network"


class Takes(StrEnum):
    """What the user must give an agent."""

    NOTHING = "nothing"
    COMMAND = "command"
    FOLDER = "folder"


class Install(StrEnum):
    """How an agent is installed."""

    NONE = "none"


class Stdin(StrEnum):
    """What an agent reads from its standard input."""

    NONE = "none"
    PROMPT = "prompt"


class Parser(StrEnum):
    """Who reads the output of an agent; with `none` the report alone tells how it ended."""

    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentLimits:
    """The agent's clock and, apart from it, that of its setup."""

    total_seconds: int = 3600
    setup_seconds: int = 600


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentFile:
    """A file below `{agent}`; names in braces are replaced where it is `text`."""

    name: str
    content: bytes = field(repr=False)
    text: bool = False
    executable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSpec:
    """An agent as its file says; `command` is what the user gave for `{command}` in `argv`."""

    name: str
    title: str
    argv: tuple[str, ...]
    needs: tuple[Need, ...] = ()
    takes: Takes = Takes.NOTHING
    install: Install = Install.NONE
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    files: tuple[AgentFile, ...] = ()
    stdin: Stdin = Stdin.NONE
    parser: Parser = Parser.NONE
    limits: AgentLimits = field(default_factory=AgentLimits)
    command: tuple[str, ...] = ()


def agent(name: str, *, argument: str | None = None) -> AgentSpec:
    """Return one of AGENTS, or the agent of a YAML file, with what the user gave it.

    Raises UsageError for a wrong name or argument, DocumentError for a wrong file.
    """
    if name in AGENTS:
        return _with_argument(load(_HERE / f"{name}.yaml"), argument)
    if name.endswith((".yaml", ".yml")):
        return _with_argument(load(Path(name)), argument)
    raise UsageError(
        f"there is no agent {show(name)}; name a file ending in .yaml or one of: "
        + ", ".join(AGENTS)
    )


def load(path: Path) -> AgentSpec:
    """Read the file of an agent; raises DocumentError that names file, key and value."""
    try:
        data = cast(Json, yaml.safe_load(read_bytes(path, limit=_LIMIT_BYTES)))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        clause = str(error).splitlines()[0]
        raise DocumentError(f"{path.name}: not readable as YAML: {clause}") from None
    fault = problem(data, "agent") or next(_faults(cast(dict[str, Json], data)), None)
    if fault is not None:
        raise DocumentError(f"{path.name}: {fault}")
    spec = _spec(cast(dict[str, Json], data))
    if spec.name != path.stem:
        raise DocumentError(f"{path.name}: the agent {spec.name} belongs in {spec.name}.yaml")
    return spec


def _faults(data: dict[str, Json]) -> Iterator[str]:
    argv = cast(list[str], data["argv"])
    if (_COMMAND in argv) != (data.get("takes") == Takes.COMMAND):
        yield f"{_COMMAND} stands in argv exactly when takes is command"
    env = cast(dict[str, str], data.get("env", {}))
    files = cast(dict[str, Json], data.get("files", {})).values()
    words = (word for word in argv if word != _COMMAND)
    texts = (*words, *env.values(), *(file for file in files if isinstance(file, str)))
    for name in (name for text in texts for name in re.findall(r"\{([a-z_]+)\}", text)):
        if name not in NAMES:
            yield f"{{{name}}} is not known; use one of {', '.join(sorted(NAMES))}"
    for file in files:
        if isinstance(file, dict) and not (_HERE / str(file["packaged"])).is_file():
            yield f"files: there is no packaged file {show(file['packaged'])}"


def _spec(data: dict[str, Json]) -> AgentSpec:
    return AgentSpec(
        name=cast(str, data["name"]),
        title=cast(str, data["title"]),
        argv=tuple(cast(list[str], data["argv"])),
        needs=tuple(Need(need) for need in cast(list[str], data.get("needs", []))),
        takes=Takes(cast(str, data.get("takes", Takes.NOTHING))),
        install=Install(cast(str, data.get("install", Install.NONE))),
        env=cast(dict[str, str], data.get("env", {})),
        files=tuple(_file(*item) for item in cast(dict[str, Json], data.get("files", {})).items()),
        stdin=Stdin(cast(str, data.get("stdin", Stdin.NONE))),
        parser=Parser(cast(str, data.get("parser", Parser.NONE))),
        limits=AgentLimits(**cast(dict[str, int], data.get("limits", {}))),
    )


def _file(name: str, value: Json) -> AgentFile:
    if isinstance(value, dict):
        return AgentFile(name=name, content=(_HERE / str(value["packaged"])).read_bytes())
    return AgentFile(name=name, content=str(value).encode(), text=True)


def _with_argument(spec: AgentSpec, argument: str | None) -> AgentSpec:
    match spec.takes:
        case Takes.NOTHING if argument is None:
            return spec
        case Takes.NOTHING:
            raise UsageError(f"the agent {spec.name} takes no argument; leave it out")
        case Takes.COMMAND:
            return replace(spec, command=_words(spec.name, argument or ""))
        case Takes.FOLDER:
            return replace(spec, files=(*spec.files, *_folder(spec.name, argument or "")))
        case _:
            assert_never(spec.takes)


def _words(name: str, line: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"the command line of the agent {name}: {error}".lower()) from None
    if not words:
        raise UsageError(f"the agent {name} needs a command line as its argument")
    return words


def _folder(name: str, text: str) -> tuple[AgentFile, ...]:
    folder = Path(text)
    if not text or not folder.is_dir():
        raise UsageError(f"the agent {name} needs a folder as its argument; {show(text)} is none")
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    if sum(path.stat().st_size for path in paths) > _FOLDER_BYTES:
        raise UsageError(f"{folder} holds more than {_FOLDER_BYTES} bytes; give a smaller folder")
    return tuple(
        AgentFile(
            name=f"folder/{path.relative_to(folder)}",
            content=path.read_bytes(),
            executable=bool(path.stat().st_mode & 0o100),
        )
        for path in paths
    )
