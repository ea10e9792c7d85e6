"""From values to what the user sees."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from reb_action import console, documents, evidence, manifest, qualified, session
from reb_action.layout import SessionLayout
from reb_action.model.manifest import Level, Manifest
from reb_action.model.verdict import Verdict
from reb_action.render.html.page import View, trial_page


def write_page(layout: SessionLayout, verdict: Verdict) -> None:
    """Write the page of a trial beside its verdict, from what its folder holds."""
    documents.write_bytes(layout.page, _page(layout, verdict))


def doubts_of_page(layout: SessionLayout, verdict: Verdict) -> Iterator[str]:
    """Yield what is to be known of a page that is not what this reb makes of the folder.

    That refuses nothing: another release looks different, and marks what was not yet qualified.
    """
    if layout.page.exists() and documents.read_bytes(layout.page) != _page(layout, verdict):
        yield (
            f"{layout.page.name} is not the page that this reb makes of the evidence: it is of"
            " another release, or was changed; go by this verdict, or make it again by reb judge"
            " --write"
        )


def _page(layout: SessionLayout, verdict: Verdict) -> bytes:
    return trial_page(view(layout, verdict)).encode()


def view(layout: SessionLayout, verdict: Verdict) -> View:
    """Return what the page of a trial shows, from what its folder holds."""
    read = evidence.read(layout)
    return View(
        verdict=verdict,
        evidence=read,
        agent_log=evidence.excerpt(layout.agent_log),
        unqualified=qualified.unqualified(read.trial.manifest),
    )


def unqualified(layout: SessionLayout) -> frozenset[Level]:
    """Return the levels of a trial whose outcomes are marked."""
    return qualified.unqualified(session.load(layout).trial.manifest)


def show(verdict: Verdict, *, as_json: bool, folder: Path) -> None:
    """Print a verdict for people, or as JSON for machines."""
    if as_json:
        click.echo(documents.dump_json(documents.to_json(verdict)).decode(), nl=False)
        return
    console.show(verdict, unqualified(SessionLayout(folder=folder)))
    click.echo(f"verdict and page: {folder}")


def validated(paths: Iterable[Path]) -> Iterator[str]:
    """Yield what was found good, and the denominators; raises DocumentError for the first fault."""
    manifests = [one for path in paths for one in _manifests(path)]
    yield "1 manifest is valid" if len(manifests) == 1 else f"{len(manifests)} manifests are valid"
    yield "          " + "  ".join(f"{level:>5}" for level in Level if level is not Level.C5)
    yield "paper     " + "  ".join(f"{count:>5}" for count in _paper(manifests))
    yield "strict    " + "  ".join(f"{count:>5}" for count in _strict(manifests))
    for one in manifests:
        for level, reason in sorted(one.paper_only.items()):
            yield f"{one.repository} {level} counts in paper only: {reason}"


def _manifests(path: Path) -> tuple[Manifest, ...]:
    return manifest.load_folder(path) if path.is_dir() else (manifest.load(path),)


def _paper(manifests: list[Manifest]) -> Iterator[int]:
    yield sum(one.imports for one in manifests)
    for level in (Level.C1, Level.C2, Level.C3, Level.C4):
        yield sum(level not in one.not_applicable for one in manifests)


def _strict(manifests: list[Manifest]) -> Iterator[int]:
    yield len(manifests)
    for level in (Level.C1, Level.C2, Level.C3, Level.C4):
        left_out = sum(level in one.not_applicable or level in one.paper_only for one in manifests)
        yield len(manifests) - left_out
