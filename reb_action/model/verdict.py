"""The results of the judge: for claims, for levels, and for the whole trial."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from reb_action.model.agent import AgentRun, Touched
from reb_action.model.contestant import Contestant
from reb_action.model.diagnosis import Diagnosis
from reb_action.model.manifest import Level, Outcome
from reb_action.model.report import FieldFault, ReportFault

UNASKED: Final = "not measured: this trial was asked to leave it out"
"""The reason of a level that was not requested."""


class ClaimKind(StrEnum):
    """The paper's classes of hallucination."""

    PATH = "path"
    VERSION = "version"
    CAPABILITY = "capability"


class Standing(StrEnum):
    """The result of comparing a claim with the observations."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    UNVERIFIABLE = "unverifiable"
    NOT_MADE = "not_made"


class Scoring(StrEnum):
    """Two readings of the same observations: our rules of evidence, or the paper's formulas."""

    STRICT = "strict"
    PAPER = "paper"


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One checkable claim of the report, the observation that it is compared with, and its source.

    `standing` follows the strict rules. `hallucinations` is how often the paper counts the claim:
    the paper also counts claims that an unusable interpreter does not confirm. An under-claim is
    shown and not counted.
    """

    field: str
    kind: ClaimKind
    claimed: str | None
    observed: str | None
    standing: Standing
    source: str
    hallucinations: int = 0
    under_claim: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Audit:
    """C5: the report's claims against the observations."""

    claims: tuple[Claim, ...]

    def hallucinations(self, kind: ClaimKind) -> int:
        """Return the paper's count of one class."""
        return sum(claim.hallucinations for claim in self.claims if claim.kind is kind)

    @property
    def refuted(self) -> tuple[Claim, ...]:
        """The claims that an observation contradicts."""
        return tuple(claim for claim in self.claims if claim.standing is Standing.REFUTED)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportCount:
    """C0 in numbers: the paper's count, and the strict one (third-party only, stubs unmasked).

    Without an observation the paper's count has everything missing and the strict one is unknown.
    `of_paper` is false if the manifest declares no total, or not the one that was counted: then
    `total` is the count of this commit, and no result of the paper.
    """

    missing: int
    total: int
    strict_missing: int | None
    strict_total: int | None
    of_paper: bool = True

    @property
    def known_total(self) -> int | None:
        """The number of imports; None if none is declared and they were not counted."""
        known = self.of_paper or self.total > 0 or self.strict_total is not None
        return self.total if known else None


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelResult:
    """One level: `outcome` by the strict scoring, `paper` by the paper's, and why.

    `diagnosis` is the likely cause of a failure; it explains the outcome and never decides it.
    """

    level: Level
    outcome: Outcome
    paper: Outcome
    reason: str
    imports: ImportCount | None = None
    diagnosis: Diagnosis | None = None

    def by(self, scoring: Scoring) -> Outcome:
        """Return the outcome by one of the scorings."""
        return self.outcome if scoring is Scoring.STRICT else self.paper

    @property
    def unasked(self) -> bool:
        """Whether the level was not requested: then it is not a fault and never counts."""
        return self.outcome is Outcome.INVALID and self.reason == UNASKED


class SetupAnswer(StrEnum):
    """Whether the repository's own instructions still work, and if not, where they end."""

    WORKS = "works"
    INSTALL_FAILED = "install_failed"
    COMMAND_FAILED = "command_failed"
    STAGE_FAILED = "stage_failed"
    OLDER_PYTHON = "older_python"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class SetupResult:
    """The answer of the agent documented; `reason` has the line that decides.

    `python` is the version that was measured: the sandbox's own, or an older one. `packages` are
    the versions of what was installed, by name, as the environment says.
    """

    answer: SetupAnswer
    reason: str
    python: str = ""
    packages: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The verdict on a trial: a pure function of the artifact, independent of the time.

    `evidence` maps each judged file to its SHA-256. `report_fault` is why the report blocks all
    levels; `field_faults` are its other violations of the contract. `survivors` are the processes
    that the agent, or a command of the harness in its environment, left running. `amended`: the
    manifest was replaced after the agent had ended, so this is no record of the trial.
    `setup` is the answer of the agent documented; other agents have none.
    """

    trial: str
    repository: str
    commit: str
    agent: str
    attempt: int
    reb: str
    agent_run: AgentRun | None
    report_fault: ReportFault | None
    results: tuple[LevelResult, ...]
    audit: Audit
    touched: tuple[Touched, ...]
    survivors: tuple[str, ...]
    hooks: tuple[str, ...]
    environment: Mapping[str, str]
    prefix_bytes: int | None
    evidence: Mapping[str, str]
    copies: tuple[str, ...] = ()
    field_faults: tuple[FieldFault, ...] = ()
    shadowing: tuple[str, ...] = ()
    known_hooks: Mapping[str, str] = field(default_factory=dict[str, str])
    contestant: Contestant | None = None
    amended: bool = False
    setup: SetupResult | None = None

    def result(self, level: Level) -> LevelResult:
        """Return the result of one level; every level has one."""
        return next(result for result in self.results if result.level is level)
