"""Removes the leftovers of killed trials and installations on this machine, at the next start."""

from pathlib import Path

from reb_action.agents import install
from reb_action.model.limits import RESUME_HOURS
from reb_action.model.progress import Progress
from reb_action.sandbox import scratch, select
from reb_action.sandbox.owner import Trace
from reb_action.sandbox.protocol import Kind, SandboxSpec
from reb_action.session import state


def remove(kind: Kind, *, beside: Path, tell: Progress, resume_hours: float = RESUME_HOURS) -> None:
    """Remove sandboxes of a kind, and scratch from the folders of trials in `beside`.

    A trial that can be resumed is spared until it has not changed for `resume_hours`; its
    processes are ended.
    """
    told = set[str]()

    def spares(trace: Trace) -> bool:
        until = state.find_resumable_end(trace, hours=resume_hours)
        if until is not None and trace.session not in told:
            told.add(trace.session)
            folder = Path(trace.mount).parent.parent
            tell(
                f"kept the sandbox of the killed trial {trace.trial} until {until};"
                f" reb agent {folder} resumes it, reb stop {folder} removes it"
            )
        return until is not None

    for name in select.sweep(kind, alive=_is_alive, spares=spares):
        tell(f"removed what the killed trial {name} had left running")
    for folder in scratch.sweep(beside=beside, alive=state.is_alive, spares=spares):
        tell(f"removed the scratch of the killed trial in {folder}")


def _is_alive(trace: Trace) -> bool:
    return install.goes_on(trace) if install.is_one(trace) else state.is_alive(trace)


def remove_sandbox(spec: SandboxSpec) -> None:
    """Remove the sandbox of one trial and all of its processes."""
    select.sweep(spec.kind, alive=lambda trace: trace.session != spec.session)
