"""The commands that combine the verdicts of many trials: score, site, compare."""

from pathlib import Path

import click

from reb_action.cli.options import FILE, FOLDER, as_json, make_levels_option
from reb_action.model.manifest import Level
from reb_action.model.verdict import Scoring

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


_SIDE = click.Path(path_type=Path, exists=True)


@click.command()
@click.argument("a", type=_SIDE)
@click.argument("b", type=_SIDE)
@click.option("--of-a", help="Contestant of A. By default every contestant that A and B both have.")
@click.option("--of-b", help="Contestant of B, if it differs from that of A.")
@click.option(
    "--scoring",
    default=Scoring.STRICT.value,
    show_default=True,
    type=click.Choice([scoring.value for scoring in Scoring]),
    help="Scoring to compare by.",
)
@make_levels_option("compare")
@as_json
def compare(
    a: Path,
    b: Path,
    *,
    of_a: str | None,
    of_b: str | None,
    scoring: str,
    levels: tuple[Level, ...],
    as_json: bool,
) -> None:
    """Compare two runs or contestants: better, worse or undecided.

    A and B are folders of artifacts, checkouts of the leaderboard's branch, or scoreboard.json
    files of runs. A and B may be the same place with two contestants. Each repository counts once;
    its attempts are repeats. If the result is undecided, the number of trials
    that would decide it is shown.
    """
    from reb_action.cli import console
    from reb_action.results import comparison

    found = comparison.compare_places(
        a, b, of_a=of_a, of_b=of_b, levels=levels, scoring=Scoring(scoring)
    )
    console.print_comparisons(found, as_json=as_json)


RESULTS = (score, site, compare)
