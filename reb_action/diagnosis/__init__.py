"""Says why a level failed: from the text of a log and a few facts to one cause and its proof."""

from reb_action.diagnosis.cause import Cause, Diagnosis, Facts
from reb_action.diagnosis.reading import diagnose

__all__ = ["Cause", "Diagnosis", "Facts", "diagnose"]
