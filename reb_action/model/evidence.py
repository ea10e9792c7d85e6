"""Everything that a verdict rests on."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reb_action.model.agent import AgentRun, Freeze
from reb_action.model.limits import Limits
from reb_action.model.manifest import Level, Trial
from reb_action.model.observation import Interpreter, Observation
from reb_action.model.report import Report, ReportFault


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """Everything that a verdict rests on; None and absence say "not observed".

    `logs` are those of the run levels, cut to their heads and tails. `qualified_limits` are the
    limits within which the known-good environment passed a level. `amended`: the manifest was
    replaced after the agent had ended.
    """

    trial: Trial
    gpus_promised: int
    levels: tuple[Level, ...]
    limits: Limits | None = None
    qualified_limits: Mapping[Level, Limits] = field(default_factory=dict[Level, Limits])
    agent_run: AgentRun | None = None
    freeze: Freeze | None = None
    report: Report | ReportFault | None = None
    interpreter: Interpreter | None = None
    observations: Mapping[Level, Observation] = field(default_factory=dict[Level, Observation])
    logs: Mapping[Level, str] = field(default_factory=dict[Level, str])
    hashes: Mapping[str, str] = field(default_factory=dict[str, str])
    amended: bool = False
