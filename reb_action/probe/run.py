"""Runs an entry point of the repository, and its decoy; the observation of C1, C3 and C4."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from reb_action import imports
from reb_action.judge import proofs as judge_proofs
from reb_action.judge import ranks
from reb_action.judge.log_search import LogSearch
from reb_action.model.manifest import Entrypoint, FileProof, Level
from reb_action.model.observation import Decoy, ProofObservation, RunObservation, Witness
from reb_action.model.report import Report
from reb_action.probe import gpu_witness
from reb_action.probe.context import OFFLINE, ProbeContext, build_environment, make_nonce
from reb_action.probe.decoy import EXIT_CODE, render_decoy
from reb_action.probe.guard import GuardedCheckout
from reb_action.probe.supervisor import Request, Supervised, supervise
from reb_action.redaction import redact
from reb_action.sandbox.protocol import Output
from reb_action.source.pristine import Source

_RANK_LOG_BYTES: Final = 4 * 1024 * 1024
_RANK_LOGS: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class _Run:
    """One run of the entry point, real or decoy, and how its proofs came out."""

    seen: Supervised
    proofs: tuple[ProofObservation, ...]
    out: str

    @property
    def holds(self) -> bool:
        """Whether it ended well and every proof holds."""
        return self.seen.exit_code == 0 and all(proof.satisfied for proof in self.proofs)


def observe_run(
    context: ProbeContext,
    source: Source,
    report: Report,
    level: Level,
    *,
    prefix: str | None = None,
    log: Output | None = None,
) -> tuple[RunObservation, bytes]:
    """Return the observation of one run level, and the log of the real run.

    The decoy run is the same command with the repository's file replaced by one that only leaves
    a token and imports the same modules: if the proofs hold there too, they do not come from the
    repository's code. `prefix` is the reported interpreter's: it, and no other environment, must
    be what runs the file. Whether it goes first is a coin toss, so that a wrapper cannot count.
    """
    entrypoint = context.manifest.entrypoints[level]
    checkout = GuardedCheckout(context, source, writes=entrypoint.writes)
    decoy_first = checkout.fault is None and int(make_nonce(), 16) % 2 == 0
    decoy = _decoy(context, source, report, level, checkout, prefix=prefix) if decoy_first else None
    if checkout.fault is not None:
        return _not_run(context, report, entrypoint, checkout), b""
    with gpu_witness.watch(context.sandbox.owns) as gpus:
        real = _run(context, report, level, log=log)
    changed = checkout.changes()
    if decoy is None and real.holds and checkout.fault is None:
        decoy = _decoy(context, source, report, level, checkout, prefix=prefix)
    joined = ranks.read_ranks(_rank_logs(context, real)) if entrypoint.ranks > 1 else ()
    seen = real.seen
    observation = RunObservation(
        argv=_filled(entrypoint.argv, _names(context, report, entrypoint, "{out}")),
        exit_code=seen.exit_code,
        timed_out=seen.timed_out,
        seconds=seen.seconds,
        proofs=tuple(_without_nonce(proof, real.out) for proof in real.proofs),
        decoy=decoy,
        witness=replace(seen.witness, driver=gpus.driver, gpus=gpus.gpus),
        restored=checkout.restored,
        log_sha256=hashlib.sha256(seen.log).hexdigest(),
        gpus_present=gpus.present,
        ranks=joined,
        survivors=tuple(sorted({*seen.survivors, *(decoy.survivors if decoy else ())})),
        fault=seen.lost or checkout.fault,
        changed=changed,
    )
    return observation, seen.log


def _not_run(
    context: ProbeContext, report: Report, entrypoint: Entrypoint, checkout: GuardedCheckout
) -> RunObservation:
    """Return the observation where nothing was run: the repository's code is not the commit's."""
    return RunObservation(
        argv=_filled(entrypoint.argv, _names(context, report, entrypoint, "{out}")),
        exit_code=None,
        timed_out=False,
        seconds=0.0,
        proofs=(),
        decoy=None,
        witness=Witness(samples=0, peak_processes=0, cpu_seconds=0.0, peak_memory_mib=0),
        restored=checkout.restored,
        log_sha256=hashlib.sha256(b"").hexdigest(),
        # What the runner has was not asked, and is no reason of this failure.
        gpus_present=context.sandbox.spec.gpus,
        fault=checkout.fault,
    )


def _run(context: ProbeContext, report: Report, level: Level, *, log: Output | None = None) -> _Run:
    out = f"{context.layout.runs}/{make_nonce()}"
    request = _request(context, report, level, out)
    search = LogSearch(_at(context, level, out), hidden=context.hidden)
    seen = supervise(context, request, stdout=_both(search.feed, log))
    # Before it is hashed or kept: what is uploaded has no credentials, as what was searched.
    seen = replace(seen, log=redact(seen.log, context.hidden))
    return _Run(seen=seen, proofs=judge_proofs.check_proofs(search, files=seen.files), out=out)


def _both(search: Output, log: Output | None) -> Output:
    def take(data: bytes) -> None:
        search(data)
        if log is not None:
            log(data)

    return take


def _decoy(
    context: ProbeContext,
    source: Source,
    report: Report,
    level: Level,
    checkout: GuardedCheckout,
    *,
    prefix: str | None,
) -> Decoy:
    out, token = f"{context.layout.runs}/{make_nonce()}", make_nonce()
    path = f"{out}/{make_nonce()}"
    entrypoint = context.manifest.entrypoints[level]
    original = (source.folder / entrypoint.decoy).read_bytes()
    text = render_decoy(imports.import_statements(original), path=path, token=token, prefix=prefix)
    request = _request(context, report, level, out)
    request = replace(
        request,
        collect=(*request.collect, path),
    )
    search = LogSearch(_at(context, level, out), hidden=context.hidden)
    with checkout.replaced(entrypoint.decoy, text):
        seen = supervise(context, request, stdout=search.feed)
    changed = checkout.changes(besides=frozenset({entrypoint.decoy}))
    checked = judge_proofs.check_proofs(search, files=seen.files)
    return Decoy(
        exit_code=seen.exit_code,
        expected_exit_code=EXIT_CODE,
        token_seen=seen.hashes.get(path) == hashlib.sha256(token.encode()).hexdigest(),
        proofs_satisfied=all(proof.satisfied for proof in checked),
        survivors=seen.survivors,
        changed=changed,
    )


def _request(context: ProbeContext, report: Report, level: Level, out: str) -> Request:
    entrypoint = context.manifest.entrypoints[level]
    names = _names(context, report, entrypoint, out)
    extra = {
        **({} if entrypoint.network else OFFLINE),
        **(ranks.ENVIRONMENT if entrypoint.ranks > 1 else {}),
        **entrypoint.env,
        "CUDA_VISIBLE_DEVICES": _devices(level, entrypoint),
    }
    files = [proof.file for proof in _at(context, level, out) if isinstance(proof, FileProof)]
    return Request(
        argv=_filled(entrypoint.argv, names),
        cwd=_fill(entrypoint.cwd, names),
        env=build_environment(
            context, report, {key: _fill(text, names) for key, text in extra.items()}
        ),
        timeout_seconds=entrypoint.timeout_seconds,
        out=out,
        collect=(*files, _fill(ranks.FILES, names)),
    )


def _devices(level: Level, entrypoint: Entrypoint) -> str:
    count = 0 if level is Level.C1 else entrypoint.ranks
    return ",".join(str(index) for index in range(count))


def _names(
    context: ProbeContext, report: Report, entrypoint: Entrypoint, out: str
) -> Mapping[str, str]:
    return {
        "python": report.python_path,
        "repo": context.layout.repository,
        "out": out,
        "files": f"{context.layout.tools}/files",
        "assets": f"{context.layout.tools}/assets",
        "ranks": str(entrypoint.ranks),
    }


def _at(context: ProbeContext, level: Level, out: str) -> tuple[judge_proofs.Proof, ...]:
    names = {"out": out, "repo": context.layout.repository}
    return tuple(
        replace(proof, file=_fill(proof.file, names)) if isinstance(proof, FileProof) else proof
        for proof in context.manifest.entrypoints[level].proofs
    )


def _without_nonce(proof: ProofObservation, out: str) -> ProofObservation:
    kept = proof.proof
    if isinstance(kept, FileProof):
        kept = replace(kept, file=kept.file.replace(out, "{out}"))
    return replace(proof, proof=kept, detail=proof.detail.replace(out, "{out}"))


def _rank_logs(context: ProbeContext, run: _Run) -> Iterator[bytes]:
    paths = [file.path for file in run.seen.files if file.path.startswith(f"{run.out}/nccl.")]
    for path in paths[:_RANK_LOGS]:
        # A long run's log is longer; who joined stands at its beginning, collectives all over.
        content = context.sandbox.read(path, limit_bytes=_RANK_LOG_BYTES, whole=False)
        if isinstance(content, bytes):
            yield content


def _filled(texts: tuple[str, ...], names: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(_fill(text, names) for text in texts)


def _fill(text: str, names: Mapping[str, str]) -> str:
    """Replace the names in braces in one pass: what an agent wrote is never looked at again."""
    return re.sub(r"\{([a-z]+)\}", lambda match: names.get(match[1], match[0]), text)
