"""Runs the trials of one matrix entry in sequence, and stops before the job's deadline."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reb_action.errors import describe_error
from reb_action.model.progress import Progress
from reb_action.results import page
from reb_action.session.layout import SessionLayout
from reb_action.trial import run as trial_run
from reb_action.trial.options import Options
from reb_action.workflow import deadline


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchResult:
    """The trials with a verdict, those that an error of reb or the runner ended, and the rest."""

    done: tuple[str, ...]
    broken: tuple[str, ...]
    remaining: tuple[str, ...]


def run_batch(
    trials: Sequence[tuple[str, Callable[[], Options]]],
    *,
    ends_at: float | None,
    environ: Mapping[str, str],
    tell: Progress,
    live: bool = True,
) -> BatchResult:
    """Run trials until all are done, or until the next one might not finish in time."""
    done: list[str] = []
    broken: list[str] = []
    for number, (name, options) in enumerate(trials):
        shortage = _time_shortage(options, name, ends_at)
        if shortage is not None:
            tell(shortage)
            remaining = tuple(name for name, _ in trials[number:])
            return BatchResult(done=tuple(done), broken=tuple(broken), remaining=remaining)
        tell(f"--- {number + 1} of {len(trials)}: {name}")
        (done if _run_trial(options, environ, tell, live=live) else broken).append(name)
    return BatchResult(done=tuple(done), broken=tuple(broken), remaining=())


def _time_shortage(options: Callable[[], Options], name: str, ends_at: float | None) -> str | None:
    if ends_at is None:
        return None
    trial = options()
    agent = deadline.agent_seconds(trial.agent.total_seconds, trial.agent.setup_seconds)
    needed = deadline.trial_seconds(trial.manifest, trial.levels, agent)
    return deadline.shortage(name, needed, ends_at - time.time())


def _run_trial(
    options: Callable[[], Options], environ: Mapping[str, str], tell: Progress, *, live: bool
) -> bool:
    try:
        trial = options()
        verdict = trial_run.run(trial, environ=environ, tell=tell, live=live)
        page.write_page(SessionLayout(folder=trial.folder), verdict)
    except Exception as error:  # noqa: BLE001
        # The other trials can still run; this one counts as missing in the report.
        tell(f"could not run this trial: {describe_error(error)}")
        return False
    return True
