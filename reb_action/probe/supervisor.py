"""Runs a command of the sandbox under the trusted supervisor and reads its observation."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from reb_action.documents import answer_of, show
from reb_action.judge.challenge import FRAMEWORK_LIBRARIES
from reb_action.judge.proofs import WrittenFile
from reb_action.model.observation import Library, Witness
from reb_action.probe.context import ProbeContext, make_nonce
from reb_action.sandbox.protocol import Command, Ended, Output

_GRACE_SECONDS: Final = 45
NOT_ENDED: Final = "(not ended)"
"""Among the survivors: the supervisor could not end all of them in its time."""

_LIBRARIES: Final = "|".join(FRAMEWORK_LIBRARIES.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A command to run under supervision.

    `out` is created again; `collect` are glob patterns of files to describe; `answer` is a file to
    bring back.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    timeout_seconds: float
    out: str
    collect: Sequence[str] = ()
    answer: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Supervised:
    """The supervisor's observation; `lost`: why there is none, or why it does not count.

    `survivors` are the processes that were still running when the command had ended.
    """

    exit_code: int | None
    timed_out: bool
    seconds: float
    log: bytes
    witness: Witness
    files: tuple[WrittenFile, ...] = ()
    hashes: Mapping[str, str] = field(default_factory=dict[str, str])
    answer: bytes | None = None
    lost: str | None = None
    survivors: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _File:
    path: str
    bytes: int
    head: str
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    nonce: str
    error: str | None = None
    exit_code: int | None = None
    timed_out: bool = False
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    samples: int = 0
    peak_processes: int = 0
    peak_memory_mib: int = 0
    shm_full: bool = False
    libraries: tuple[tuple[str, int], ...] = ()
    survivors: tuple[str, ...] = ()
    memory_dropped: bool = True
    files: tuple[_File, ...] = ()
    answer: str | None = None


def supervise(
    context: ProbeContext, request: Request, *, stdout: Output | None = None
) -> Supervised:
    """Run a request to its end; a killed supervisor is a finding about the environment.

    No process of an earlier command runs when the supervisor gets its secret. Its answer counts
    only if it exits with 0, and if none of its processes is left then. Shared memory, which
    survives processes, is also removed before the next command.
    """
    secret = make_nonce()
    before = context.clear()
    request = replace(request, timeout_seconds=context.limit_seconds(request.timeout_seconds))
    ended = context.sandbox.run(
        Command(
            argv=(context.sandbox.trusted_python, "-I", "-S", context.probe("supervise")),
            cwd=context.layout.tools,
            timeout_seconds=request.timeout_seconds + _GRACE_SECONDS,
            stdin=_question(request, secret).encode(),
            may_fill_disk=True,
        ),
        stdout=stdout,
    )
    told = _told(ended, secret)
    is_clean = told is not None and told.memory_dropped
    after = context.sandbox.clear() if is_clean else context.sandbox.renew()
    seen = _seen(context, told, ended, after)
    survivors = (*before, *(() if told is None else told.survivors), *after)
    return replace(seen, survivors=tuple(sorted(set(survivors))))


def _seen(
    context: ProbeContext, told: _Told | None, ended: Ended, after: tuple[str, ...]
) -> Supervised:
    if ended.is_out_of_memory:
        limit = context.sandbox.spec.limits.memory_mib
        return _lost(f"the run used up the {limit} MiB of memory that the sandbox has", ended)
    if ended.stopped is not None:
        return _lost(f"the run was ended: {ended.stopped}", ended)
    if told is None:
        why = "could not be ended" if ended.timed_out else "ended its supervisor"
        return _lost(f"the run {why}", ended)
    if told.error is not None:
        return _lost(f"it cannot be started: {told.error}", ended)
    outlived = after or (told.survivors if NOT_ENDED in told.survivors else ())
    if outlived:
        return _lost(f"processes that it started could not be ended in it: {show(outlived)}", ended)
    return _supervised(told, ended.stdout)


def _question(request: Request, secret: str) -> str:
    question = {
        "nonce": secret,
        "argv": request.argv,
        "cwd": request.cwd,
        "env": dict(request.env),
        "timeout_seconds": request.timeout_seconds,
        "out": request.out,
        "collect": list(request.collect),
        "answer": request.answer,
        "libraries": _LIBRARIES,
        # Only in other namespaces than the harness's may the supervisor end and remove everything.
        "outside": {kind: str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in ("pid", "ipc")},
    }
    return json.dumps(question)


def _told(ended: Ended, secret: str) -> _Told | None:
    told = answer_of(ended.stderr.strip().rpartition(b"\n")[2], _Told)
    believed = told is not None and ended.exit_code == 0 and told.nonce == secret
    return told if believed else None


def _lost(why: str, ended: Ended) -> Supervised:
    witness = Witness(samples=0, peak_processes=0, cpu_seconds=0.0, peak_memory_mib=0)
    return Supervised(
        exit_code=None,
        timed_out=False,
        seconds=round(ended.seconds, 2),
        log=ended.stdout,
        witness=witness,
        lost=why,
    )


def _supervised(told: _Told, log: bytes) -> Supervised:
    witness = Witness(
        samples=told.samples,
        peak_processes=told.peak_processes,
        cpu_seconds=round(told.cpu_seconds, 2),
        peak_memory_mib=told.peak_memory_mib,
        shm_full=told.shm_full,
        libraries=tuple(Library(path=path, size_bytes=size) for path, size in told.libraries),
    )
    return Supervised(
        exit_code=told.exit_code,
        timed_out=told.timed_out,
        seconds=round(told.seconds, 2),
        log=log,
        witness=witness,
        files=tuple(
            WrittenFile(path=one.path, size_bytes=one.bytes, head=bytes.fromhex(one.head))
            for one in told.files
        ),
        hashes={one.path: one.sha256 for one in told.files},
        answer=None if told.answer is None else base64.b64decode(told.answer),
    )
