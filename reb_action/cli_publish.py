"""The command of `reb` that writes to GitHub."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from reb_action.cli_options import (
    artifact_options,
    fail_on_option,
    levels_option,
    scoring_option,
)
from reb_action.errors import GitHubError
from reb_action.model.publishing import KEY, ChecksMode, CommentMode, FaultMode
from reb_action.model.verdict import Scoring


@click.command()
@artifact_options(required=False)
@click.option(
    "--run-id",
    envvar="REB_RUN_ID",
    type=click.IntRange(1),
    help="Another run instead, about which the API is asked; its artifacts are a stranger's data.",
)
@levels_option
@fail_on_option
@scoring_option
@click.option(
    "--comment",
    envvar="REB_COMMENT",
    default="off",
    show_default=True,
    type=click.Choice([one.value for one in CommentMode]),
    help="When a pull request gets a comment; one that is there is always brought up to date.",
)
@click.option(
    "--checks",
    envvar="REB_CHECKS",
    default="off",
    show_default=True,
    type=click.Choice([one.value for one in ChecksMode]),
    help="Check runs: one for each level, or for each of at most 50 trials.",
)
@click.option(
    "--leaderboard",
    envvar="REB_LEADERBOARD",
    default=False,
    show_default=True,
    type=click.BOOL,
    help="Write badges and the site to their branch; only runs of the default branch do.",
)
@click.option(
    "--key",
    envvar="REB_KEY",
    default=KEY,
    show_default=True,
    help="Tells several benchmarks of one repository apart: a-z, 0-9 and -.",
)
@click.option(
    "--on-write-fault",
    envvar="REB_ON_WRITE_FAULT",
    default="warn",
    show_default=True,
    type=click.Choice([one.value for one in FaultMode]),
    help="What a write that GitHub refuses does: warn, or fail with exit code 10.",
)
@click.option(
    "--token", envvar="REB_TOKEN", default="", help="Token that writes; give it by REB_TOKEN."
)
def publish(
    *,
    path: Path | None,
    folder: Path | None,
    run_id: int | None,
    levels: str,
    fail_on: str,
    scoring: str,
    token: str,
    on_write_fault: str,
    **chosen: object,
) -> None:
    """Write check runs, a comment and the leaderboard of a run: each once, none without need."""
    from reb_action import choosing, gate, publishing
    from reb_action.github import context

    choice = publishing.choice(chosen)
    wanted = gate.parse(fail_on, scoring=Scoring(scoring))
    job = publishing.Job(environ=os.environ, token=token, choice=choice, fail_on=wanted)
    here = context.read(os.environ)
    with TemporaryDirectory() as place:
        if run_id is not None:
            done = publishing.of_run(job, run_id, Path(place), here)
        else:
            done = publishing.here(job, path, folder, levels=choosing.parse_levels(levels))
        faults = publishing.told(done, here)
    if faults is not None and on_write_fault == FaultMode.FAIL:
        raise GitHubError(faults)


PUBLISH = (publish,)
