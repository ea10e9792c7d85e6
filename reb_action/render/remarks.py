"""What the agent changed or left behind, the same on every channel."""

from collections.abc import Iterator
from dataclasses import dataclass

from reb_action.model.verdict import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """A label of our own, and items that come from outside: each channel escapes them."""

    label: str
    items: tuple[str, ...]


def list_remarks(verdict: Verdict) -> Iterator[Remark]:
    """Yield the remarks for every channel; one without items is left out."""
    touched = tuple(f"{file.path} ({file.change})" for file in verdict.touched)
    remarks = (
        Remark(label="Tracked files changed by the agent, restored for the probes", items=touched),
        Remark(label="Edited copies of the repository's modules", items=verdict.copies),
        Remark(label="Processes left running by the agent", items=verdict.survivors),
    )
    yield from (remark for remark in remarks if remark.items)


def list_page_remarks(verdict: Verdict) -> Iterator[Remark]:
    """Yield the remarks for the page of a trial, which has room for the environment too."""
    variables = tuple(f"{name}={value}" for name, value in sorted(verdict.environment.items()))
    remarks = (
        Remark(label="Start-up hooks of the reported interpreter", items=verdict.hooks),
        Remark(label="Environment variables set by the report for every probe", items=variables),
    )
    yield from list_remarks(verdict)
    yield from (remark for remark in remarks if remark.items)
