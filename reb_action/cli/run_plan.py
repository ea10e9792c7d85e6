"""Makes the plan of a run and the trials of a batch from options."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import urlsplit

from reb_action.cli.arguments import demand_possible_limits, make_trial
from reb_action.cli.contestants import Contender, read_contenders
from reb_action.cli.groups import PlanOptions, RunnerOptions, TrialOptions, WhoOptions
from reb_action.documents import show
from reb_action.errors import UsageError
from reb_action.github.context import Context
from reb_action.model.contestant import MODEL_KEY
from reb_action.model.manifest import Manifest, trial_id
from reb_action.model.plan import Plan, PlannedContestant, Wish
from reb_action.trial.options import Options
from reb_action.workflow import deadline, inputs, platform_limits, safety
from reb_action.workflow import plan as workflow_plan
from reb_action.workflow.matrix import Batching
from reb_action.workflow.platform_limits import Runners


def make_plan(
    who: WhoOptions, options: PlanOptions, runner: RunnerOptions, context: Context
) -> Plan:
    """Return the plan of a run; raises UsageError for an unsafe or impossible one."""
    safety.demand_safe(context, options.runs_on)
    demand_possible_limits(runner.place)
    contenders = read_contenders(who, runner)
    plan = workflow_plan.make_plan(
        _wishes(who, contenders, runner),
        attempts=who.attempts,
        selection=workflow_plan.Selection(
            only=options.only,
            without=options.without,
            changed=inputs.list_changes(Path.cwd(), options.changed_since),
        ),
        batching=Batching(
            jobs=options.max_jobs,
            job_seconds=None if options.job_minutes is None else options.job_minutes * 60,
            durations=inputs.read_durations(options.durations),
            together=options.sequential,
        ),
        contestants=tuple(map(_planned_contestant, contenders.values())),
    )
    used = {trial.contestant for trial in plan.trials}
    competing = (one for name, one in contenders.items() if name in used)
    safety.demand_keys(_key_users(competing), options.keys)
    platform_limits.demand_fit(
        plan,
        Runners(
            labels=options.runs_on,
            job_minutes=options.job_minutes,
            max_parallel=options.max_parallel,
            count=options.runners,
        ),
    )
    return plan


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchTrial:
    """One trial of a batch: its id, its options, and the name of its vendor's key."""

    id: str
    options: Options
    key: str


def make_batch(
    who: WhoOptions, wanted: tuple[str, ...], folder: Path, runner: RunnerOptions
) -> tuple[BatchTrial, ...]:
    """Return the trials of a batch, in the order of `wanted` ids or patterns; () wants all."""
    every = dict(_batch_trials(who, folder, runner))
    names = [name for pattern in wanted or ("*",) for name in _matching(every, pattern)]
    return tuple(every[name] for name in dict.fromkeys(names))


def _matching(every: Mapping[str, BatchTrial], pattern: str) -> list[str]:
    names = [pattern] if pattern in every else [one for one in every if fnmatchcase(one, pattern)]
    if not names:
        raise UsageError(
            f"{show(pattern)} matches no trial of these repositories, contestants and attempts"
        )
    return names


def _batch_trials(
    who: WhoOptions, folder: Path, runner: RunnerOptions
) -> Iterator[tuple[str, BatchTrial]]:
    contenders = read_contenders(who, runner)
    for repository, manifest in inputs.read_repositories(who.repositories):
        for name, contender in contenders.items():
            for attempt in range(1, who.attempts + 1):
                trial = trial_id(manifest.slug, name, attempt)
                given = TrialOptions(
                    repository=repository,
                    agent=contender.entry.agent,
                    agent_argument=contender.entry.argument,
                    attempt=attempt,
                    contestant=name,
                    folder=folder / trial,
                )
                options = make_trial(given, contender.runner)
                yield trial, BatchTrial(id=trial, options=options, key=contender.entry.key)


def _wishes(
    who: WhoOptions, contenders: Mapping[str, Contender], runner: RunnerOptions
) -> Iterator[Wish]:
    for repository, manifest in inputs.read_repositories(who.repositories):
        for name, contender in contenders.items():
            entry = contender.entry
            definition = () if who.contestants is None else (str(who.contestants),)
            yield Wish(
                repository=repository,
                slug=manifest.slug,
                agent=entry.agent,
                argument=entry.argument,
                contestant=name,
                files=inputs.files_of(repository, entry.agent, *definition),
                key=_key(contender),
                longest_seconds=_longest_seconds(manifest, contender, runner),
            )


def _longest_seconds(manifest: Manifest, contender: Contender, runner: RunnerOptions) -> int:
    choice = contender.choice
    agent = deadline.agent_seconds(choice.total_seconds, choice.setup_seconds, choice.protocol)
    return deadline.trial_seconds(manifest, runner.levels, agent)


def _planned_contestant(contender: Contender) -> PlannedContestant:
    model = contender.choice.model
    return PlannedContestant(
        contestant=contender.contestant,
        agent=contender.agent_name,
        model=None if model is None else model.name,
        key=_key(contender),
    )


def _key(contender: Contender) -> str:
    """Return the name of a contestant's key; one without a model can share any job."""
    return MODEL_KEY if contender.choice.model is None else contender.entry.key


def _key_users(contenders: Iterator[Contender]) -> Iterator[safety.KeyUser]:
    for contender in contenders:
        model = contender.choice.model
        if model is not None:
            yield safety.KeyUser(
                contestant=contender.contestant.id,
                key=contender.entry.key,
                host=urlsplit(model.url).hostname or "",
                chose_url=contender.runner.model_options.model_url is not None,
            )
