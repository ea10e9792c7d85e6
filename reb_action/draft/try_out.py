"""Tries the candidates in one sandbox: sets the repository up once, then runs one after another."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reb_action.draft.candidates import Candidate
from reb_action.draft.observed import derive_proofs
from reb_action.errors import RebError
from reb_action.model.manifest import Entrypoint, Level, LogProof, Manifest, Outcome
from reb_action.model.observation import RunObservation
from reb_action.model.progress import Progress
from reb_action.session import evidence
from reb_action.session.layout import SessionLayout
from reb_action.trial.agent import run_agent
from reb_action.trial.amend import amend
from reb_action.trial.options import Options
from reb_action.trial.probe import probe_level
from reb_action.trial.start import start

_ANY: tuple[LogProof, ...] = (LogProof(log=r"\S"),)
_SECONDS = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """What became of the candidates: the one that was observed, and why each other one was not."""

    observed: Candidate | None
    failures: tuple[str, ...]


def try_candidates(
    options: Options,
    candidates: Sequence[Candidate],
    *,
    environ: Mapping[str, str],
    tell: Progress,
) -> Attempt:
    """Set the repository up with the agent of the options, and run candidates until one is proved.

    The sandbox stays, for `reb probe --manifest`. A proof must hold in a run and fail in the decoy
    run, as at C1.
    """
    layout = SessionLayout(folder=options.folder.absolute())
    start(options, owner=os.getpid(), tell=tell, environ=environ)
    run_agent(layout, environ=environ, tell=tell, live=False)
    failures: list[str] = []
    for candidate in candidates:
        tell(f"trying {candidate.line}")
        result = _try_one(layout, options.manifest, candidate, tell)
        if isinstance(result, Candidate):
            return Attempt(observed=result, failures=tuple(failures))
        failures.append(f"{candidate.line}: {result}")
    return Attempt(observed=None, failures=tuple(failures))


def _try_one(
    layout: SessionLayout, manifest: Manifest, candidate: Candidate, tell: Progress
) -> Candidate | str:
    """Return the candidate with observed proofs, or why it has none."""
    tried = replace(candidate.entrypoint, proofs=_ANY, timeout_seconds=_SECONDS)
    try:
        first = _measure(layout, manifest, tried, tell)
        proofs = derive_proofs(evidence.excerpt(layout.log(Level.C1)))
        if isinstance(first, str) or not proofs:
            return first if isinstance(first, str) else "its log shows nothing that proves a run"
        proved = replace(candidate.entrypoint, proofs=proofs)
        again = _measure(layout, manifest, proved, tell, whole=True)
    except RebError as error:
        return str(error)
    return again if isinstance(again, str) else replace(candidate, entrypoint=proved)


def _measure(
    layout: SessionLayout,
    manifest: Manifest,
    entrypoint: Entrypoint,
    tell: Progress,
    *,
    whole: bool = False,
) -> str | None:
    """Run an entry point as C1; return why it failed, or None. `whole`: by all rules of C1."""
    excluded = {key: why for key, why in manifest.not_applicable.items() if key != Level.C1}
    wanted = replace(manifest, entrypoints={Level.C1: entrypoint}, not_applicable=excluded)
    amend(layout, wanted, tell=lambda _: None)
    result = probe_level(layout, Level.C1, tell=tell)
    seen = evidence.read(layout).observations.get(Level.C1)
    if not isinstance(seen, RunObservation):
        return result.reason
    if whole:
        return None if result.outcome is Outcome.PASSED else result.reason
    if seen.timed_out:
        return f"it did not end within {_SECONDS} s"
    if seen.exit_code == 0 and seen.fault is None and seen.invalid is None:
        return None
    cause = "" if result.diagnosis is None else f": {result.diagnosis.line}"
    return f"{result.reason}{cause}"
