"""Runs an entry point of the repository, and its decoy; the observation of C1, C3 and C4."""

import hashlib
from dataclasses import replace

from reb_action import imports
from reb_action.judge import proofs as judge_proofs
from reb_action.judge import ranks
from reb_action.judge.curves import compare_runs
from reb_action.judge.log_search import LogSearch
from reb_action.judge.runs import is_small
from reb_action.model.launches import Launches
from reb_action.model.manifest import CurveProof, Level, Proof
from reb_action.model.observation import (
    Decoy,
    Interpreter,
    RunObservation,
    Witness,
)
from reb_action.model.report import Report
from reb_action.probe import gpu_witness, launches
from reb_action.probe.context import ProbeContext, make_nonce
from reb_action.probe.decoy import EXIT_CODE, render_decoy
from reb_action.probe.entry import DecoyResult, Entry, RunResult
from reb_action.probe.guard import GuardedCheckout
from reb_action.probe.run_request import (
    has_seed,
    make_request,
    place_proofs,
    read_rank_logs,
    remove_nonce,
)
from reb_action.probe.stages import observe_stages
from reb_action.probe.supervisor import supervise
from reb_action.redaction import redact
from reb_action.sandbox.protocol import Output
from reb_action.source.pristine import Source


def observe_run(
    context: ProbeContext,
    source: Source,
    report: Report,
    level: Level,
    *,
    interpreter: Interpreter | None = None,
    log: Output | None = None,
) -> tuple[RunObservation, bytes]:
    """Return the observation of one run level, and the log of the real run.

    The decoy run is the same command with the repository's file replaced by one that only leaves
    a token and imports the same modules: if the proofs hold there too, they do not come from the
    repository's code. Whether it goes first is a coin toss, so that a wrapper cannot count.
    With several ranks the launches of kernels are counted in both runs.
    """
    writes = context.manifest.entrypoints[level].writes
    checkout = GuardedCheckout(context, source, writes=writes, interpreter=interpreter)
    prefix = interpreter.prefix if interpreter else None
    entry = Entry(
        context=context, source=source, report=report, level=level, checkout=checkout, prefix=prefix
    )
    obstacle = entry.find_obstacle() if entry.has_ranks else None
    counted = entry.has_ranks and obstacle is None
    decoy_first = checkout.fault is None and int(make_nonce(), 16) % 2 == 0
    decoy = _run_decoy(entry, counted=counted) if decoy_first else None
    if checkout.fault is not None:
        return _not_run(entry), b""
    with gpu_witness.watch(context.sandbox.owns) as gpus:
        real = _run(entry, log=log, counted=counted)
    if real.holds:
        real = _repeat(entry, real)
    changed = checkout.changes()
    if decoy is None and real.holds and checkout.fault is None:
        decoy = _run_decoy(entry, counted=counted)
    observation = replace(
        _describe_run(entry, real, decoy, gpus),
        changed=changed,
        launches=_sum_up(real, decoy, obstacle) if entry.has_ranks else None,
        stages=observe_stages(entry, _run) if level is Level.C1 and real.holds else (),
    )
    return _count_again(entry, observation), real.seen.log


def _describe_run(
    entry: Entry, real: RunResult, decoy: DecoyResult | None, gpus: gpu_witness.Watch
) -> RunObservation:
    seen = real.seen
    logs = read_rank_logs(entry.context, real.out, seen.files) if entry.has_ranks else ()
    return RunObservation(
        argv=entry.argv,
        exit_code=seen.exit_code,
        timed_out=seen.timed_out,
        seconds=seen.seconds,
        proofs=tuple(remove_nonce(proof, real.out) for proof in real.proofs),
        decoy=decoy and decoy.seen,
        witness=replace(seen.witness, driver=gpus.driver, gpus=gpus.gpus),
        restored=entry.checkout.restored,
        log_sha256=hashlib.sha256(seen.log).hexdigest(),
        gpus_present=gpus.present,
        ranks=ranks.read_ranks(logs),
        survivors=tuple(sorted({*seen.survivors, *(decoy.seen.survivors if decoy else ())})),
        fault=seen.lost or entry.checkout.fault,
    )


def _sum_up(real: RunResult, decoy: DecoyResult | None, obstacle: str | None) -> Launches:
    if obstacle is not None:
        return Launches(not_counted=obstacle)
    return launches.sum_up(real.processes, decoy and decoy.processes)


def _count_again(entry: Entry, first: RunObservation) -> RunObservation:
    """Count launches in a second run where only a load that NVML can see is missing on one GPU.

    Work of a fraction of a second shows the same utilisation as none. The count has a separate run
    because it takes CUPTI from the process.
    """
    if not is_small(entry.level, first):
        return first
    obstacle = entry.find_obstacle()
    if obstacle is not None:
        return replace(first, launches=Launches(not_counted=obstacle))
    with gpu_witness.watch(entry.context.sandbox.owns) as gpus:
        real = _run(entry, counted=True)
    if not real.holds or real.seen.lost or entry.checkout.changes():
        why = "the second run, in which they are counted, did not pass as the first did"
        return replace(first, launches=Launches(not_counted=why))
    decoy = _run_decoy(entry, counted=True)
    return replace(first, launches=replace(_sum_up(real, decoy, None), gpus=gpus.gpus))


def _not_run(entry: Entry) -> RunObservation:
    """Return the observation where nothing was run: the repository's code is not the commit's."""
    return RunObservation(
        argv=entry.argv,
        exit_code=None,
        timed_out=False,
        seconds=0.0,
        proofs=(),
        decoy=None,
        witness=Witness(samples=0, peak_processes=0, cpu_seconds=0.0, peak_memory_mib=0),
        restored=entry.checkout.restored,
        log_sha256=hashlib.sha256(b"").hexdigest(),
        # The runner's GPUs were not queried, and they are not the reason of this failure.
        gpus_present=entry.context.sandbox.spec.gpus,
        fault=entry.checkout.fault,
    )


def _repeat(entry: Entry, first: RunResult) -> RunResult:
    """Run again where a curve must repeat: with the same seed and, if it is told one, another.

    Training again takes time and no proof of its own, so it comes after all proofs held.
    """
    if not any(_must_repeat(one.proof) for one in first.proofs):
        return first
    again = _run(entry, seed=1).judged
    other = _run(entry, seed=2).judged if has_seed(entry.point) else ()
    return replace(first, proofs=compare_runs(first.proofs, again, other))


def _must_repeat(proof: Proof) -> bool:
    """Return whether a proof asks for a second run; `repeats: 0` asks for the very same losses."""
    return isinstance(proof, CurveProof) and proof.repeats is not None


def _run(
    entry: Entry, *, log: Output | None = None, counted: bool = False, seed: int = 1
) -> RunResult:
    context, out = entry.context, f"{entry.context.layout.runs}/{make_nonce()}"
    request = make_request(context, entry.report, entry.level, out, counted=counted, seed=seed)
    search = LogSearch(place_proofs(context, entry.level, out), hidden=context.hidden)
    seen = supervise(context, request, stdout=_both(search.feed, log))
    # Before hashing and writing: the uploaded log, like the searched one, has no credentials.
    seen = replace(seen, log=redact(seen.log, context.hidden))
    return RunResult(
        seen=seen,
        proofs=judge_proofs.check_proofs(search, files=seen.files),
        out=out,
        processes=launches.read_processes(context, out, seen.files) if counted else (),
    )


def _both(search: Output, log: Output | None) -> Output:
    def take(data: bytes) -> None:
        search(data)
        if log is not None:
            log(data)

    return take


def _run_decoy(entry: Entry, *, counted: bool) -> DecoyResult:
    context, out, token = entry.context, f"{entry.context.layout.runs}/{make_nonce()}", make_nonce()
    path, file = f"{out}/{make_nonce()}", entry.point.decoy
    original = (entry.source.folder / file).read_bytes()
    statements = imports.import_statements(original)
    text = render_decoy(statements, path=path, token=token, prefix=entry.prefix)
    request = make_request(context, entry.report, entry.level, out, counted=counted)
    request = replace(request, collect=(*request.collect, path))
    search = LogSearch(place_proofs(context, entry.level, out), hidden=context.hidden)
    with entry.checkout.replaced(file, text):
        seen = supervise(context, request, stdout=search.feed)
    checked = judge_proofs.check_proofs(search, files=seen.files)
    decoy = Decoy(
        exit_code=seen.exit_code,
        expected_exit_code=EXIT_CODE,
        token_seen=seen.hashes.get(path) == hashlib.sha256(token.encode()).hexdigest(),
        proofs_satisfied=all(proof.satisfied for proof in checked),
        survivors=seen.survivors,
        changed=entry.checkout.changes(besides=frozenset({file})),
    )
    processes = launches.read_processes(context, out, seen.files) if counted else ()
    return DecoyResult(seen=decoy, processes=processes)
