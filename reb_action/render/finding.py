"""What a comparison with the base shows, in the same sentences on every channel."""

from collections import Counter
from typing import Final

from reb_action.model.comparison import ContestantComparison, Finding, LevelComparison
from reb_action.model.manifest import Level
from reb_action.model.quantity import count
from reb_action.render.comparison_lines import advise, show_p
from reb_action.score.base import Turn, list_changes
from reb_action.score.paired_tests import ALPHA

_ORDER: Final = (
    Finding.WORSE,
    Finding.MIXED,
    Finding.BETTER,
    Finding.INCOMPLETE,
    Finding.NO_DIFFERENCE,
)
_WORDS: Final = {
    Turn.BROKEN: "broken",
    Turn.FIXED: "fixed",
    Turn.FLIPPED: "flipped in some attempts",
}


def rank_finding(one: ContestantComparison) -> int:
    """Return the place of a comparison among others: what needs attention comes first."""
    return _ORDER.index(one.finding)


def tell_finding(one: ContestantComparison) -> str:
    """Return the verdict on a contestant: the cells that changed, then whether that is chance."""
    return f"{_tell_cells(one)}. {_tell_test(one)}{tell_gaps(one)}."


def tell_level(one: ContestantComparison, level: Level) -> str | None:
    """Return the verdict on one level, or None where it has no cell on both sides."""
    compared = next((of for of in one.levels if of.level is level), None)
    if compared is None:
        return None
    cells = _tell_turns(Counter(c.turn for c in list_changes((one,)) if c.level is level))
    return f"{cells}; {_tell_level_test(compared)}"


def advise_contestant(one: ContestantComparison) -> str | None:
    """Return what would decide the level that is nearest to being shown; None if none is open."""
    open_levels = [level for level in one.levels if level.difference and not _is_shown(level)]
    nearest = min(open_levels, key=lambda level: level.p or 1.0, default=None)
    return None if nearest is None else advise(nearest)


def tell_gaps(one: ContestantComparison) -> str:
    """Return how many trials of a comparison are unseen, as the end of a sentence, or ""."""
    if not one.unseen:
        return ""
    return f"; incomplete: {count(len(one.unseen), 'trial')} here or in the base missing or invalid"


def _tell_cells(one: ContestantComparison) -> str:
    return _tell_turns(Counter(change.turn for change in list_changes((one,))))


def _tell_turns(turns: Counter[Turn]) -> str:
    numbers = [(turns[turn], word) for turn, word in _WORDS.items() if turns[turn]]
    first, *rest = numbers or [(0, "changed")]
    parts = (
        f"{count(first[0], 'cell')} {first[1]}",
        *(f"{number} {word}" for number, word in rest),
    )
    return ", ".join(parts)


def _tell_test(one: ContestantComparison) -> str:
    shown = [level for level in one.levels if _is_shown(level)]
    p = min((level.adjusted for level in one.levels if level.adjusted is not None), default=None)
    chance = "" if p is None else f" (p = {show_p(p)})"
    match one.finding:
        case Finding.BETTER | Finding.WORSE | Finding.MIXED:
            parts = ", ".join(_tell_level_test(level) for level in shown)
            return parts[0].upper() + parts[1:]
        case Finding.NO_DIFFERENCE | Finding.INCOMPLETE:
            return f"No difference that this run could show{chance}"


def _tell_level_test(level: LevelComparison) -> str:
    chance = "" if level.adjusted is None else f" (p = {show_p(level.adjusted)})"
    if _is_shown(level):
        return f"{'better' if level.difference > 0 else 'worse'} at {level.level}{chance}"
    return f"no difference shown at {level.level}{chance}"


def _is_shown(level: LevelComparison) -> bool:
    return level.adjusted is not None and level.adjusted <= ALPHA
