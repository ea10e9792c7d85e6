"""A verdict as one HTML page that needs nothing but itself."""

from reb_action.model.verdict import Verdict
from reb_action.render.escape import page
from reb_action.render.text import verdict_lines


def trial_page(verdict: Verdict) -> str:
    """Return the page of a trial."""
    lines = "\n".join(page(line) for line in verdict_lines(verdict))
    return f"<!doctype html><title>{page(verdict.trial)}</title><pre>{lines}</pre>\n"
