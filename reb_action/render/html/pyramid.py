"""The geometry of a pyramid: six strata, C0 at the base; a template draws them."""

from typing import Final

_ROW: Final = 46
_TOP: Final = 30
_GAP: Final = 4
_CENTRE: Final = 92
_APEX: Final = 18
_SPREAD: Final = 74 / 6


def top(number: int) -> int:
    """Return the upper edge of a stratum, counted from the apex."""
    return _TOP + number * _ROW


def corners(number: int, share: float = 1.0) -> str:
    """Return the corners of a stratum, or of the part that a share fills from the middle."""
    upper, lower = _APEX + number * _SPREAD, _APEX + (number + 1) * _SPREAD - 1
    bottom = top(number) + _ROW - _GAP
    points = ((-upper, top(number)), (upper, top(number)), (lower, bottom), (-lower, bottom))
    return " ".join(f"{_CENTRE + x * share:.1f},{y}" for x, y in points)
