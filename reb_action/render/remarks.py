"""What the agent changed or left behind, the same on every channel."""

from collections.abc import Iterator
from dataclasses import dataclass

from reb_action.judge.gate import describe_answer
from reb_action.model.verdict import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """A label, and items that come from outside: each channel escapes them."""

    label: str
    items: tuple[str, ...]


def list_remarks(verdict: Verdict) -> Iterator[Remark]:
    """Yield the remarks for every channel; one without items is left out."""
    touched = tuple(f"{file.path} ({file.change})" for file in verdict.touched)
    faults = tuple(fault.message for fault in verdict.field_faults)
    amended = ("measured by another manifest after the agent had ended: this is not a record",)
    setup = verdict.setup
    answer = () if setup is None else (f"{describe_answer(setup.answer)}: {setup.reason}",)
    remarks = (
        Remark(label="The repository's own instructions", items=answer),
        Remark(label="Manifest", items=amended if verdict.amended else ()),
        Remark(label="Fields of report.json that break its contract", items=faults),
        Remark(label="Tracked files changed by the agent, restored for the probes", items=touched),
        Remark(label="Edited copies of the repository's modules", items=verdict.copies),
        Remark(
            label="Untracked modules that shadow installed or standard ones",
            items=verdict.shadowing,
        ),
        Remark(label="Processes left running by the agent or a run", items=verdict.survivors),
        Remark(label="Start-up hooks of no known package", items=verdict.hooks),
    )
    yield from (remark for remark in remarks if remark.items)


def list_page_remarks(verdict: Verdict) -> Iterator[Remark]:
    """Yield the remarks for the page of a trial, which has room for the environment too."""
    variables = tuple(f"{name}={value}" for name, value in sorted(verdict.environment.items()))
    known = tuple(f"{hook} ({package})" for hook, package in sorted(verdict.known_hooks.items()))
    remarks = (
        Remark(label="Start-up hooks of known packages", items=known),
        Remark(label="Environment variables set by the report for every probe", items=variables),
    )
    yield from list_remarks(verdict)
    yield from (remark for remark in remarks if remark.items)
