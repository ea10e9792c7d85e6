"""Writes the page of a trial from its folder."""

from collections.abc import Iterator

from reb_action import documents
from reb_action.corpus import qualification
from reb_action.model.manifest import Level
from reb_action.model.verdict import Verdict
from reb_action.render.html.page import View, trial_page
from reb_action.render.html.page.timeline import Timeline, build_timeline
from reb_action.session import evidence, state
from reb_action.session.layout import SessionLayout


def write_page(layout: SessionLayout, verdict: Verdict) -> None:
    """Write the page of a trial into its folder."""
    documents.write_bytes(layout.page, _page(layout, verdict))


def check_page(layout: SessionLayout, verdict: Verdict) -> Iterator[str]:
    """Yield a warning if the page differs from the one that this reb renders.

    It is only a warning: another release renders differently, and marks levels as unqualified.
    """
    if layout.page.exists() and documents.read_bytes(layout.page) != _page(layout, verdict):
        yield (
            f"{layout.page.name} differs from the page that this reb renders: it is from another"
            " release, or was changed; trust this verdict, or rewrite the page with reb judge "
            "--write"
        )


def _page(layout: SessionLayout, verdict: Verdict) -> bytes:
    return trial_page(make_view(layout, verdict)).encode()


def make_view(layout: SessionLayout, verdict: Verdict) -> View:
    """Return the content of a trial's page, from its folder."""
    records = evidence.read(layout)
    return View(
        verdict=verdict,
        evidence=records,
        agent_log=evidence.excerpt(layout.agent_log),
        unqualified=qualification.unqualified(records.trial.manifest),
        timeline=_read_timeline(layout),
    )


def _read_timeline(layout: SessionLayout) -> Timeline | None:
    """Return the agent's turns; None without a trajectory, as in published results."""
    path = layout.trajectory_document
    if not path.is_file():
        return None
    try:
        return build_timeline(documents.parse_json(documents.read_bytes(path)))
    except documents.NotJsonError:
        return None


def unqualified(layout: SessionLayout) -> frozenset[Level]:
    """Return the levels of a trial that are not qualified."""
    return qualification.unqualified(state.load(layout).trial.manifest)
