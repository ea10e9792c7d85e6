"""Removes what killed trials and installations have left on this machine, at the next start."""

from pathlib import Path

from reb_action import session
from reb_action.agents import install
from reb_action.freezing import Tell
from reb_action.sandbox import scratch, select
from reb_action.sandbox.protocol import Kind
from reb_action.sandbox.trace import Trace


def remove(kind: Kind, *, beside: Path, tell: Tell) -> None:
    """Remove sandboxes of a kind, and scratch from the folders of trials in `beside`."""
    for name in select.sweep(kind, alive=_is_alive):
        tell(f"removed what the killed trial {name} had left running")
    for folder in scratch.sweep(beside=beside, alive=session.is_alive):
        tell(f"removed the scratch of the killed trial in {folder}")


def _is_alive(trace: Trace) -> bool:
    return install.goes_on(trace) if install.is_one(trace) else session.is_alive(trace)
