"""The type of an agent; `catalogue` reads it from a YAML file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from reb_action.model.agent import Dialect


class Need(StrEnum):
    """The requirements of an agent on its sandbox, or on the manifest."""

    NETWORK = "network"
    SETUP = "setup"


class Takes(StrEnum):
    """The kind of argument that the user must give an agent."""

    NOTHING = "nothing"
    COMMAND = "command"
    FOLDER = "folder"


class Source(StrEnum):
    """Where an agent's program is installed from."""

    NPM = "npm"
    PYPI = "pypi"
    GIT = "git"


class Stdin(StrEnum):
    """The content of an agent's standard input."""

    NONE = "none"
    PROMPT = "prompt"


class Task(StrEnum):
    """Which of the paper's tasks an agent had: that of most agents, or NexAU's own."""

    COMMON = "common"
    NEXAU = "nexau"


class Parser(StrEnum):
    """The parser of an agent's events; with `none` report, exit code and gateway decide."""

    NONE = "none"
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    OPENCODE = "opencode"
    GEMINI_CLI = "gemini-cli"
    QWEN_CODE = "qwen-code"
    MINI_SWE_AGENT = "mini-swe-agent"
    NEXAU = "nexau"


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentLimits:
    """The time limits of the agent, of its set-up, and of silence of the agent and its model."""

    total_seconds: int = 3600
    setup_seconds: int = 600
    idle_seconds: int = 1800


@dataclass(frozen=True, kw_only=True, slots=True)
class Install:
    """One pinned package below `{cli}`; `lock` pins, by hash, all that comes with it.

    `version` is a release, of a git repository the full hash of a commit. `python` is the version
    of Python that a package of `pypi` or `git` runs on.
    """

    source: Source
    package: str
    version: str
    python: str | None = None
    lock: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentFile:
    """A file in `{agent}` or `{state}`; placeholders are replaced in a `text`."""

    name: str
    content: bytes = field(repr=False)
    text: bool = False
    executable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PaperSetup:
    """How the paper ran an agent: as root or not, and with which task."""

    root: bool = False
    task: Task = Task.COMMON


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSpec:
    """An agent as defined in its file; `command` is the user's value of `{command}` in `argv`.

    `sessions` are patterns of files in `{state}` that the agent writes about its own run. `resume`
    is the command that continues its last session after an interruption; empty: it cannot. `paper`
    applies with the paper's protocol only.
    """

    name: str
    title: str
    argv: tuple[str, ...]
    resume: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    takes: Takes = Takes.NOTHING
    dialect: Dialect | None = None
    install: Install | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    files: tuple[AgentFile, ...] = ()
    state: tuple[AgentFile, ...] = ()
    stdin: Stdin = Stdin.NONE
    parser: Parser = Parser.NONE
    sessions: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    paper: PaperSetup = field(default_factory=PaperSetup)
