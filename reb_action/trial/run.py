"""Runs all phases of a trial in one process."""

import os
from collections.abc import Mapping

from reb_action.errors import RebError, describe_error
from reb_action.model.manifest import Level
from reb_action.model.progress import Progress
from reb_action.model.verdict import LevelResult, Verdict
from reb_action.render.lines import agent_line
from reb_action.session.layout import SessionLayout
from reb_action.session.reserve import is_disk_full
from reb_action.session.verdict import conclude
from reb_action.trial import probe
from reb_action.trial.agent import run_agent
from reb_action.trial.fault import record_full_disk
from reb_action.trial.options import Options
from reb_action.trial.start import start
from reb_action.trial.stop import stop


def run(
    options: Options,
    *,
    environ: Mapping[str, str],
    tell: Progress,
    live: bool = True,
    keep: bool = False,
) -> Verdict:
    """Run all phases in one process; in any case it ends with a verdict.

    With `live` each turn of the agent is shown as it ends. With `keep` the sandbox stays, for
    `reb probe`; otherwise, and after an error, it is removed.
    """
    layout = SessionLayout(folder=options.folder.absolute())
    # Not below: a start that is refused must not touch the trial that has the folder.
    start(options, owner=os.getpid(), tell=tell, environ=environ)
    try:
        tell(agent_line(run_agent(layout, environ=environ, tell=tell, live=live)))
        for level in options.levels:
            if level is not Level.C5:
                _observed(layout, level, tell)
        verdict = conclude_trial(layout, tell=tell)
        _told(verdict.result(Level.C5), tell)
    except BaseException as error:
        if isinstance(error, Exception):
            conclude_trial(layout, tell=tell)
        _stopped(layout, tell)
        raise
    if not keep:
        _stopped(layout, tell)
    return verdict


def conclude_trial(layout: SessionLayout, *, tell: Progress) -> Verdict:
    """Judge a trial and write the verdict, even if the sandbox has filled the disk."""
    try:
        return conclude(layout)
    except OSError as error:
        if not is_disk_full(error):
            raise
    tell("the disk is full: removing the sandbox before the verdict is written")
    stop(layout, tell=tell)
    if not layout.agent_run.exists():
        record_full_disk(layout, None)
    return conclude(layout)


def _stopped(layout: SessionLayout, tell: Progress) -> None:
    try:
        stop(layout, tell=tell)
    except RebError as error:
        # The verdict is worth more than the leftover, which the next start removes.
        tell(f"{error}. The next start on this machine removes what is left.")


def _observed(layout: SessionLayout, level: Level, tell: Progress) -> None:
    try:
        _told(probe.probe_level(layout, level, tell=tell), tell)
    except Exception as error:  # noqa: BLE001
        # If one level cannot be observed, it is invalid; the others are still measured.
        tell(f"{level} could not be observed: {describe_error(error)}")


def _told(result: LevelResult, tell: Progress) -> None:
    tell(f"{result.level} {result.outcome}: {result.reason}")
