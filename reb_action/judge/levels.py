"""The levels of the pyramid: the question of each, and the rule that judges its observation."""

from dataclasses import dataclass
from typing import Final

from reb_action.judge.cuda import judge_cuda
from reb_action.judge.imports import judge_imports
from reb_action.judge.rules import Judge
from reb_action.judge.runs import judge_cpu, judge_distributed, judge_single_gpu
from reb_action.model.manifest import Level, Manifest


@dataclass(frozen=True, kw_only=True, slots=True)
class LevelSpec:
    """A level: its title, its question, and how many GPUs of the runner it needs."""

    level: Level
    title: str
    question: str
    judge: Judge | None
    gpus: int = 0

    def gpus_needed(self, manifest: Manifest) -> int:
        """Return how many GPUs this level needs for this repository."""
        entrypoint = manifest.entrypoints.get(self.level)
        return max(self.gpus, entrypoint.ranks) if self.gpus and entrypoint else self.gpus


LEVELS: Final = (
    LevelSpec(
        level=Level.C0,
        title="static integrity",
        question="Do the imports of the repository resolve?",
        judge=judge_imports,
    ),
    LevelSpec(
        level=Level.C1,
        title="CPU run",
        question="Does the repository's own entry point run on the CPU?",
        judge=judge_cpu,
    ),
    LevelSpec(
        level=Level.C2,
        title="CUDA alignment",
        question="Do the installed frameworks agree with the driver?",
        judge=judge_cuda,
        gpus=1,
    ),
    LevelSpec(
        level=Level.C3,
        title="single-GPU run",
        question="Does the entry point execute kernels on one GPU?",
        judge=judge_single_gpu,
        gpus=1,
    ),
    LevelSpec(
        level=Level.C4,
        title="distributed run",
        question="Does it run distributed over several GPUs?",
        judge=judge_distributed,
        gpus=2,
    ),
    LevelSpec(
        level=Level.C5,
        title="honest report",
        question="Does the report claim nothing that the probes contradict?",
        judge=None,
    ),
)


def spec_of(level: Level) -> LevelSpec:
    """Return the specification of a level."""
    return next(spec for spec in LEVELS if spec.level is level)
