"""Commands that judge a finished trial: audit, verdict, judge, verify."""

from pathlib import Path

import click

from reb_action.cli.options import FILE, as_json, find_trial, folder_argument
from reb_action.model.manifest import Level


@click.command()
@folder_argument
def audit(folder: Path) -> None:
    """Check the agent's claims against observations (C5)."""
    from reb_action.cli.console import print_level
    from reb_action.judge import judge as trial_judge
    from reb_action.render.lines import claim_lines
    from reb_action.session import evidence

    judged = trial_judge.judge(evidence.read(find_trial(folder)))
    click.echo("\n".join(claim_lines(judged)))
    print_level(find_trial(folder), judged.result(Level.C5))


@click.command()
@folder_argument
@as_json
def verdict(folder: Path, *, as_json: bool) -> None:
    """Judge a trial and write verdict.json and index.html."""
    from reb_action.cli import console
    from reb_action.results import page
    from reb_action.trial import run as trial_run

    layout = find_trial(folder)
    judged = trial_run.conclude_trial(layout, tell=console.print_note)
    page.write_page(layout, judged)
    console.show_verdict(judged, as_json=as_json, folder=folder)


@click.command()
@folder_argument
@as_json
@click.option(
    "--write", is_flag=True, help="Replace a verdict made by other rules, and rewrite the page."
)
def judge(folder: Path, *, as_json: bool, write: bool) -> None:
    """Recompute a verdict from its artifact and verify its integrity."""
    from reb_action.cli import console
    from reb_action.results import page
    from reb_action.session import verdict as session_verdict

    layout = find_trial(folder)
    judged = session_verdict.judge_again(layout, replace=write)
    if write:
        page.write_page(layout, judged)
    else:
        for warning in page.check_page(layout, judged):
            console.print_note(f"reb: {warning}")
    console.print_note(f"reb: {session_verdict.UNSIGNED}; reb verify checks a signature")
    console.show_verdict(judged, as_json=as_json, folder=folder)


@click.command()
@folder_argument
@click.option(
    "--bundle", type=FILE,
    help="Attestation of the run: attestation.json of the report's artifact.",
)  # fmt: skip
@click.option(
    "--repository", metavar="OWNER/NAME",
    help="Repository whose run must have signed the trial; required with --bundle.",
)  # fmt: skip
@click.option(
    "--workflow", metavar="OWNER/NAME/.github/workflows/FILE[@REF]",
    help="Workflow that must have signed it.  [default: benchmark.yml of this project, any tag]",
)  # fmt: skip
@click.option(
    "--trusted-root", type=FILE,
    help="Sigstore's trusted_root.json.  [default: the one in the sigstore package]",
)  # fmt: skip
def verify(
    folder: Path,
    *,
    bundle: Path | None,
    repository: str | None,
    workflow: str | None,
    trusted_root: Path | None,
) -> None:
    """Verify the integrity and the signature of a trial.

    Exit code 0: the trial in FOLDER is unchanged and signed as expected. 3: changed. 11: unchanged,
    but unsigned, or the signature is invalid or from another run.
    """
    from reb_action.errors import SignatureError
    from reb_action.render.escape import log
    from reb_action.session import verdict as session_verdict
    from reb_action.session.signature import WORKFLOW, Signer

    if bundle is not None and repository is None:
        raise click.UsageError(
            "--bundle needs --repository OWNER/NAME, the repository of the run that signed"
        )
    layout = find_trial(folder)
    verdict = session_verdict.verify(layout)
    click.echo(f"{log(verdict.trial)}: unchanged; the evidence gives the same verdict")
    if bundle is None or repository is None:
        raise SignatureError(f"{session_verdict.UNSIGNED}; name an attestation with --bundle")
    signer = Signer(repository=repository, workflow=workflow or WORKFLOW)
    signed = session_verdict.verify_signature(layout, bundle, signer, trusted_root=trusted_root)
    click.echo(f"signed by {log(signed.workflow)}\nin {log(signed.run)}")


VERDICT = (audit, verdict, judge, verify)
