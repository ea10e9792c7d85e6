"""Writes the page of a trial from its folder."""

from collections.abc import Iterator

from reb_action import documents
from reb_action.corpus import qualification
from reb_action.model.manifest import Level
from reb_action.model.verdict import Verdict
from reb_action.render.html.page import View, trial_page
from reb_action.session import evidence, state
from reb_action.session.layout import SessionLayout


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
        unqualified=qualification.unqualified(read.trial.manifest),
    )


def unqualified(layout: SessionLayout) -> frozenset[Level]:
    """Return the levels of a trial whose outcomes are marked."""
    return qualification.unqualified(state.load(layout).trial.manifest)
