"""The commands of `reb` that put verdicts together."""

from pathlib import Path

import click

from reb_action.cli.options import as_json

_folders = click.argument(
    "folders",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
)
_plan = click.option(
    "--plan",
    "path",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="plan.json of the run: its trials that did not come back are named and counted.",
)


@click.command()
@_folders
@_plan
@as_json
def score(folders: tuple[Path, ...], *, path: Path | None, as_json: bool) -> None:
    """Put the artifacts in FOLDERS together: agents by level, in both scorings.

    Folders may hold folders. Of two artifacts of one trial the later attempt counts. One that was
    changed is refused, and named as missing.
    """
    from reb_action.cli import console
    from reb_action.results import plan_file, scoreboard

    plan = None if path is None else plan_file.read(path)
    console.show_scoreboard(scoreboard.scored(folders, plan, tell=console.note), as_json=as_json)


@click.command()
@_folders
@_plan
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="New folder for the site: static files, which any web server or none can serve.",
)
def site(folders: tuple[Path, ...], *, path: Path | None, out: Path) -> None:
    """Write the leaderboard of the artifacts in FOLDERS, with a page for each trial."""
    from reb_action.cli import console
    from reb_action.results import plan_file
    from reb_action.results import site as results_site

    plan = None if path is None else plan_file.read(path)
    number = results_site.write(folders, plan, out=out, tell=console.note)
    click.echo(f"{number} files: {out / 'index.html'}")


RESULTS = (score, site)
