"""Refuses, with figures, a plan that would break a limit of GitHub or of Linux while it runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.errors import UsageError
from reb_action.model.plan import Plan
from reb_action.model.quantity import count
from reb_action.results import plan_file
from reb_action.workflow.safety import is_hosted, parse_labels

MATRIX_LIMIT: Final = 256
"""Maximum jobs of one matrix: GitHub's documentation, "Workflow syntax", strategy.matrix."""
OUTPUT_BYTES: Final = 1_000_000
"""Outputs of one job, approximated in UTF-16: GitHub's documentation, "Passing job outputs"."""
STRING_BYTES: Final = 128 * 1024
"""One string of an environment or of arguments, with its zero byte: MAX_ARG_STRLEN of Linux."""
HOSTED_MINUTES: Final = 6 * 60
SELF_HOSTED_MINUTES: Final = 5 * 24 * 60
"""Time of a job on GitHub's runners, and on others: GitHub's documentation, "Actions limits"."""
QUEUE_SECONDS: Final = 24 * 3600
"""Time that a job may wait for a self-hosted runner before GitHub ends it."""
RUN_SECONDS: Final = 35 * 24 * 3600
"""Time of a whole run of a workflow."""
ENTRY_VARIABLE: Final = "REB_TRIALS="


@dataclass(frozen=True, kw_only=True, slots=True)
class Runners:
    """The runners of the trials: labels as JSON, their number, and the workflow's limits."""

    labels: str
    job_minutes: int | None = None
    max_parallel: int | None = None
    count: int | None = None


def measure_output(plan: Plan) -> int:
    """Return the bytes of the plan's outputs, as GitHub counts them."""
    return len(plan_file.entries_json(plan).encode("utf-16-le"))


def measure_environment(plan: Plan) -> int:
    """Return the bytes of the longest string that a batch of the plan gets."""
    texts = (plan_file.join_trials(entry) for entry in plan.entries)
    return max((len(ENTRY_VARIABLE) + len(text.encode()) + 1 for text in texts), default=0)


def demand_fit(plan: Plan, runners: Runners) -> None:
    """Raise UsageError, with figures, if a limit would be broken while the plan runs."""
    fault = next(_faults(plan, runners), None)
    if fault is not None:
        raise UsageError(f"the plan of {count(len(plan.trials), 'trial')} cannot run: {fault}")


def _faults(plan: Plan, runners: Runners) -> Iterator[str]:
    output, string = measure_output(plan), measure_environment(plan)
    if output > OUTPUT_BYTES:
        yield (
            f"its job output has {output:,} bytes in UTF-16, and GitHub allows {OUTPUT_BYTES:,};"
            " split the run with only"
        )
    if string > STRING_BYTES:
        yield (
            f"the list of trials of one job has {string:,} bytes, and one environment variable may"
            f" have {STRING_BYTES:,}; raise max-jobs, or split the run with only"
        )
    hosted = is_hosted(parse_labels(runners.labels))
    most = HOSTED_MINUTES if hosted else SELF_HOSTED_MINUTES
    if runners.job_minutes is not None and runners.job_minutes > most:
        yield (
            f"job-minutes is {runners.job_minutes:,}, and GitHub ends a job on these runners after"
            f" {most:,}"
        )
    if not hosted:
        yield from _queue_faults(plan, runners)


def _queue_faults(plan: Plan, runners: Runners) -> Iterator[str]:
    """Yield what queues too long: jobs beyond max-parallel are not queued before others end."""
    jobs = len(plan.entries)
    if runners.count is None or not jobs:
        return
    seconds = max(entry.seconds for entry in plan.entries)
    queued = min(jobs, runners.max_parallel or jobs)
    waits = (-(-queued // runners.count) - 1) * seconds
    if waits > QUEUE_SECONDS:
        yield (
            f"{count(queued, 'job')} at once on {count(runners.count, 'runner')} would queue for"
            f" {waits / 3600:.0f} hours, and GitHub ends a job after {QUEUE_SECONDS // 3600};"
            f" set max-parallel to {runners.count}"
        )
    whole = -(-jobs // runners.count) * seconds
    if whole > RUN_SECONDS:
        yield (
            f"{count(jobs, 'job')} on {count(runners.count, 'runner')} take"
            f" {count(round(whole / 86400), 'day')}, and GitHub ends a run after"
            f" {RUN_SECONDS // 86400}; split the run with only"
        )
