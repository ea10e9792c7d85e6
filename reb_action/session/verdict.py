"""Judges the folder of a trial: for the first time, or again from the artifact only."""

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reb_action import documents
from reb_action.errors import DocumentError, RebError, SignatureError, ToolchainError
from reb_action.judge.judge import judge
from reb_action.model.verdict import Verdict
from reb_action.session import evidence, reserve
from reb_action.session.layout import SessionLayout
from reb_action.session.signature import SUBJECTS_MAX, Attestation, Signer

UNSIGNED: Final = (
    "unsigned: the hashes of this folder detect accidental changes only, because anyone who "
    "changes it can recompute them"
)
"""The note on a folder without a checked signature."""

AMENDED: Final = (
    "measured by another manifest after the agent had ended (reb probe --manifest); this is not a"
    " record: run a new trial"
)
"""Why a verdict of an amended trial counts nowhere."""

_SPARED: Final = "trajectory/"


def conclude(layout: SessionLayout) -> Verdict:
    """Judge the trial from its folder and write the verdict."""
    with reserve.lend(layout):
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
            "verdict.json differs from the verdict that its evidence gives (written by reb"
            f" {written.reb}, judged"
            f" by reb {verdict.reb}); run reb judge --write to replace it"
        )
    if replace:
        documents.write(layout.verdict, verdict, kind="verdict")
    return verdict


def verify(layout: SessionLayout) -> Verdict:
    """Return the verdict of a folder that is unchanged by its own hashes; raises DocumentError."""
    if not layout.verdict.exists():
        raise DocumentError(f"{layout.verdict} does not exist, so there is nothing to verify")
    return judge_again(layout)


def verify_signature(
    layout: SessionLayout, bundle: Path, signer: Signer, *, trusted_root: Path | None = None
) -> Attestation:
    """Return the signer's attestation of the folder's verdict.json; raises SignatureError.

    The verdict has the hashes of all evidence, so a signature of it is one of everything.
    """
    try:
        # It imports sigstore, an optional extra, which only the check of a signature needs.
        from reb_action.session import attestation  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ToolchainError(
            f"checking a signature needs the package sigstore ({error}); run: pip install sigstore"
        ) from None
    return attestation.find(bundle, _digest(layout), signer, trusted_root)


def subjects(places: Mapping[str, SessionLayout]) -> str:
    """Return the lines that an attestation of these trials signs, in sha256sum's format.

    Raises SignatureError above the number that one attestation can have.
    """
    if len(places) > SUBJECTS_MAX:
        raise SignatureError(
            f"{len(places)} trials are more than the {SUBJECTS_MAX} that one attestation"
            " can have, so none is signed; split the run"
        )
    lines = (f"{_digest(places[name])}  {name}/verdict.json\n" for name in sorted(places))
    return "".join(lines)


def _digest(layout: SessionLayout) -> str:
    return hashlib.sha256(documents.read_bytes(layout.verdict)).hexdigest()


def _with_spared(now: Verdict, written: Verdict) -> Verdict:
    """Keep the verdict's hashes of missing trajectories: published folders do not have them."""
    spared = {path: sha for path, sha in written.evidence.items() if path.startswith(_SPARED)}
    return dataclasses.replace(now, evidence={**spared, **now.evidence})


def _demand_same_evidence(written: Verdict, now: Verdict) -> None:
    for path in sorted({*written.evidence, *now.evidence}):
        if written.evidence.get(path) != now.evidence.get(path):
            raise DocumentError(f"{path} differs from what was judged: this artifact was changed")


def judged(layout: SessionLayout) -> Verdict | str:
    """Return the verdict if verdict.json is what its evidence gives, or why it is not usable.

    An amended trial has none that counts.
    """
    try:
        if not layout.verdict.exists():
            return _absent(layout)
        verdict = judge_again(layout)
    except RebError as error:
        return str(error)
    return AMENDED if verdict.amended else verdict


def _absent(layout: SessionLayout) -> str:
    if not layout.session.exists():
        return f"the trial did not begin; see the step that starts it ({layout.folder})"
    return "verdict.json does not exist; see the step that writes it"
