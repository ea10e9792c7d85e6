"""Runs the trials of one entry one after the other, and stops while the job can still say so."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reb_action.errors import told
from reb_action.progress import Progress
from reb_action.results import page
from reb_action.session.layout import SessionLayout
from reb_action.trial import run as trial_run
from reb_action.trial.options import Options
from reb_action.workflow import deadline


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """The trials with a verdict, those that a fault of ours or the runner's ended, and the rest."""

    done: tuple[str, ...]
    broken: tuple[str, ...]
    left: tuple[str, ...]


def run(
    trials: Sequence[tuple[str, Callable[[], Options]]],
    *,
    ends_at: float | None,
    environ: Mapping[str, str],
    tell: Progress,
) -> Ended:
    """Run trials until all are done or the next one may not fit; each is sealed as it ends."""
    done: list[str] = []
    broken: list[str] = []
    for number, (name, options) in enumerate(trials):
        why = _too_late(options, name, ends_at)
        if why is not None:
            tell(why)
            left = tuple(name for name, _ in trials[number:])
            return Ended(done=tuple(done), broken=tuple(broken), left=left)
        tell(f"--- {number + 1} of {len(trials)}: {name}")
        (done if _one(options, environ, tell) else broken).append(name)
    return Ended(done=tuple(done), broken=tuple(broken), left=())


def _too_late(options: Callable[[], Options], name: str, ends_at: float | None) -> str | None:
    if ends_at is None:
        return None
    chosen = options()
    agent = deadline.agent_seconds(chosen.agent.total_seconds, chosen.agent.setup_seconds)
    needed = deadline.trial_seconds(chosen.manifest, chosen.levels, agent)
    return deadline.shortage(name, needed, ends_at - time.time())


def _one(options: Callable[[], Options], environ: Mapping[str, str], tell: Progress) -> bool:
    try:
        chosen = options()
        verdict = trial_run.run(chosen, environ=environ, tell=tell)
        page.write_page(SessionLayout(folder=chosen.folder), verdict)
    except Exception as error:  # noqa: BLE001
        # The others of the batch are worth having; this one is missing from the report.
        tell(f"this trial could not be run: {told(error)}")
        return False
    return True
