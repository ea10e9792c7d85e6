"""Judges the folder of a trial: for the first time, or again from the artifact alone."""

import dataclasses
from typing import Final

from reb_action import documents, evidence
from reb_action.errors import DocumentError
from reb_action.layout import SessionLayout
from reb_action.model.verdict import Verdict
from reb_action.verdict import judge

_SPARED: Final = "trajectory/"


def conclude(layout: SessionLayout) -> Verdict:
    """Judge the trial from its folder and write the verdict."""
    evidence.seal(layout)
    verdict = judge(evidence.read(layout))
    documents.write(layout.verdict, verdict, kind="verdict")
    return verdict


def judge_again(layout: SessionLayout, *, replace: bool = False) -> Verdict:
    """Recompute the verdict of an artifact; raises DocumentError if it was tampered with.

    With `replace` a verdict by other rules is replaced, but never one on other evidence.
    """
    verdict = judge(evidence.read(layout))
    if not layout.verdict.exists():
        return verdict
    written = documents.read(layout.verdict, Verdict, kind="verdict")
    verdict = _with_spared(verdict, written)
    _demand_same_evidence(written, verdict)
    if written != verdict and not replace:
        raise DocumentError(
            f"verdict.json is not what its evidence gives (written by reb {written.reb}, judged"
            f" by reb {verdict.reb}); run reb judge --write to replace it"
        )
    if replace:
        documents.write(layout.verdict, verdict, kind="verdict")
    return verdict


def _with_spared(now: Verdict, written: Verdict) -> Verdict:
    """Take over the hashes of trajectories that are not here: what is published is without."""
    spared = {path: sha for path, sha in written.evidence.items() if path.startswith(_SPARED)}
    return dataclasses.replace(now, evidence={**spared, **now.evidence})


def _demand_same_evidence(written: Verdict, now: Verdict) -> None:
    for path in sorted({*written.evidence, *now.evidence}):
        if written.evidence.get(path) != now.evidence.get(path):
            raise DocumentError(f"{path} is not what was judged: this artifact was changed")
