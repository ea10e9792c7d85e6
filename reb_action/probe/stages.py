"""Runs the manifest's stages after C1: what its instructions do after the documented command."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from reb_action.model.manifest import Level, Stage
from reb_action.model.observation import StageObservation
from reb_action.probe.entry import Entry, RunResult
from reb_action.probe.run_request import remove_nonce

_TAIL_CHARACTERS: Final = 4000


def observe_stages(entry: Entry, run: Callable[[Entry], RunResult]) -> tuple[StageObservation, ...]:
    """Run the stages in order with `run`; what one changes is restored before the next."""
    seen: list[StageObservation] = []
    for name, stage in entry.context.manifest.stages.items():
        if entry.checkout.fault is not None:
            break
        seen.append(_observe_stage(name, run(_place_stage(entry, stage))))
        entry.checkout.changes()
    return tuple(seen)


def _place_stage(entry: Entry, stage: Stage) -> Entry:
    """Return the entry of C1 with the command and the proofs of a stage."""
    point = replace(
        entry.point,
        argv=stage.argv,
        proofs=stage.proofs,
        cwd=stage.cwd,
        env=stage.env,
        timeout_seconds=stage.timeout_seconds,
    )
    manifest = replace(entry.context.manifest, entrypoints={Level.C1: point})
    return replace(entry, context=replace(entry.context, manifest=manifest))


def _observe_stage(name: str, ran: RunResult) -> StageObservation:
    return StageObservation(
        name=name,
        exit_code=ran.seen.exit_code,
        timed_out=ran.seen.timed_out,
        seconds=ran.seen.seconds,
        proofs=tuple(remove_nonce(proof, ran.out) for proof in ran.proofs),
        tail=ran.seen.log.decode("utf-8", "replace")[-_TAIL_CHARACTERS:],
        fault=ran.seen.lost,
    )
