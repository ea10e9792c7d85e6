"""Diagnose why a level failed: one cause and its proof, from a log and a few facts."""

from reb_action.judge.diagnosis.search import Facts, diagnose
from reb_action.model.diagnosis import Cause, Diagnosis

__all__ = ["Cause", "Diagnosis", "Facts", "diagnose"]
