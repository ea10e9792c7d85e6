"""What is told of shares, imports and sums, the same on every channel; our own text alone."""

from collections.abc import Callable, Mapping
from typing import Final, TypeGuard

from reb_action.model.manifest import Level
from reb_action.model.scoreboard import AgentScore, Imports, Known, Published, Share
from reb_action.model.verdict import ClaimKind, Scoring
from reb_action.render.quantities import count, percent

NONE: Final = "n/a"
WORDS: Final[Mapping[str, str]] = {
    "n of m": "passed of counted",
    "k unseen": "planned, and missing or invalid",
    "[a…b] %": "from the unseen counted as failed to the unseen left out",
    "(c-d)": "95 % interval (Wilson) of n of m, in per cent",
}
"""What the parts of a share mean."""
LEGEND: Final = (
    "; ".join(f"{part}: {means}" for part, means in WORDS.items())
    + ". Hallucinations: path + version + capability."
)
UNSEEN: Final = "; ".join(f"{part}: {WORDS[part]}" for part in ("k unseen", "[a…b] %")) + "."
"""The part of the legend that a table without intervals needs."""


def planned(share: Share | None) -> TypeGuard[Share]:
    """Say whether there is a share: of a trial that counts, or would."""
    return share is not None and bool(share.counted or share.unseen)


def counts(share: Share) -> str:
    """Return passed of counted, and how many are unseen."""
    return f"{share.passed} of {share.counted}{_unseen(share)}"


def bracket(share: Share | None) -> str:
    """Return per cent; where something is unseen, from all of it failed to all of it left out."""
    if not planned(share):
        return NONE
    if share.share is None or share.lowest is None:
        return "not measured"
    best = percent(share.share)
    return f"[{percent(share.lowest)}…{best}] %" if share.unseen else f"{best} %"


def interval(share: Share) -> str | None:
    """Return the interval in whole per cent; None where nothing counts."""
    if share.interval is None:
        return None
    low, high = share.interval
    return f"({percent(low)}-{percent(high)})"


def short(share: Share) -> str:
    """Return the counts, or that there are none: what a badge has room for."""
    return counts(share) if share.counted else f"not measured{_unseen(share)}"


def lines(share: Share | None) -> tuple[str, ...]:
    """Return a share in up to four short lines, which read as one line too."""
    if not planned(share):
        return (NONE,)
    counted = counts(share).replace(", ", ",\n").splitlines()
    return tuple(line for line in (*counted, bracket(share), interval(share)) if line)


def imports(found: Imports | None) -> tuple[str, ...]:
    """Return the imports missing of all, in per cent too, and of how many trials none is known."""
    if found is None:
        return (NONE,)
    unknown = (unknown_trials(found.unknown),) if found.unknown else ()
    if not found.total:
        return unknown or (NONE,)
    return missing(found), f"of {found.total:,}", imports_share(found), *unknown


def ends(found: Imports) -> tuple[int, int]:
    """Return the fewest and the most imports that may be missing."""
    return found.missing, found.missing if found.most is None else found.most


def missing(found: Imports) -> str:
    """Return how many imports are missing, as a range where only that is known."""
    return "-".join(dict.fromkeys(f"{end:,}" for end in ends(found)))


def imports_share(found: Imports) -> str:
    """Return the share of imports that are missing, of at least one import."""
    parts = dict.fromkeys(percent(end / found.total) for end in ends(found))
    return f"{'-'.join(parts)} %"


def imports_line(found: Imports) -> str:
    """Return the imports missing of all in one line."""
    unknown = f", {unknown_trials(found.unknown)}" if found.unknown else ""
    return f"{missing(found)} of {count(found.total, 'import')} missing{unknown}"


def unknown_trials(number: int) -> str:
    """Return of how many trials a number is not known."""
    return f"{count(number, 'trial')} unknown"


def hallucinations(one: AgentScore) -> tuple[str, ...]:
    """Return the sum, its parts, and of how many trials nothing is known."""
    parts = [one.hallucinations[kind] for kind in ClaimKind if kind in one.hallucinations]
    if not parts:
        return (NONE,)
    unseen = one.levels[Scoring.PAPER][Level.C5].unseen
    unknown = (unknown_trials(unseen),) if unseen else ()
    return str(sum(parts)), f"({' + '.join(map(str, parts))})", *unknown


def published_hallucinations(row: Published) -> tuple[str, ...]:
    """Return what the paper counts; of the classes only one is published, and not for all."""
    known = "?" if row.capability is None else str(row.capability)
    return str(row.hallucinations), f"(? + ? + {known})"


def mean(known: Known, trials: int, said: Callable[[float], str]) -> tuple[str, str]:
    """Return the mean over the trials that know the number, and how many of all these are."""
    few = f"({known.trials} of {trials})"
    return said(known.total / known.trials) if known.trials else "unknown", few


def _unseen(share: Share) -> str:
    return f", {share.unseen} unseen" if share.unseen else ""
