"""The red team: cheating agents that are played against a bait, to see that none gets through."""

from reb_action.redteam.cheater import Cheater, Fools, cheaters, controls, limits
from reb_action.redteam.play import Arena, Finding, arena, play

__all__ = [
    "Arena",
    "Cheater",
    "Finding",
    "Fools",
    "arena",
    "cheaters",
    "controls",
    "limits",
    "play",
]
