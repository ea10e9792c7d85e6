"""Shares, imports and sums of a scoreboard in few words; our own text alone, safe anywhere."""

from collections.abc import Callable

from reb_action.model.manifest import Level
from reb_action.model.scoreboard import AgentScore, Imports, Known, Published, Share
from reb_action.model.verdict import ClaimKind, Scoring

NOTHING = "-"
LEGEND = (
    "n/m: passed of counted; +k: planned trials that nothing is known of; [a…b] %: those counted"
    " as failed…left out; (c-d): Wilson interval of passed of counted, 95 %."
    " Hallucinations: path + version + capability."
)


def percent(share: float) -> str:
    """Return whole per cent without the sign; 0 and 100 say none and all, nothing else."""
    return f"{share * 100:.0f}" if share in (0, 1) else str(min(max(round(share * 100), 1), 99))


def counts(share: Share) -> str:
    """Return passed of counted, and how many are unseen."""
    told = f"{share.passed}/{share.counted}"
    return f"{told} +{share.unseen}" if share.unseen else told


def bracket(share: Share) -> str:
    """Return per cent; where something is unseen, from all of it failed to all of it left out."""
    if share.share is None:
        return NOTHING
    if share.lowest is None or not share.unseen:
        return f"{percent(share.share)} %"
    return f"[{percent(share.lowest)}…{percent(share.share)}] %"


def interval(share: Share) -> str:
    """Return the interval in whole per cent; empty where nothing counts."""
    if share.interval is None:
        return ""
    low, high = share.interval
    return f"({percent(low)}-{percent(high)})"


def lines(share: Share | None) -> tuple[str, ...]:
    """Return a share in up to three short lines."""
    if share is None or not (share.counted or share.unseen):
        return ("n/a",)
    return tuple(line for line in (counts(share), bracket(share), interval(share)) if line)


def imports(count: Imports | None) -> tuple[str, ...]:
    """Return the imports missing of all, in per cent too, and of how many trials none is known."""
    if count is None:
        return ("n/a",)
    unknown = (f"{count.unknown} unknown",) if count.unknown else ()
    if not count.total:
        return unknown or ("n/a",)
    ends = (count.missing,) if count.most is None else (count.missing, count.most)
    parts = dict.fromkeys(percent(end / count.total) for end in ends)
    share = NOTHING.join(parts)
    return NOTHING.join(map(str, ends)), f"of {count.total}", f"{share} %", *unknown


def hallucinations(one: AgentScore) -> tuple[str, ...]:
    """Return the sum, its parts, and of how many trials nothing is known."""
    parts = [one.hallucinations[kind] for kind in ClaimKind if kind in one.hallucinations]
    if not parts:
        return ("n/a",)
    unseen = one.levels[Scoring.PAPER][Level.C5].unseen
    unknown = (f"{unseen} unknown",) if unseen else ()
    return str(sum(parts)), f"({' + '.join(map(str, parts))})", *unknown


def published_hallucinations(row: Published) -> tuple[str, ...]:
    """Return what the paper counts; of the classes only one is published, and not for all."""
    known = "?" if row.capability is None else str(row.capability)
    return str(row.hallucinations), f"(? + ? + {known})"


def mean(known: Known, planned: int, told: Callable[[float], str]) -> tuple[str, str]:
    """Return the mean over the trials that know the number, and how many of all these are."""
    few = f"({known.trials} of {planned})"
    return told(known.total / known.trials) if known.trials else "unknown", few


def amount(number: float) -> str:
    """Return a count in at most three figures, with thousands or millions as a letter."""
    for size, letter in ((1_000_000, " M"), (1_000, " k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:.0f}"


def dollars(number: float) -> str:
    """Return US dollars."""
    return f"${number:.2f}"


def duration(seconds: float) -> str:
    """Return seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def size(number: float) -> str:
    """Return bytes as mega- or gigabytes."""
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"
