"""Turns contestants of a file or of options into agents with their models and budgets."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeVar

from reb_action.agents import model
from reb_action.agents.catalogue import agent
from reb_action.agents.contestant import identify
from reb_action.agents.contestants_file import parse_agents, read_contestants
from reb_action.agents.spec import AgentSpec
from reb_action.cli.groups import ModelOptions, RunnerOptions, TrialOptions, WhoOptions
from reb_action.documents import show
from reb_action.errors import UsageError
from reb_action.gateway.egress.hosts import parse_hosts
from reb_action.gateway.settings import Budget
from reb_action.model.agent import Key, Protocol
from reb_action.model.contestant import Contestant, ContestantEntry
from reb_action.model.quantity import count
from reb_action.sandbox.protocol import Network
from reb_action.session.state import AgentChoice

T = TypeVar("T")
_OF_A_MODEL: Final = (
    *("model", "model_url", "key", "budget_calls", "budget_tokens", "budget_usd"),
    *("repeat_limit", "accept_other_model", "direct_key"),
)
"""What only a contestant with a model has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contender:
    """A contestant that can run: its entry, its agent, and the runner's options with its own."""

    contestant: Contestant
    entry: ContestantEntry
    choice: AgentChoice
    runner: RunnerOptions
    agent_name: str


def read_contenders(who: WhoOptions, runner: RunnerOptions) -> dict[str, Contender]:
    """Return the contestants by their ids; raises UsageError or DocumentError."""
    entries = (
        parse_agents(who.agents) if who.contestants is None else read_contestants(who.contestants)
    )
    contenders: dict[str, Contender] = {}
    for contender in _contenders(entries, runner):
        name = contender.contestant.id
        # File systems of runners ignore case.
        if name.lower() in {known.lower() for known in contenders}:
            raise UsageError(f"two contestants are called {name}; give each a different id")
        contenders[name] = contender
    return contenders


def apply_file(trial: TrialOptions, runner: RunnerOptions) -> tuple[TrialOptions, RunnerOptions]:
    """Return a trial's options with those of its contestant, if it names a contestants file."""
    if trial.contestants is None:
        return trial, runner
    entry = _find_entry(trial.contestants, trial.contestant, runner)
    chosen = replace(trial, agent=entry.agent, agent_argument=entry.argument)
    return chosen, apply_entry(entry, runner)


def apply_entry(entry: ContestantEntry, runner: RunnerOptions) -> RunnerOptions:
    """Return a runner's options, overridden by the contestant's own."""
    options = runner.model_options
    return replace(
        runner,
        agent_seconds=_first(entry.agent_seconds, runner.agent_seconds),
        idle_seconds=_first(entry.idle_seconds, runner.idle_seconds),
        protocol=runner.protocol if entry.protocol is None else Protocol(entry.protocol),
        model_options=replace(
            options,
            model=_first(entry.model, options.model),
            model_url=_first(entry.model_url, options.model_url),
            budget_calls=_first(entry.budget_calls, options.budget_calls),
            budget_tokens=_first(entry.budget_tokens, options.budget_tokens),
            budget_usd=_first(entry.budget_usd, options.budget_usd),
            repeat_limit=_first(entry.repeat_limit, options.repeat_limit),
            accept_other_model=_first(entry.accept_other_model, options.accept_other_model),
            direct_key=_first(entry.direct_key, options.direct_key),
        ),
    )


def choose_agent(name: str, argument: str | None, runner: RunnerOptions) -> AgentChoice:
    """Return an agent with its model; raises UsageError for a pair that cannot work."""
    place = model.Place(
        kind=runner.place.sandbox,
        network=Network(runner.place.network),
        hosts=parse_hosts(runner.place.allow_hosts),
        disposable=runner.model_options.disposable,
    )
    spec = agent(name, argument=argument)
    is_paper = runner.protocol is Protocol.PAPER
    return AgentChoice(
        name=name,
        argument=argument,
        total_seconds=runner.agent_seconds,
        setup_seconds=runner.setup_seconds,
        # The paper's agents had their clock alone.
        idle_seconds=runner.agent_seconds if is_paper else runner.idle_seconds,
        model=model.choose(spec, _model_request(runner), place),
        hosts=place.hosts,
        protocol=runner.protocol,
    )


def demand_file(name: str | Path) -> None:
    """Raise UsageError if a manifest, an agent or contestants are to be read from no file."""
    if str(name).endswith((".yaml", ".yml")) and not Path(name).is_file():
        raise UsageError(
            f"there is no file {show(str(name))}; in a workflow, check out your repository"
            " with actions/checkout first"
        )


def _contenders(entries: Iterable[ContestantEntry], runner: RunnerOptions) -> Iterator[Contender]:
    for entry in entries:
        demand_file(entry.agent)
        spec = agent(entry.agent, argument=entry.argument)
        _demand_known(entry, spec)
        own = apply_entry(entry, runner)
        choice = choose_agent(entry.agent, entry.argument, own)
        yield Contender(
            contestant=identify(spec, choice, entry.id),
            entry=entry,
            choice=choice,
            runner=own,
            agent_name=spec.name,
        )


def _demand_known(entry: ContestantEntry, spec: AgentSpec) -> None:
    """Raise UsageError if a contestant without a model has an option of one."""
    if spec.dialect is not None:
        return
    default = ContestantEntry(agent=entry.agent)
    given = [name for name in _OF_A_MODEL if getattr(entry, name) != getattr(default, name)]
    if given:
        names = ", ".join(name.replace("_", "-") for name in given)
        raise UsageError(
            f"the agent {spec.name} of the contestant {entry.id or spec.name} asks no model, so it"
            f" has no {names}; remove it"
        )


def _find_entry(path: Path, name: str | None, runner: RunnerOptions) -> ContestantEntry:
    who = WhoOptions(repositories="", agents="", contestants=path, attempts=1)
    contenders = read_contenders(who, runner)
    if name is None and len(contenders) == 1:
        name = next(iter(contenders))
    if name is None or name not in contenders:
        given = "is not named" if name is None else f"{show(name)} is not in it"
        raise UsageError(
            f"{path.name} has {count(len(contenders), 'contestant')} and the trial's {given}; set"
            f" --contestant to one of {', '.join(contenders)}"
        )
    return contenders[name].entry


def _model_request(runner: RunnerOptions) -> model.Asked:
    options: ModelOptions = runner.model_options
    limits_repeats = runner.protocol is not Protocol.PAPER and options.repeat_limit
    return model.Asked(
        model=options.model,
        url=options.model_url,
        key=Key.DIRECT if options.direct_key else Key.GATEWAY,
        budget=Budget(
            calls=options.budget_calls,
            tokens=options.budget_tokens,
            cost_usd=options.budget_usd,
            repeats=options.repeat_limit if limits_repeats else None,
        ),
        prices=options.prices,
        any_model=options.accept_other_model,
        preflight=not options.no_preflight,
    )


def _first(own: T | None, common: T) -> T:
    return common if own is None else own
