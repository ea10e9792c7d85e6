"""The commands of one trial: run, start, agent, probe, audit, verdict, judge, stop."""

import os
import signal
from pathlib import Path

import click

from reb_action.cli.options import (
    as_json,
    deadline_option,
    fail_on_option,
    folder_argument,
    scoring_option,
    trial_options,
)
from reb_action.model.manifest import Level
from reb_action.model.verdict import Scoring
from reb_action.session.layout import SessionLayout


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
    from reb_action.errors import SignatureError
    from reb_action.render.escape import log
    from reb_action.session import verdict as session_verdict
    from reb_action.session.layout import SessionLayout
    from reb_action.session.signature import WORKFLOW, Signer

    if bundle is not None and repository is None:
        raise click.UsageError("--bundle needs --repository OWNER/NAME: whose run must have signed")
    layout = SessionLayout(folder=folder.absolute())
    verdict = session_verdict.verify(layout)
    click.echo(f"{log(verdict.trial)}: unchanged, and the evidence gives the same verdict")
    if bundle is None or repository is None:
        raise SignatureError(f"{session_verdict.UNSIGNED}; name an attestation with --bundle")
    signer = Signer(repository=repository, workflow=workflow or WORKFLOW)
    signed = session_verdict.verify_signature(layout, bundle, signer, trusted_root=trusted_root)
    click.echo(f"signed by {log(signed.workflow)}\nin {log(signed.run)}")


@click.command()
@trial_options
@as_json
def run(*, as_json: bool, **chosen: object) -> None:
    """Run one trial of REPOSITORY (owner/name, or a manifest file) to its verdict."""
    from reb_action.cli import arguments, console
    from reb_action.cli.console import telling
    from reb_action.results import page
    from reb_action.trial import run as trial_run

    options = arguments.options(chosen)
    with telling(quiet=as_json) as tell:
        verdict = trial_run.run(options, environ=os.environ, tell=tell)
    layout = SessionLayout(folder=options.folder)
    page.write_page(layout, verdict)
    console.show_verdict(verdict, as_json=as_json, folder=options.folder)


@click.command()
@trial_options
@fail_on_option
@scoring_option
def start(*, fail_on: str, scoring: str, **chosen: object) -> None:
    """Start a trial: sweep leftovers, start the sandbox, check the repository out in it."""
    from reb_action.cli import arguments
    from reb_action.cli.console import telling
    from reb_action.judge import gate
    from reb_action.trial import start as trial_start

    # Only the gate needs these, but hours later.
    gate.parse_fail_on(fail_on, scoring=Scoring(scoring))
    options = arguments.options(chosen)
    with telling(quiet=False) as tell:
        trial_start.start(options, owner=os.getppid(), tell=tell, environ=os.environ)
    click.echo(str(options.folder))


@click.command()
@folder_argument
@deadline_option
def agent(folder: Path, ends_at: int | None) -> None:
    """Let the agent work, then freeze the sandbox of the trial in FOLDER."""
    from reb_action.cli.console import telling
    from reb_action.render.lines import agent_line
    from reb_action.trial import agent as trial_agent
    from reb_action.workflow import deadline

    deadline.demand_time(_layout(folder), None, ends_at)
    with telling(quiet=False) as tell:
        ended = trial_agent.run_agent(_layout(folder), environ=os.environ, tell=tell)
    click.echo(agent_line(ended))


@click.command()
@folder_argument
@click.argument("level", type=click.Choice(["C0", "C1", "C2", "C3", "C4"]))
@deadline_option
def probe(folder: Path, level: str, ends_at: int | None) -> None:
    """Observe one LEVEL of the trial in FOLDER."""
    from reb_action.cli.console import telling
    from reb_action.render.lines import level_line
    from reb_action.results import page
    from reb_action.trial import probe as trial_probe
    from reb_action.workflow import deadline

    deadline.demand_time(_layout(folder), Level(level), ends_at)
    with telling(quiet=False) as tell:
        result = trial_probe.observe(_layout(folder), Level(level), tell=tell)
    click.echo(level_line(result, page.unqualified(_layout(folder))))


@click.command()
@folder_argument
def audit(folder: Path) -> None:
    """Hold the claims of the report against what was observed (C5)."""
    from reb_action.judge import judge as trial_judge
    from reb_action.render.lines import claim_lines
    from reb_action.session import evidence

    judged = trial_judge.judge(evidence.read(_layout(folder)))
    click.echo("\n".join(claim_lines(judged)))


@click.command()
@folder_argument
@as_json
def verdict(folder: Path, *, as_json: bool) -> None:
    """Judge the trial in FOLDER and write verdict.json and index.html."""
    from reb_action.cli import console
    from reb_action.results import page
    from reb_action.session import verdict as session_verdict

    layout = _layout(folder)
    judged = session_verdict.conclude(layout)
    page.write_page(layout, judged)
    console.show_verdict(judged, as_json=as_json, folder=folder)


@click.command()
@folder_argument
@as_json
@click.option("--write", is_flag=True, help="Replace a verdict that was judged by other rules.")
def judge(folder: Path, *, as_json: bool, write: bool) -> None:
    """Recompute the verdict of an artifact, without sandbox or GPU; refuses a changed one."""
    from reb_action.cli import console
    from reb_action.results import page
    from reb_action.session import verdict as session_verdict

    layout = _layout(folder)
    judged = session_verdict.judge_again(layout, replace=write)
    if write:
        page.write_page(layout, judged)
    else:
        for doubt in page.doubts_of_page(layout, judged):
            click.echo(f"reb: {doubt}", err=True)
    click.echo(f"reb: {session_verdict.UNSIGNED}; reb verify checks a signature", err=True)
    console.show_verdict(judged, as_json=as_json, folder=folder)


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option("--all", "every", is_flag=True, help="Remove every sandbox of ours on this machine.")
def stop(folder: Path | None, *, every: bool) -> None:
    """Remove the sandbox of the trial in FOLDER; what was observed stays."""
    from reb_action.cli.console import telling
    from reb_action.trial import stop as trial_stop

    if (folder is None) is not every:
        raise click.UsageError("name the folder of a trial, or give --all")
    # An interrupt asks for just what is being done here; what hangs still ends by SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with telling(quiet=False) as tell:
        if folder is None:
            trial_stop.stop_all(tell=tell)
        elif not _layout(folder).session.exists():
            tell(f"no trial began in {folder}, so there is nothing to stop")
        else:
            trial_stop.stop(_layout(folder), tell=tell)


TRIAL = (run, start, agent, probe, audit, verdict, judge, stop, verify)


def _layout(folder: Path) -> SessionLayout:
    return SessionLayout(folder=folder.absolute())
