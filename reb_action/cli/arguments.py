"""Turns the options of the command line into the values that the phases take."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from reb_action import documents
from reb_action.agents import model
from reb_action.agents.catalogue import agent
from reb_action.agents.contestant import identify
from reb_action.agents.spec import AgentLimits
from reb_action.cli.groups import (
    ModelOptions,
    PlaceOptions,
    PlanOptions,
    RunnerOptions,
    TrialOptions,
)
from reb_action.corpus import manifests
from reb_action.errors import UsageError
from reb_action.gateway import Budget
from reb_action.gateway.egress.proxy import parse_hosts
from reb_action.github.context import Context
from reb_action.model.agent import Key, Protocol
from reb_action.model.manifest import Level, Manifest, trial_id
from reb_action.model.plan import Plan, PlannedTrial
from reb_action.sandbox.protocol import Kind, Network
from reb_action.session.state import AgentChoice
from reb_action.trial.options import Options
from reb_action.workflow import inputs, safety
from reb_action.workflow import plan as workflow_plan

_RESULTS: Final = Path("results")


def make_trial(trial: TrialOptions, runner: RunnerOptions) -> Options:
    """Return the options of one trial; raises UsageError."""
    for name in (trial.repository, trial.agent):
        _demand_file(name)
    manifest = manifests.find(trial.repository)
    choice = _choose_agent(trial, runner)
    folder = (trial.folder or _default_folder(manifest, choice, trial)).absolute()
    _demand_encodable(folder)
    place = runner.place
    return Options(
        manifest=manifest,
        agent=choice,
        folder=folder,
        attempt=trial.attempt,
        contestant=trial.contestant,
        kind=place.sandbox,
        image=place.image if place.sandbox is Kind.DOCKER else None,
        mirror=place.mirror,
        gpus=place.gpus,
        network=Network(place.network),
        levels=runner.levels,
    )


def make_qualification(
    repository: str, folder: Path | None, place: PlaceOptions, levels: tuple[Level, ...]
) -> Options:
    """Return the options of `reb qualify`, in which a script of reb does the agent's work."""
    trial = TrialOptions(repository=repository, agent="nop", folder=folder)
    runner = RunnerOptions(place=place, model_options=ModelOptions(), levels=levels)
    options = make_trial(trial, runner)
    if folder is not None:
        return options
    return replace(options, folder=(_RESULTS / f"{options.manifest.slug}.qualify").absolute())


def make_plan(options: PlanOptions, context: Context) -> Plan:
    """Return the plan of a run; raises UsageError for an unsafe or impossible one."""
    safety.demand_safe(context, options.runs_on)
    plan = workflow_plan.make_plan(
        inputs.read_wishes(options.repositories, options.agents, model=options.model),
        attempts=options.attempts,
        selection=workflow_plan.Selection(
            only=options.only,
            without=options.without,
            changed=inputs.list_changes(Path.cwd(), options.changed_since),
        ),
        batching=workflow_plan.Batching(
            jobs=options.max_jobs,
            default_seconds=options.agent_seconds,
            durations=inputs.read_durations(options.durations),
        ),
    )
    safety.demand_model(
        plan, model=options.model, url=options.model_url, has_key=options.has_model_key
    )
    return plan


def make_batch(
    trials: Iterable[PlannedTrial], folder: Path, runner: RunnerOptions
) -> list[tuple[str, Callable[[], Options]]]:
    """Return each trial's id with a function that makes its options when the trial begins."""
    return [
        (trial.id, partial(make_trial, _planned_trial(trial, folder), runner)) for trial in trials
    ]


def _planned_trial(trial: PlannedTrial, folder: Path) -> TrialOptions:
    return TrialOptions(
        repository=trial.repository,
        agent=trial.agent,
        agent_argument=trial.argument,
        attempt=trial.attempt,
        folder=folder / trial.id,
    )


def _choose_agent(trial: TrialOptions, runner: RunnerOptions) -> AgentChoice:
    place = model.Place(
        kind=runner.place.sandbox,
        network=Network(runner.place.network),
        hosts=parse_hosts(runner.place.allow_hosts),
        disposable=runner.model_options.disposable,
    )
    spec = agent(trial.agent, argument=trial.agent_argument)
    is_paper = runner.protocol is Protocol.PAPER
    return AgentChoice(
        name=trial.agent,
        argument=trial.agent_argument,
        total_seconds=runner.agent_seconds,
        setup_seconds=AgentLimits().setup_seconds,
        # The paper's agents had their clock alone.
        idle_seconds=runner.agent_seconds if is_paper else runner.idle_seconds,
        model=model.choose(spec, _model_request(runner), place),
        hosts=place.hosts,
        protocol=runner.protocol,
    )


def _model_request(runner: RunnerOptions) -> model.Asked:
    options = runner.model_options
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
    )


def _default_folder(manifest: Manifest, choice: AgentChoice, trial: TrialOptions) -> Path:
    spec = agent(choice.name, argument=choice.argument)
    contestant = identify(spec, choice, trial.contestant)
    return _RESULTS / trial_id(manifest.slug, contestant.id, trial.attempt)


def _demand_encodable(folder: Path) -> None:
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        shown = documents.show(str(folder))
        raise UsageError(
            f"{shown} is not valid UTF-8; choose another folder, or set LANG"
        ) from None


def _demand_file(name: str) -> None:
    if name.endswith((".yaml", ".yml")) and not Path(name).is_file():
        raise UsageError(
            f"there is no file {documents.show(name)}; in a workflow, check out your repository"
            " with actions/checkout first"
        )
