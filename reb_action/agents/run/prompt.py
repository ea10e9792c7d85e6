"""Writes the task that an agent is given, by the protocol of its trial."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from reb_action.agents.spec import Task
from reb_action.gateway.settings import Budget
from reb_action.model.agent import Protocol
from reb_action.sandbox.layout import SandboxLayout
from reb_action.session.report import ENVIRONMENT

RETRY_NOTE: Final = (
    "\n\nYour last run left no valid report. Do nothing else now: write the report as described"
    " above, from what is installed, and check that it can be parsed.\n"
)
"""The note that the paper's harness adds to the task of a second start, reworded."""

_RESUME_NOTE: Final = (
    "You were interrupted: this machine's sandbox was stopped and started again. Files are as they"
    " were; commands that were running have ended. Continue the task where you were. You have"
    " {left} ({seconds} seconds) left from now.\n"
)

_FOLDER: Final = Path(__file__).with_name("prompts")


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskFacts:
    """The facts of one trial in its task; `isolated`: the agent has its own container.

    `memory_mib` and `disk_mib` are None without such a limit. `budget` has one line for each limit.
    """

    repository: str
    total_seconds: int
    idle_seconds: int
    root: bool = False
    isolated: bool = True
    network: str = "open"
    hosts: tuple[str, ...] = ()
    memory_mib: int | None = None
    disk_mib: int | None = None
    gpus: int = 0
    budget: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """The task for one trial; `template_sha256` is the same for all trials of one version."""

    text: str
    sha256: str
    template_sha256: str


def write_prompt(
    layout: SandboxLayout, facts: TaskFacts, *, protocol: Protocol, task: Task = Task.COMMON
) -> Prompt:
    """Return the task of a protocol; `task` is which of the paper's two an agent had."""
    name = _template_name(protocol, task)
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - the result is Markdown for a model
    )
    environment.filters |= {"duration": say_duration, "plain": _plain}
    text = environment.get_template(name).render(
        facts=facts,
        repo=layout.repository,
        report=layout.report,
        home=layout.home,
        environment=", ".join(f"`{name}`" for name in ENVIRONMENT),
    )
    template = (_FOLDER / name).read_text(encoding="utf-8")
    return Prompt(text=text, sha256=_sha256(text), template_sha256=_sha256(template))


def write_resume_note(seconds: int) -> str:
    """Return the message to an agent that continues its session with `seconds` left."""
    return _RESUME_NOTE.format(left=say_duration(seconds), seconds=seconds)


def list_budget(budget: Budget) -> tuple[str, ...]:
    """Return the text of each limit of a budget."""
    limits = (
        (budget.calls, "call of the model", "calls of the model"),
        (budget.tokens, "token, input and output together", "tokens, input and output together"),
        (budget.cost_usd, "US dollar at list prices", "US dollars at list prices"),
    )
    return tuple(
        f"{_plain(limit)} {one if limit == 1 else many}"
        for limit, one, many in limits
        if limit is not None
    )


def say_duration(seconds: int) -> str:
    """Return a time in whole minutes if possible, otherwise in seconds."""
    number, unit = (seconds // 60, "minute") if seconds % 60 == 0 else (seconds, "second")
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _template_name(protocol: Protocol, task: Task) -> str:
    if protocol is Protocol.STANDARD:
        return "standard.md.j2"
    return "paper_nexau.md.j2" if task is Task.NEXAU else "paper.md.j2"


def _plain(number: float) -> str:
    return f"{number:g}" if number < 1_000_000 and number % 1 else f"{round(number)}"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
