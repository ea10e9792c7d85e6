"""The values of the option groups that commands share: one frozen type for each group."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.model.agent import Protocol
from reb_action.model.limits import RESUME_HOURS
from reb_action.model.manifest import Level
from reb_action.sandbox.protocol import Kind

AGENT_SECONDS: Final = 3600
IDLE_SECONDS: Final = 1800
SETUP_SECONDS: Final = 600
REPEAT_LIMIT: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class TrialOptions:
    """Which trial to run, and its folder: None for the default one."""

    repository: str
    agent: str
    agent_argument: str | None = None
    attempt: int = 1
    contestant: str | None = None
    contestants: Path | None = None
    folder: Path | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaceOptions:
    """Where trials run, and their network access."""

    sandbox: Kind
    image: str
    mirror: Path | None
    gpus: int
    network: str
    allow_hosts: str
    memory_mib: int | None = None
    shm_mib: int | None = None
    processes: int | None = None
    disk_mib: int | None = None
    resume_hours: float = RESUME_HOURS


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelOptions:
    """The model of the agents, how they reach it, and the budget of one trial."""

    model: str | None = None
    model_url: str | None = None
    budget_calls: int | None = None
    budget_tokens: int | None = None
    budget_usd: float | None = None
    prices: Path | None = None
    repeat_limit: int = REPEAT_LIMIT
    accept_other_model: bool = False
    no_preflight: bool = False
    direct_key: bool = False
    disposable: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RunnerOptions:
    """What all trials of a job share."""

    agent_seconds: int = AGENT_SECONDS
    idle_seconds: int = IDLE_SECONDS
    setup_seconds: int = SETUP_SECONDS
    protocol: Protocol = Protocol.STANDARD
    place: PlaceOptions
    model_options: ModelOptions
    levels: tuple[Level, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class WhoOptions:
    """Which trials there are: repositories, contestants and attempts."""

    repositories: str
    agents: str
    contestants: Path | None
    attempts: int


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanOptions:
    """The trials to keep, how to distribute them over jobs, and the runners of these jobs."""

    only: tuple[str, ...]
    without: tuple[str, ...]
    changed_since: str | None
    max_jobs: int
    durations: Path | None
    job_minutes: int | None
    runs_on: str
    runners: int | None
    max_parallel: int | None
    keys: tuple[str, ...]
    sequential: bool = False
