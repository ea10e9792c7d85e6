"""Removes the leftovers of killed trials and installations on this machine, at the next start."""

from pathlib import Path

from reb_action.agents import install
from reb_action.model.progress import Progress
from reb_action.sandbox import scratch, select
from reb_action.sandbox.owner import Trace
from reb_action.sandbox.protocol import Kind, SandboxSpec
from reb_action.session import state


def remove(kind: Kind, *, beside: Path, tell: Progress) -> None:
    """Remove sandboxes of a kind, and scratch from the folders of trials in `beside`."""
    for name in select.sweep(kind, alive=_is_alive):
        tell(f"removed what the killed trial {name} had left running")
    for folder in scratch.sweep(beside=beside, alive=state.is_alive):
        tell(f"removed the scratch of the killed trial in {folder}")


def _is_alive(trace: Trace) -> bool:
    return install.goes_on(trace) if install.is_one(trace) else state.is_alive(trace)


def remove_sandbox(spec: SandboxSpec) -> None:
    """Remove the sandbox of one trial and all of its processes."""
    select.sweep(spec.kind, alive=lambda trace: trace.session != spec.session)
