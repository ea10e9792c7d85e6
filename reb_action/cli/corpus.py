"""The commands for the corpus: validate, qualify."""

import os
import sys
from pathlib import Path

import click

from reb_action.cli.options import qualifying_options


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
def validate(paths: tuple[Path, ...]) -> None:
    """Check manifests: files, or folders of them."""
    from reb_action.corpus import counts

    click.echo("\n".join(counts.validated(paths)))


@click.command()
@qualifying_options
@click.option(
    "--cache", type=click.Path(path_type=Path, file_okay=False), default=Path(".cache/uv"),
    show_default=True, help="Folder where uv keeps packages; with --base, a folder of wheels.",
)  # fmt: skip
@click.option(
    "--base", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Interpreter whose packages to build on, where there is no package index.",
)  # fmt: skip
def qualify(*, cache: Path, base: Path | None, **chosen: object) -> None:
    """Show that the levels of REPOSITORY pass where they must and fail elsewhere; record it.

    Exit code 1 if a level is not qualified; nothing is recorded of an environment that was not
    built, nor of a right one in which the level does not pass.
    """
    from datetime import UTC, datetime

    from reb_action.cli import arguments
    from reb_action.cli.console import telling
    from reb_action.corpus import qualification
    from reb_action.qualify import qualify as qualifier

    options = arguments.qualifying(chosen)
    today = datetime.now(UTC).date().isoformat()
    with telling(quiet=False) as tell:
        plan = qualifier.plan(options, cache=cache.absolute(), date=today, base=base)
        done = qualifier.qualify(plan, environ=os.environ, tell=tell)
    click.echo("\n".join(qualifier.lines(done)))
    for path in qualifier.record(plan, done):
        click.echo(f"recorded: {path}")
    if not all(map(qualification.holds, done)):
        sys.exit(1)


CORPUS = (qualify, validate)
