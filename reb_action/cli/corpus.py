"""The commands for the corpus: validate, qualify."""

import os
import sys
from pathlib import Path

import click

from reb_action.cli.groups import PlaceOptions
from reb_action.cli.options import FILE, FOLDER, PATH, levels_option, repository_argument
from reb_action.cli.runner_options import place_options
from reb_action.errors import UsageError
from reb_action.model.manifest import Level


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
def validate(paths: tuple[Path, ...]) -> None:
    """Validate manifests in files or folders; list all faults.

    Proofs in a known weak form are faults in the corpus, and warnings elsewhere.
    """
    from reb_action.cli.console import print_note
    from reb_action.corpus import counts
    from reb_action.errors import DocumentError
    from reb_action.model.quantity import count
    from reb_action.render.escape import log

    faults = tuple(counts.list_faults(paths))
    if faults:
        click.echo("\n".join(log(fault) for fault in faults))
        raise DocumentError(f"{count(len(faults), 'fault')} found; correct the lines above")
    for warning in counts.list_warnings(paths):
        print_note(f"warning: {log(warning)}")
    click.echo("\n".join(counts.count_levels(paths)))


def _parse_folder(_context: click.Context, parameter: click.Parameter, value: str) -> Path:
    """Return the folder that an option names; an empty name would be the working directory."""
    if not value.strip():
        raise UsageError(f"{parameter.opts[0]} is empty; name a folder, or leave it out")
    return Path(value)


@click.command()
@repository_argument
@click.option(
    "--results", "folder", type=FOLDER,
    help="Folder for the trials; cleared first.  [default: results/<name>.qualify]",
)  # fmt: skip
@place_options
@levels_option
@click.option(
    "--cache", type=click.Path(file_okay=False), default=".cache/uv", callback=_parse_folder,
    show_default=True, help="Package cache of uv; with --base, a folder of wheels.",
)  # fmt: skip
@click.option(
    "--base", type=FILE,
    help="Interpreter whose packages to build on when there is no package index.",
)  # fmt: skip
def qualify(
    *,
    repository: str,
    folder: Path | None,
    place: PlaceOptions,
    levels: tuple[Level, ...],
    cache: Path,
    base: Path | None,
) -> None:
    """Verify a manifest with positive and negative controls.

    Exit code 1 if a level of REPOSITORY is not qualified. Nothing is recorded if the correct
    environment could not be built, or if the level fails in it.
    """
    from datetime import UTC, datetime

    from reb_action.cli import arguments
    from reb_action.cli.console import show_progress
    from reb_action.corpus import qualification
    from reb_action.qualify import qualify as qualifier

    options = arguments.make_qualification(repository, folder, place, levels)
    date = datetime.now(UTC).date().isoformat()
    with show_progress(quiet=False) as tell:
        plan = qualifier.plan(options, cache=cache.absolute(), date=date, base=base)
        results = qualifier.qualify(plan, environ=os.environ, tell=tell)
    click.echo("\n".join(qualifier.lines(results)))
    for path in qualifier.record(plan, results):
        click.echo(f"recorded: {path}")
    if not all(map(qualification.holds, results)):
        sys.exit(1)


CORPUS = (qualify, validate)
