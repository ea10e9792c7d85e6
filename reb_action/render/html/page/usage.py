"""What a trial used, as counted, estimated and self-reported, and what the model's vendor did."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.model.agent import AgentRun, Usage, UsageEstimate, VendorRecord
from reb_action.render.html.environment import LISTED
from reb_action.render.quantities import duration

_AMOUNTS: Final = (
    ("input_tokens", "input tokens"),
    ("output_tokens", "output tokens"),
    ("cost_usd", "cost in USD"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageLine:
    """One quantity: counted by the gateway, estimated for calls without usage, self-reported."""

    name: str
    counted: str
    estimated: str
    reported: str


@dataclass(frozen=True, kw_only=True, slots=True)
class VendorFact:
    """One thing that happened at the model's vendor."""

    name: str
    text: str


def usage_lines(run: AgentRun) -> tuple[UsageLine, ...]:
    """Return the three sources of each quantity; empty where they cannot differ."""
    if run.estimate is None and (run.reported is None or run.reported == run.usage):
        return ()
    counted, reported = run.usage or Usage(), run.reported or Usage()
    return tuple(
        UsageLine(
            name=title,
            counted=_amount(getattr(counted, name)),
            estimated="none" if run.estimate is None else _bounds(run.estimate, name),
            reported=_amount(getattr(reported, name)),
        )
        for name, title in _AMOUNTS
    )


def vendor_facts(record: VendorRecord | None) -> tuple[VendorFact, ...]:
    """Return what happened at the model's vendor, without what did not occur."""
    return () if record is None else tuple(_facts(record))


def _facts(record: VendorRecord) -> Iterator[VendorFact]:
    counts = (
        ("answered by", record.models),
        ("removed from requests", record.removed),
        ("offered to the vendor", record.offered),
        ("repeated after", record.retried),
    )
    yield from (VendorFact(name=name, text=_list(items)) for name, items in counts if items)
    if record.searches:
        yield VendorFact(name="searches by the vendor", text=f"{record.searches:,}")
    if record.retried:
        yield VendorFact(name="waited for the model", text=duration(record.waited_seconds))


def _bounds(estimate: UsageEstimate, name: str) -> str:
    low, high = getattr(estimate, f"{name}_min"), getattr(estimate, f"{name}_max")
    return "unknown" if high is None else f"{_amount(low)} to {_amount(high)}"


def _amount(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({number:,})" for name, number in sorted(counts.items())[:LISTED])
