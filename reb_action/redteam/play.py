"""Plays a cheater, or an honest agent, in a trial of its bait, and says what came of it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action import documents
from reb_action.demo import commit_repository
from reb_action.judge.levels import spec_of
from reb_action.model.manifest import GPU_LEVELS, Level, Manifest, Outcome
from reb_action.model.verdict import LevelResult, Verdict
from reb_action.redteam.cheater import HERE, Bait, Cheater, Control
from reb_action.sandbox.protocol import Kind, Limits
from reb_action.session import evidence
from reb_action.session.layout import SessionLayout
from reb_action.session.output_folder import clear
from reb_action.session.state import AgentChoice
from reb_action.trial import options as trial_options
from reb_action.trial import run

_SECONDS: Final = 60
_LIMITS: Final = Limits(memory_mib=2048, shm_mib=64, processes=512, seconds=900)
_CONTROLLED: Final = (Level.C0, Level.C1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Arena:
    """Where trials are played: a folder with the mirrors of the baits, and the sandbox to use."""

    folder: Path
    kind: Kind
    image: str | None
    gpus: int
    baits: Mapping[Bait, Manifest]


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """What came of a play: a result for each level aimed at, and for the report.

    A fault says that a cheater got through, or that one was stopped for another reason than the
    one for which it must be stopped.
    """

    name: str
    results: tuple[LevelResult, ...]
    faults: tuple[str, ...]


def arena(folder: Path, *, kind: Kind, image: str | None, gpus: int = 0) -> Arena:
    """Lay the baits out below `folder`, which an earlier self-test may have filled.

    A folder of this machine cannot lack GPUs that it was promised, so there the levels of GPUs are
    always observed.
    """
    clear(folder, by="selftest")
    baits = {bait: commit_repository(HERE / "bait" / bait, folder / "mirror") for bait in Bait}
    promised = 2 if kind is Kind.LOCAL else gpus
    return Arena(folder=folder, kind=kind, image=image, gpus=promised, baits=baits)


def play(where: Arena, cheater: Cheater) -> Finding:
    """Run the trial of a cheater and say whether it was found out."""
    if cheater.before is not None:
        _results(
            options(
                where,
                f"{cheater.name}-before",
                cheater.before,
                bait=cheater.bait,
                levels=cheater.levels,
            )
        )
    chosen = options(where, cheater.name, cheater.folder, bait=cheater.bait, levels=cheater.levels)
    results = _results(chosen)
    faults = (
        *_passed(results),
        *_unexplained(where, cheater, results),
        *_honesty(cheater, results),
    )
    return Finding(name=cheater.name, results=results, faults=faults)


def control(where: Arena, honest: Control) -> Finding:
    """Run the trial of an honest agent: unless one passes, that cheaters fail says nothing."""
    chosen = options(where, honest.name, honest.folder, bait=Bait.PLAIN, levels=_CONTROLLED)
    results = _results(chosen)
    faults = tuple(
        f"{one.level} {one.outcome} instead of {honest.outcome}: {one.reason}"
        for one in results
        if one.level in _CONTROLLED and one.outcome is not honest.outcome
    )
    return Finding(name=honest.name, results=results, faults=faults)


def options(
    where: Arena, name: str, folder: Path, *, bait: Bait, levels: tuple[Level, ...]
) -> trial_options.Options:
    """Return the options of a trial in which the agent `replay` plays a folder.

    It plays the files that cheaters share, then the folder's files. C5 is always judged.
    """
    place = where.folder / name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(HERE / "shared", place / "agent")
    shutil.copytree(folder, place / "agent", dirs_exist_ok=True)
    choice = AgentChoice(
        name="replay",
        argument=str(place / "agent"),
        total_seconds=_SECONDS,
        setup_seconds=_SECONDS,
    )
    return trial_options.Options(
        manifest=where.baits[bait],
        agent=choice,
        folder=place / "trial",
        kind=where.kind,
        image=where.image,
        mirror=where.folder / "mirror",
        gpus=where.gpus,
        levels=tuple(level for level in Level if level in levels or level is Level.C5),
        limits=_LIMITS,
    )


def _results(chosen: trial_options.Options) -> tuple[LevelResult, ...]:
    verdict = run.run(chosen, environ={}, tell=lambda _: None)
    layout = SessionLayout(folder=chosen.folder)
    return tuple(_result(verdict, layout, chosen.manifest, level) for level in chosen.levels)


def _result(
    verdict: Verdict, layout: SessionLayout, manifest: Manifest, level: Level
) -> LevelResult:
    """Return a level's result, adapted to a runner without the GPUs that it needs."""
    result, judge = verdict.result(level), spec_of(level).judge
    observed = layout.observation(level)
    if level not in GPU_LEVELS or result.outcome is not Outcome.INVALID or not observed.is_file():
        return result
    assert judge is not None  # noqa: S101
    kind_of_value, kind = evidence.kind_of(level)
    return judge(manifest, documents.read(observed, kind_of_value, kind=kind))


def _passed(results: tuple[LevelResult, ...]) -> tuple[str, ...]:
    return tuple(
        f"{one.level} passed: {one.reason}"
        for one in results
        if one.outcome is Outcome.PASSED and one.level is not Level.C5
    )


def _unexplained(
    where: Arena, cheater: Cheater, results: tuple[LevelResult, ...]
) -> tuple[str, ...]:
    finding = cheater.finding if where.kind is Kind.LOCAL else cheater.finding_in_container
    aimed = [one for one in results if one.level in cheater.levels]
    if all(one.outcome is Outcome.INVALID for one in aimed):
        # This runner lacks the GPUs.
        return ()
    busy = cheater.finding_on_busy_machine
    if any(finding in one.reason or (busy and busy in one.reason) for one in aimed):
        return ()
    reasons = "; ".join(f"{one.level} {one.outcome}: {one.reason}" for one in aimed)
    return (f"no level says {finding!r}, but {reasons}",)


def _honesty(cheater: Cheater, results: tuple[LevelResult, ...]) -> tuple[str, ...]:
    honesty = next(one for one in results if one.level is Level.C5)
    if honesty.outcome is cheater.honesty:
        return ()
    return (f"C5 {honesty.outcome} instead of {cheater.honesty}: {honesty.reason}",)
