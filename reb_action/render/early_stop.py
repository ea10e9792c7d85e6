"""Why a run ended early and what that saved, for logs and as Markdown."""

from reb_action.model.plan import EarlyStop
from reb_action.model.quantity import count
from reb_action.render.escape import log, markdown
from reb_action.render.quantities import dollars, duration


def stop_line(stop: EarlyStop) -> str:
    """Return what was left out, why, and what that saved, as one line of a log."""
    return f"Stopped early: {log(stop.answer, limit=1000)}. {_tell_saved(stop)}"


def stop_markdown(stop: EarlyStop) -> str:
    """Return the same as Markdown."""
    return f"**Stopped early**: {markdown(stop.answer, limit=1000)}. {_tell_saved(stop)}"


def _tell_saved(stop: EarlyStop) -> str:
    saved = [
        *([f"{duration(stop.seconds)} of agents"] if stop.seconds is not None else ()),
        *([dollars(stop.cost_usd)] if stop.cost_usd else ()),
    ]
    about = f", which saved about {' and '.join(saved)}" if saved else ""
    skipped, planned = len(stop.skipped), count(stop.ran + len(stop.skipped), "trial")
    return f"{skipped} of {planned} did not run{about}."
