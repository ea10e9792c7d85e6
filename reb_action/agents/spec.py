"""What an agent is, as a value; `catalogue` reads it from a YAML file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from reb_action.model.agent import Dialect


class Need(StrEnum):
    """What an agent needs of its sandbox."""

    NETWORK = "network"


class Takes(StrEnum):
    """What the user must give an agent."""

    NOTHING = "nothing"
    COMMAND = "command"
    FOLDER = "folder"


class Source(StrEnum):
    """Where an agent's program is installed from."""

    NPM = "npm"
    PYPI = "pypi"
    GIT = "git"


class Stdin(StrEnum):
    """What an agent reads from its standard input."""

    NONE = "none"
    PROMPT = "prompt"


class Task(StrEnum):
    """Which of the paper's tasks an agent had: that of most agents, or NexAU's own."""

    COMMON = "common"
    NEXAU = "nexau"


class Parser(StrEnum):
    """Who reads an agent's events; with `none` exit code, report and gateway tell how it ended."""

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
    """The agent's clock, that of its setup, and how long neither it nor its model may be silent."""

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
    """A file below `{agent}` or `{state}`; names in braces are replaced where it is `text`."""

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
    """An agent as its file says; `command` is what the user gave for `{command}` in `argv`.

    `sessions` are patterns of files below `{state}` that the agent writes about its own run.
    `resume` continues its last session after it was interrupted; empty: it cannot. `paper` applies
    with the paper's protocol alone.
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
