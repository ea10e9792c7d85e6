"""Ends a trial: removes its sandbox and scratch; the evidence stays."""

from reb_action.model.progress import Progress
from reb_action.sandbox import scratch, select
from reb_action.sandbox.protocol import Kind
from reb_action.session import evidence, state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import Phase
from reb_action.trial.leftovers import remove_sandbox


def stop(layout: SessionLayout, *, tell: Progress) -> None:
    """Remove the sandbox and the scratch of a trial; its results are kept."""
    begun = state.load(layout)
    if begun.handle or begun.phase is Phase.STARTING:
        remove_sandbox(begun.spec)
    scratch.remove(layout.work)
    # A killed step may have left a log that no verdict has sealed.
    evidence.seal(layout)
    state.advance(layout, Phase.STOPPED)
    tell("the sandbox is removed")


def stop_all(*, tell: Progress) -> None:
    """Remove every sandbox that trials on this machine have left or still use."""
    for kind in Kind:
        for name in select.sweep(kind, alive=lambda _: False):
            tell(f"removed the sandbox of session {name}")
