"""All that a user decides about one trial."""

from dataclasses import dataclass, field
from pathlib import Path

from reb_action.model.limits import RESUME_HOURS
from reb_action.model.manifest import Level, Manifest
from reb_action.sandbox.protocol import Kind, Limits, Network
from reb_action.session.state import AgentChoice
from reb_action.source.checkout import GITHUB


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """The options of one trial.

    `contestant` is the id of the contestant; by default agent and model. `resume_hours` is how long
    the sandboxes of killed trials on this machine are kept. The commit comes from `checkout` where
    the manifest follows one, else from `mirror` or from one of the `origins`.
    """

    manifest: Manifest
    agent: AgentChoice
    folder: Path
    attempt: int = 1
    contestant: str | None = None
    kind: Kind = Kind.DOCKER
    image: str | None = None
    mirror: Path | None = None
    origins: tuple[str, ...] = (GITHUB,)
    checkout: Path | None = None
    gpus: int = 0
    gpu_ids: tuple[str, ...] = ()
    network: Network = Network.OPEN
    levels: tuple[Level, ...] = tuple(Level)
    limits: Limits = field(default_factory=Limits)
    resume_hours: float = RESUME_HOURS
