"""Every rule that recognises a cause in a log, the most specific first."""

from reb_action.judge.diagnosis.rules.imports import IMPORTS
from reb_action.judge.diagnosis.rules.machine import MACHINE
from reb_action.judge.diagnosis.rules.rule import Rule
from reb_action.judge.diagnosis.rules.runs import RUNS
from reb_action.judge.diagnosis.rules.symptoms import SYMPTOMS
from reb_action.judge.diagnosis.rules.tools import TOOLS
from reb_action.judge.diagnosis.rules.versions import VERSIONS

__all__ = ["RULES", "Rule"]

RULES: tuple[Rule, ...] = (*MACHINE, *TOOLS, *VERSIONS, *RUNS, *IMPORTS, *SYMPTOMS)
