"""The comparison of a batch with its base, and what was left out because of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reb_action.cli.run_plan import BatchTrial
from reb_action.errors import UsageError
from reb_action.judge.gate import FailOn
from reb_action.model.manifest import contestant_of
from reb_action.model.verdict import Verdict

if TYPE_CHECKING:
    from reb_action.workflow.sequential import Outlook

Found = Mapping[str, Verdict | str]


def make_outlook(
    every: Sequence[BatchTrial], base: Path | None, fail_on: FailOn, *, sequential: bool
) -> "Outlook | None":
    """Return what a run's trials can still change, None without a base.

    `every` are the trials of all jobs. Raises UsageError if there is nothing to decide.
    """
    from reb_action.results.comparison import read_place
    from reb_action.workflow.sequential import Outlook, make_rule

    if base is None:
        if sequential:
            raise UsageError("--sequential compares with a base; give --base")
        return None
    models = {contestant_of(trial.id): trial.options.agent.model for trial in every}
    outlook = Outlook(
        read_place(base),
        [trial.id for trial in every],
        [name for name, model in models.items() if model is not None] or list(models),
        make_rule(fail_on, every[0].options.levels),
    )
    outlook.demand_open()
    return outlook


def keep_stop(folder: Path, outlook: "Outlook", skipped: tuple[str, ...], found: Found) -> str:
    """Write why trials were left out; return it in a sentence."""
    from reb_action.render.early_stop import stop_line
    from reb_action.results.early_stop import make_stop, write_stop

    done = [judged for judged in found.values() if isinstance(judged, Verdict)]
    stop = make_stop(outlook.explain(), skipped, done)
    write_stop(folder, stop)
    return stop_line(stop)


def explain_regression(outlook: "Outlook", found: Found) -> str | None:
    """Return why the trials fail against the base, or None if they do not, or not yet."""
    from reb_action.score.outlook import Answer

    for name, judged in found.items():
        if isinstance(judged, Verdict):
            outlook.record(name, judged)
    return outlook.explain() if outlook.answer() is Answer.FAILS else None
