"""The commands of `reb` that look at itself, at this machine and at the corpus."""

import os
import sys
from pathlib import Path

import click

from reb_action.cli_options import (
    as_json,
    folder_argument,
    image_option,
    qualifying_options,
    sandbox_option,
)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
def validate(paths: tuple[Path, ...]) -> None:
    """Check manifests: files, or folders of them."""
    from reb_action import outputs

    click.echo("\n".join(outputs.validated(paths)))


@click.command()
@sandbox_option
@image_option
def doctor(sandbox: str, image: str) -> None:
    """Say what this machine lacks for a trial; exit code 4 if anything."""
    from reb_action import doctor as examination
    from reb_action.sandbox.protocol import Kind

    findings = tuple(examination.examine(Kind(sandbox), image))
    click.echo("\n".join(finding.line for finding in findings))
    if not all(finding.fine for finding in findings):
        sys.exit(4)


@click.command()
@sandbox_option
@image_option
@as_json
def agents(*, sandbox: str, image: str, as_json: bool) -> None:
    """List the agents: what each is, needs, and lacks on this machine."""
    from reb_action import documents
    from reb_action.agents.install import cache_folder
    from reb_action.agents.inventory import Here, inventory
    from reb_action.render.agent_list import agent_lines
    from reb_action.sandbox.protocol import Kind

    cache = cache_folder(os.environ)
    here = Here(kind=Kind(sandbox), image=image, environ=os.environ, cache=cache)
    found = inventory(here)
    lines = documents.encode(found, kind="agents").decode().rstrip() if as_json else None
    click.echo(lines or "\n".join(agent_lines(found)))


@click.command()
@click.option(
    "--results", "folder", default=Path("results/demo"), show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the two trials, filled anew each time.",
)  # fmt: skip
def demo(folder: Path) -> None:
    """Show two trials of a small repository, one by a lying agent: no Docker, GPU or key."""
    from reb_action import demo as show
    from reb_action.console import telling

    with telling(quiet=False) as tell:
        trials = show.demo(folder, environ=os.environ, tell=tell)
    show.present(trials)


@click.command()
@click.option(
    "--sandbox", default="local", show_default=True, type=click.Choice(["docker", "local"]),
    help="docker, or local: a folder of this machine.",
)  # fmt: skip
@image_option
@click.option(
    "--gpus", default=0, show_default=True, type=click.IntRange(0, 64),
    help="GPUs of this machine; with some, the cheaters of the GPU levels play too.",
)  # fmt: skip
@click.option("--only", metavar="NAME", help="Play this cheater alone.")
@click.option(
    "--results", "folder", default=Path("results/selftest"), show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the trials, filled anew each time.",
)  # fmt: skip
def selftest(sandbox: str, image: str, gpus: int, only: str | None, folder: Path) -> None:
    """Play cheating agents against a bait; exit code 1 if any gets through."""
    from reb_action.redteam.selftest import selftest as examination
    from reb_action.render.escape import log
    from reb_action.sandbox.protocol import Kind

    kind = Kind(sandbox)
    named = image if kind is Kind.DOCKER else None
    plays = examination(folder.absolute(), kind=kind, image=named, gpus=gpus, only=only)
    fine = [click.echo(log(line)) or good for line, good in plays]
    click.echo(f"{sum(fine)} of {len(fine)} plays came out as they must")
    if not all(fine):
        sys.exit(1)


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

    from reb_action import choosing, qualified, qualify
    from reb_action.console import telling

    options = choosing.qualifying(chosen)
    today = datetime.now(UTC).date().isoformat()
    with telling(quiet=False) as tell:
        plan = qualify.plan(options, cache=cache.absolute(), date=today, base=base)
        done = qualify.qualify(plan, environ=os.environ, tell=tell)
    click.echo("\n".join(qualify.lines(done)))
    for path in qualify.record(plan, done):
        click.echo(f"recorded: {path}")
    if not all(map(qualified.holds, done)):
        sys.exit(1)


@click.command()
@folder_argument
@click.option(
    "--bundle", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The attestation that the run's report made: attestation.json of its artifact.",
)  # fmt: skip
@click.option(
    "--repository", metavar="OWNER/NAME",
    help="The repository whose run must have signed it; required with --bundle.",
)  # fmt: skip
@click.option(
    "--workflow", metavar="OWNER/NAME/.github/workflows/FILE[@REF]",
    help="The workflow that must have signed it.  [default: our benchmark.yml at any tag]",
)  # fmt: skip
@click.option(
    "--trusted-root", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Sigstore's trusted_root.json.  [default: the one that sigstore brings]",
)  # fmt: skip
def verify(
    folder: Path,
    *,
    bundle: Path | None,
    repository: str | None,
    workflow: str | None,
    trusted_root: Path | None,
) -> None:
    """Check that the trial in FOLDER is unchanged, and who signed it.

    Exit code 0: unchanged, and signed as expected. 3: changed. 11: unchanged but unsigned, or the
    signature does not hold or is somebody else's.
    """
    from reb_action import judging
    from reb_action.errors import SignatureError
    from reb_action.layout import SessionLayout
    from reb_action.render.escape import log
    from reb_action.signature import WORKFLOW, Signer

    if bundle is not None and repository is None:
        raise click.UsageError("--bundle needs --repository OWNER/NAME: whose run must have signed")
    layout = SessionLayout(folder=folder.absolute())
    verdict = judging.verify(layout)
    click.echo(f"{log(verdict.trial)}: unchanged, and the evidence gives the same verdict")
    if bundle is None or repository is None:
        raise SignatureError(f"{judging.UNSIGNED}; name an attestation with --bundle")
    signer = Signer(repository=repository, workflow=workflow or WORKFLOW)
    signed = judging.verify_signature(layout, bundle, signer, trusted_root=trusted_root)
    click.echo(f"signed by {log(signed.workflow)}\nin {log(signed.run)}")


CHECKS = (agents, demo, doctor, qualify, selftest, validate, verify)
