"""What is measured: levels, entry points and their proofs, manifests, trials."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from reb_action.model.contestant import Contestant


class Level(StrEnum):
    """The steps of the pyramid."""

    C0 = "C0"
    C1 = "C1"
    C2 = "C2"
    C3 = "C3"
    C4 = "C4"
    C5 = "C5"


RUN_LEVELS: Final = (Level.C1, Level.C3, Level.C4)
"""Levels that run an entry point of the repository."""

GPU_LEVELS: Final = (Level.C2, Level.C3, Level.C4)
"""Levels that need a GPU on the runner."""


class Outcome(StrEnum):
    """The outcome of a level."""

    PASSED = "passed"
    FAILED = "failed"
    BLOCKED = "blocked"
    NOT_APPLICABLE = "not_applicable"
    INVALID = "invalid"


class Framework(StrEnum):
    """Deep learning frameworks: C2 examines them, and the run levels require them to be genuine."""

    TORCH = "torch"
    TENSORFLOW = "tensorflow"
    JAX = "jax"


class FileKind(StrEnum):
    """How the first bytes of a proof file are recognised."""

    ANY = "any"
    TEXT = "text"
    JSON = "json"
    ZIP = "zip"
    PNG = "png"
    JPEG = "jpeg"
    NPY = "npy"
    WAV = "wav"
    SAFETENSORS = "safetensors"
    PDF = "pdf"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileProof:
    """A file that the entry point must write afresh; `file` may hold `*` and `{out}`."""

    file: str
    kind: FileKind = FileKind.ANY
    min_bytes: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class LogProof:
    """A pattern (Python `re`) that must occur in a line of the entry point's own log."""

    log: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricProof:
    """A pattern with one group; every number it finds must be finite and within the bounds."""

    metric: str
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class StepsProof:
    """A pattern that must occur at least so many times."""

    steps: str
    at_least: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CurveProof:
    """A pattern with one group, whose numbers are the losses of a short training run, in order.

    There must be `at_least` of them, all finite, and the mean of the last tenth must be lower than
    that of the first tenth by the share `falls`. With `repeats`, a second run must give the same
    losses, none of which may differ by more than that share of the largest one.
    """

    curve: str
    at_least: int
    falls: float
    repeats: float | None = None


Proof = FileProof | LogProof | MetricProof | StepsProof | CurveProof


class WeakForm(StrEnum):
    """Known weak forms of proofs: a wrong environment may give such proofs too."""

    FILES_ONLY = "files_only"
    NO_NUMBER = "no_number"
    UNBOUNDED = "unbounded"
    WHOLE_RANGE = "whole_range"
    ANY_TEXT = "any_text"
    FAILURE = "failure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Entrypoint:
    """What a run level runs, and what proves that it ran.

    `argv`, `cwd` and `env` may name `{python}`, `{repo}`, `{out}`, `{files}`, `{assets}` and
    `{ranks}` and `{seed}`, which is 1, and 2 in a run that must give another curve.
    `decoy` is the repository's file that is replaced in the decoy run: its code produces the
    proofs (see `probe`). `writes` are tracked files that the entry point may change.
    """

    argv: tuple[str, ...]
    decoy: str
    proofs: tuple[Proof, ...]
    cwd: str = "{repo}"
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_seconds: int = 600
    network: bool = False
    ranks: int = 1
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Asset:
    """A file that the harness fetches before the clock starts, as `{assets}/<path>`."""

    path: str
    url: str
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Oracle:
    """A known-good environment: pinned requirements, then paths of the repository to install.

    `imports` are the additional requirements of C0, installed without their dependencies. If they
    are not listed (None), C0 cannot be qualified.
    """

    python: str = "3.11"
    packages: tuple[str, ...] = ()
    repository: tuple[str, ...] = ()
    imports: tuple[str, ...] | None = None
    needs: str | None = None
    key: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """How the repository's own instructions set it up: shell lines, or one of its files.

    Exactly one field is set. Paths are relative to the repository's root.
    """

    lines: tuple[str, ...] = ()
    script: str | None = None
    dockerfile: str | None = None
    environment: str | None = None
    devcontainer: str | None = None

    @property
    def path(self) -> str | None:
        """The file of the repository that is used; None for shell lines."""
        return self.script or self.dockerfile or self.environment or self.devcontainer


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """What the instructions run after C1's command, and what proves that it ran; see Entrypoint."""

    argv: tuple[str, ...]
    proofs: tuple[Proof, ...]
    cwd: str = "{repo}"
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_seconds: int = 600


SELF: Final = "self"
"""The commit of a manifest that is measured at the HEAD of its own checkout."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """One repository at one commit, and what each level means for it.

    `imports` is the paper's C0 total; None outside its corpus, where it is counted. `unobtainable`
    names imports that no index or declared source offers; the strict C0 does not require them.
    `not_applicable` excludes a level from both scorings, `paper_only` from the strict one; each
    with its reason. With `commit: self` in the file, `imports` is None until a checkout is chosen;
    from then on `commit` and `imports` are those of the checkout, and `follows_checkout` is set.
    `weak_proofs` gives the reason of each weak form that a level's proofs keep, `not_qualified` why
    a level has not been qualified and what it takes; neither decides an outcome.
    """

    repository: str
    commit: str
    domain: str = "other"
    imports: int | None = None
    frameworks: tuple[Framework, ...] = (Framework.TORCH,)
    entrypoints: Mapping[Level, Entrypoint] = field(default_factory=dict[Level, Entrypoint])
    not_applicable: Mapping[Level, str] = field(default_factory=dict[Level, str])
    paper_only: Mapping[Level, str] = field(default_factory=dict[Level, str])
    assets: tuple[Asset, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    unobtainable: Mapping[str, str] = field(default_factory=dict[str, str])
    oracle: Oracle | None = None
    setup: Setup | None = None
    stages: Mapping[str, Stage] = field(default_factory=dict[str, Stage])
    follows_checkout: bool = False
    weak_proofs: Mapping[Level, Mapping[WeakForm, str]] = field(
        default_factory=dict[Level, Mapping[WeakForm, str]]
    )
    not_qualified: Mapping[Level, str] = field(default_factory=dict[Level, str])

    @property
    def slug(self) -> str:
        """`<owner>__<name>`: the manifest's file name, and part of every trial id."""
        return self.repository.replace("/", "__")


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One repository, one contestant, one attempt; trials of older releases know the agent only."""

    manifest: Manifest
    agent: str
    attempt: int = 1
    contestant: Contestant | None = None

    @property
    def id(self) -> str:
        """The name of the matrix entry, the folder and the artifact."""
        name = self.agent if self.contestant is None else self.contestant.id
        return trial_id(self.manifest.slug, name, self.attempt)


def trial_id(slug: str, contestant: str, attempt: int) -> str:
    """Return the id of a trial: `<owner>__<name>.<contestant>.<attempt>`."""
    return f"{slug}.{contestant}.{attempt}"


def contestant_of(trial: str) -> str:
    """Return the contestant's id in a trial's id, "" if there is none; a slug may hold dots."""
    parts = trial.rsplit(".", 2)
    return parts[1] if len(parts) == 3 else ""
