"""From what the user typed to values."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, cast

from reb_action import documents
from reb_action.agents import model
from reb_action.agents.catalogue import agent
from reb_action.agents.spec import AgentLimits
from reb_action.corpus import manifests
from reb_action.errors import UsageError
from reb_action.gateway import Budget
from reb_action.gateway.egress.proxy import parse_hosts
from reb_action.github.context import Context
from reb_action.model.agent import Key
from reb_action.model.manifest import Level, Manifest
from reb_action.model.plan import Plan, PlannedTrial
from reb_action.publish.options import ChecksMode, Choice, CommentMode
from reb_action.sandbox.protocol import Kind, Network
from reb_action.session.state import AgentChoice
from reb_action.trial.options import Options
from reb_action.workflow import inputs, safety
from reb_action.workflow import plan as planned

_LEVELS: Final = ", ".join(Level)

_REPEATS: Final = 100
"""How often an agent may ask or do the very same; more is a loop, which nobody has to pay for."""

_RESULTS: Final = Path("results")

_NO_AGENT: Final[Mapping[str, object]] = {
    "agent": "nop",
    "agent_argument": None,
    "agent_seconds": 3600,
    "idle_seconds": 1800,
    "attempt": 1,
    "model": None,
    "model_url": None,
    "direct_key": False,
    "disposable": False,
    "budget_calls": None,
    "budget_tokens": None,
    "budget_usd": None,
}


def options(chosen: Mapping[str, object]) -> Options:
    """Return the options of a trial from what the command line parsed; raises UsageError."""
    for name in (cast(str, chosen["repository"]), cast(str, chosen["agent"])):
        _demand_file(name)
    wanted = manifests.find(cast(str, chosen["repository"]))
    choice = _choice(chosen)
    folder = cast(Path | None, chosen["folder"]) or _folder(wanted, choice, chosen["attempt"])
    _demand_text(folder.absolute())
    return Options(
        manifest=wanted,
        agent=choice,
        folder=folder.absolute(),
        attempt=cast(int, chosen["attempt"]),
        kind=Kind(cast(str, chosen["sandbox"])),
        image=cast(str, chosen["image"]) if chosen["sandbox"] == Kind.DOCKER else None,
        mirror=cast(Path | None, chosen["mirror"]),
        gpus=cast(int, chosen["gpus"]),
        network=Network(cast(str, chosen["network"])),
        levels=parse_levels(cast(str, chosen["levels"])),
    )


def qualifying(chosen: Mapping[str, object]) -> Options:
    """Return the options of qualifying, where what works is a script of ours and no agent."""
    made = options({**_NO_AGENT, **chosen})
    if chosen["folder"] is not None:
        return made
    return replace(made, folder=(_RESULTS / f"{made.manifest.slug}.qualify").absolute())


def _choice(chosen: Mapping[str, object]) -> AgentChoice:
    name, argument = cast(str, chosen["agent"]), cast(str | None, chosen["agent_argument"])
    place = model.Place(
        kind=Kind(cast(str, chosen["sandbox"])),
        network=Network(cast(str, chosen["network"])),
        hosts=parse_hosts(cast(str, chosen["allow_hosts"])),
        disposable=cast(bool, chosen["disposable"]),
    )
    asked = model.Asked(
        model=cast(str | None, chosen["model"]),
        url=cast(str | None, chosen["model_url"]),
        key=Key.DIRECT if chosen["direct_key"] else Key.GATEWAY,
        budget=Budget(
            calls=cast(int | None, chosen["budget_calls"]),
            tokens=cast(int | None, chosen["budget_tokens"]),
            cost_usd=cast(float | None, chosen["budget_usd"]),
            repeats=_REPEATS,
        ),
    )
    return AgentChoice(
        name=name,
        argument=argument,
        total_seconds=cast(int, chosen["agent_seconds"]),
        setup_seconds=AgentLimits().setup_seconds,
        idle_seconds=cast(int, chosen["idle_seconds"]),
        model=model.choose(agent(name, argument=argument), asked, place),
        hosts=place.hosts,
    )


def _demand_text(folder: Path) -> None:
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        shown = documents.show(str(folder))
        raise UsageError(f"{shown} is not UTF-8 here; name another folder, or set LANG") from None


def _demand_file(name: str) -> None:
    if name.endswith((".yaml", ".yml")) and not Path(name).is_file():
        raise UsageError(
            f"there is no file {documents.show(name)} here; in a workflow, actions/checkout brings"
            " the files of your repository"
        )


def plan(chosen: Mapping[str, object], context: Context) -> Plan:
    """Return the plan that the command line asks for; raises UsageError for an unsafe one."""
    safety.demand_safe(context, cast(str, chosen["runs_on"]))
    wishes = inputs.wishes(cast(str, chosen["repositories"]), cast(str, chosen["agents"]))
    selection = planned.Selection(
        only=_words(chosen["only"]),
        without=_words(chosen["without"]),
        changed=inputs.changed(Path.cwd(), cast(str | None, chosen["changed_since"])),
    )
    dealing = planned.Dealing(
        jobs=cast(int, chosen["max_jobs"]),
        default_seconds=cast(int, chosen["agent_seconds"]),
        durations=inputs.durations(cast(Path | None, chosen["durations"])),
    )
    attempts = cast(int, chosen["attempts"])
    made = planned.make(wishes, attempts=attempts, selection=selection, dealing=dealing)
    safety.demand_model(
        made,
        model=cast(str | None, chosen["model"]),
        url=cast(str | None, chosen["model_url"]),
        has_key=cast(bool, chosen["has_model_key"]),
    )
    return made


def batch(
    chosen: Mapping[str, object], trials: Iterable[PlannedTrial], folder: Path
) -> list[tuple[str, Callable[[], Options]]]:
    """Return each trial of a batch with what makes its options; they are made when it begins."""
    return [(one.id, partial(options, {**chosen, **_of(one, folder)})) for one in trials]


def _of(wanted: PlannedTrial, folder: Path) -> dict[str, object]:
    return {
        "repository": wanted.repository,
        "agent": wanted.agent,
        "agent_argument": wanted.argument,
        "attempt": wanted.attempt,
        "folder": folder / wanted.id,
    }


def _words(text: object) -> tuple[str, ...]:
    return tuple(cast(str, text).replace(",", " ").split())


def parse_levels(text: str) -> tuple[Level, ...]:
    """Return the levels of a list such as `C0,C1`, in the order of the pyramid."""
    names = {name.strip().upper() for name in text.split(",") if name.strip()}
    if not names:
        raise UsageError(f"no level is named; the levels are {_LEVELS}")
    unknown = sorted(names - set(Level))
    if unknown:
        raise UsageError(
            f"there is no level {documents.show(unknown[0])}; the levels are {_LEVELS}"
        )
    return tuple(level for level in Level if level in names)


def _folder(wanted: Manifest, choice: AgentChoice, attempt: object) -> Path:
    name = Path(choice.name).stem if choice.name.endswith((".yaml", ".yml")) else choice.name
    return _RESULTS / f"{wanted.slug}.{name}.{attempt}"


def publish_options(chosen: Mapping[str, object]) -> Choice:
    """Return what the command line asks for; raises UsageError."""
    key = cast(str, chosen["key"])
    if re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", key) is None:
        raise UsageError(f"the key is {key[:60]!r}; use at most 40 of a-z, 0-9 and -")
    return Choice(
        key=key,
        comment=CommentMode(cast(str, chosen["comment"])),
        checks=ChecksMode(cast(str, chosen["checks"])),
        leaderboard=cast(bool, chosen["leaderboard"]),
    )
