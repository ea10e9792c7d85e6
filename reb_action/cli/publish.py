"""The command publish."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from reb_action.cli.options import (
    COUNT,
    artifact_options,
    gate_options,
    levels_option,
    option,
    pass_group,
)
from reb_action.errors import GitHubError
from reb_action.model.manifest import Level
from reb_action.publish.options import (
    KEY,
    ChecksMode,
    CommentMode,
    FaultMode,
    PublishOptions,
    make_publish_options,
)

if TYPE_CHECKING:
    from reb_action.judge.gate import FailOn

key_option = option(
    "--key",
    default=KEY,
    help="Name of this benchmark if the repository has several: a-z, 0-9 and -.",
)
base_option = option(
    "--base",
    default="",
    help="What the run is compared with: by default the leaderboard; tag:NAME, run:ID, or the path"
    " of artifacts, a board or a scoreboard.json.",
)
token_option = option(
    "--token",
    default="",
    help="Token with write permissions. Set REB_TOKEN instead of this option.",
)
publish_options = pass_group(
    "options",
    make_publish_options,
    option(
        "--comment",
        default="off",
        type=click.Choice([mode.value for mode in CommentMode]),
        help="When to comment on the pull request: off, always, changes (a result changed) or"
        " failures. An existing comment is always updated.",
    ),
    option(
        "--checks",
        default="off",
        type=click.Choice([mode.value for mode in ChecksMode]),
        help="Check runs: off, levels (one for each level), or trials (one for each of at most 50"
        " trials).",
    ),
    option(
        "--leaderboard",
        default=False,
        type=click.BOOL,
        help="Push badges and the site to the branch reb-leaderboard. Only a push, schedule or"
        " workflow_dispatch of the default branch does.",
    ),
    key_option,
    base_option,
)


@click.command()
@artifact_options(required=False)
@option(
    "--run-id",
    type=COUNT,
    help="Id of another run to publish. Its artifacts are downloaded and not trusted.",
)
@levels_option
@gate_options
@publish_options
@option(
    "--on-write-fault",
    default="warn",
    type=click.Choice([mode.value for mode in FaultMode]),
    help="If GitHub refuses a write: warn, or fail with exit code 10. Results do not change.",
)
@token_option
def publish(
    *,
    path: Path | None,
    folder: Path | None,
    run_id: int | None,
    levels: tuple[Level, ...],
    fail_on: "FailOn",
    options: PublishOptions,
    on_write_fault: str,
    token: str,
) -> None:
    """Publish a run to GitHub: check runs, PR comment, leaderboard."""
    from reb_action.github import context
    from reb_action.publish import publish as publisher

    job = publisher.Job(environ=os.environ, token=token, options=options, fail_on=fail_on)
    runner = context.read_context(os.environ)
    with TemporaryDirectory() as scratch:
        if run_id is not None:
            results = publisher.publish_other_run(job, run_id, Path(scratch), runner)
        else:
            results = publisher.publish_this_run(job, path, folder, levels=levels)
        faults = publisher.report_writes(results, runner, tell=click.echo)
    if faults is not None and on_write_fault == FaultMode.FAIL:
        raise GitHubError(faults)
