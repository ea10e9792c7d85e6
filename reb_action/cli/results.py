"""The commands that combine the verdicts of many trials: score, site."""

from pathlib import Path

import click

from reb_action.cli.options import FILE, FOLDER, as_json

_folders = click.argument(
    "folders",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
_plan = click.option(
    "--plan",
    "path",
    type=FILE,
    help="plan.json of the run. Planned trials without an artifact count as missing.",
)


@click.command()
@_folders
@_plan
@as_json
def score(folders: tuple[Path, ...], *, path: Path | None, as_json: bool) -> None:
    """Build a scoreboard from trial artifacts.

    FOLDERS are searched recursively. If a trial has two artifacts, the later attempt counts. An
    artifact that was changed counts as missing.
    """
    from reb_action.cli import console
    from reb_action.results import plan_file, scoreboard

    plan = None if path is None else plan_file.read_plan(path)
    board = scoreboard.score_folders(folders, plan, tell=console.print_note)
    console.show_scoreboard(board, as_json=as_json)


@click.command()
@_folders
@_plan
@click.option(
    "--out",
    required=True,
    type=FOLDER,
    help="Output folder for the static site; must be empty or not exist.",
)
def site(folders: tuple[Path, ...], *, path: Path | None, out: Path) -> None:
    """Write a static leaderboard site with a page for each trial."""
    from reb_action.cli import console
    from reb_action.results import plan_file
    from reb_action.results import site as results_site

    plan = None if path is None else plan_file.read_plan(path)
    count = results_site.write_site(folders, plan, out=out, tell=console.print_note)
    click.echo(f"{count} files: {out / 'index.html'}")


RESULTS = (score, site)
