"""Says why a level failed: from the text of a log and a few facts to one cause and its proof."""

from reb_action.judge.diagnosis.facts import Facts
from reb_action.judge.diagnosis.reading import diagnose
from reb_action.model.diagnosis import Cause, Diagnosis

__all__ = ["Cause", "Diagnosis", "Facts", "diagnose"]
