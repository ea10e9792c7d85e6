"""Shares, imports and means in words, the same on every channel; all text is our own."""

from collections.abc import Callable, Mapping
from typing import Final, TypeGuard

from reb_action.model.manifest import Level
from reb_action.model.quantity import count
from reb_action.model.scoreboard import AgentScore, Imports, Known, Published, Share
from reb_action.model.verdict import ClaimKind, Scoring
from reb_action.render.quantities import percent

NONE: Final = "n/a"
WORDS: Final[Mapping[str, str]] = {
    "n of m": "passed of counted",
    "k unseen": "planned trials without a result: missing or invalid",
    "[a…b] %": "the share if all unseen trials failed (a), and without them (b)",
    "(c-d)": "95 % confidence interval (Wilson) of n of m, in per cent",
}
"""What the parts of a share mean."""
LEGEND: Final = (
    "; ".join(f"{part}: {meaning}" for part, meaning in WORDS.items())
    + ". Hallucinations: path + version + capability."
)
UNSEEN: Final = "; ".join(f"{part}: {WORDS[part]}" for part in ("k unseen", "[a…b] %")) + "."
"""The part of the legend that a table without intervals needs."""


def is_planned(share: Share | None) -> TypeGuard[Share]:
    """Return whether a share has a trial that counts, or would count if it were measured."""
    return share is not None and bool(share.counted or share.unseen)


def counts(share: Share) -> str:
    """Return passed of counted, and how many are unseen."""
    return f"{share.passed} of {share.counted}{_unseen(share)}"


def bracket(share: Share | None) -> str:
    """Return the share in per cent; with unseen trials, its range."""
    if not is_planned(share):
        return NONE
    if share.share is None or share.lowest is None:
        return "not measured"
    lowest, best = percent(share.lowest), percent(share.share)
    return f"{best} %" if lowest == best else f"[{lowest}…{best}] %"


def interval(share: Share) -> str | None:
    """Return the confidence interval in whole per cent; None where nothing counts."""
    if share.interval is None:
        return None
    low, high = share.interval
    return f"({percent(low)}-{percent(high)})"


def short(share: Share) -> str:
    """Return the counts, which is all that a badge has room for."""
    return counts(share) if share.counted else f"not measured{_unseen(share)}"


def lines(share: Share | None) -> tuple[str, ...]:
    """Return a share in up to four short lines, which read as one line too."""
    if not is_planned(share):
        return (NONE,)
    counted = counts(share).replace(", ", ",\n").splitlines()
    return tuple(line for line in (*counted, bracket(share), interval(share)) if line)


def imports(imports: Imports | None) -> tuple[str, ...]:
    """Return the missing imports of all, their share, and how many trials are unknown."""
    if imports is None:
        return (NONE,)
    unknown = (unknown_trials(imports.unknown),) if imports.unknown else ()
    if not imports.total:
        return unknown or (NONE,)
    return missing(imports), f"of {imports.total:,}", imports_share(imports), *unknown


def ends(imports: Imports) -> tuple[int, int]:
    """Return the fewest and the most imports that may be missing."""
    return imports.missing, imports.missing if imports.most is None else imports.most


def missing(imports: Imports) -> str:
    """Return how many imports are missing, as a range where only that is known."""
    return "-".join(dict.fromkeys(f"{end:,}" for end in ends(imports)))


def imports_share(imports: Imports) -> str:
    """Return the share of imports that are missing, of at least one import."""
    parts = dict.fromkeys(percent(end / imports.total) for end in ends(imports))
    return f"{'-'.join(parts)} %"


def imports_line(imports: Imports) -> str:
    """Return the missing imports of all in one line."""
    unknown = f", {unknown_trials(imports.unknown)}" if imports.unknown else ""
    return f"{missing(imports)} of {count(imports.total, 'import')} missing{unknown}"


def unknown_trials(number: int) -> str:
    """Return for how many trials a number is unknown."""
    return f"{count(number, 'trial')} unknown"


def hallucinations(score: AgentScore) -> tuple[str, ...]:
    """Return the sum, its parts, and for how many trials it is unknown."""
    parts = [score.hallucinations[kind] for kind in ClaimKind if kind in score.hallucinations]
    if not parts:
        return (NONE,)
    unseen = score.levels[Scoring.PAPER][Level.C5].unseen
    unknown = (unknown_trials(unseen),) if unseen else ()
    return str(sum(parts)), f"({' + '.join(map(str, parts))})", *unknown


def published_hallucinations(row: Published) -> tuple[str, ...]:
    """Return the sum of the paper; it publishes one of the three parts, and not for all agents."""
    capability = "?" if row.capability is None else str(row.capability)
    return str(row.hallucinations), f"(? + ? + {capability})"


def mean(known: Known, trials: int, show: Callable[[float], str]) -> tuple[str, str]:
    """Return the mean over the trials that report a number, and how many of all these are."""
    counted = f"({known.trials} of {trials})"
    return mean_text(known, show) or "unknown", counted


def mean_text(known: Known, show: Callable[[float], str]) -> str | None:
    """Return the mean, or its bounds where some calls reported no usage; None where unknown."""
    if not known.trials:
        return None
    low = show(known.total / known.trials)
    high = low if known.most is None else show(known.most / known.trials)
    return low if high == low else f"{low} to {high}"


def _unseen(share: Share) -> str:
    return f", {share.unseen} unseen" if share.unseen else ""
