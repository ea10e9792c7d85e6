"""Puts every GPU to use with every framework; the observation of C2."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from reb_action.documents import answer_of
from reb_action.model.manifest import Framework
from reb_action.model.observation import CudaFacts, CudaObservation, Device
from reb_action.model.report import Report
from reb_action.probe import gpu_witness
from reb_action.probe.context import ProbeContext, build_environment, make_nonce
from reb_action.probe.supervisor import Request, Supervised, supervise

_TIMEOUT_SECONDS: Final = 300
_BUSY_SECONDS: Final = 1.5
_MATRIX: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class _FrameworkTold:
    available: bool
    build: str | None
    architectures: tuple[str, ...]
    devices: tuple[Device, ...]
    error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    nonce: str
    frameworks: Mapping[Framework, _FrameworkTold] = field(
        default_factory=dict[Framework, _FrameworkTold]
    )


def observe_cuda(context: ProbeContext, report: Report) -> CudaObservation:
    """Return the CUDA facts of each framework of the manifest, and the work that it did."""
    secret = make_nonce()
    with gpu_witness.watch(context.sandbox.owns) as gpus:
        seen = _ask(context, report, secret)
    told = answer_of(seen.answer, _Told)
    usable = told is not None and told.nonce == secret
    return CudaObservation(
        frameworks=_facts(told) if told is not None and usable else (),
        witness=replace(seen.witness, driver=gpus.driver, gpus=gpus.gpus),
        gpus_present=gpus.present,
        seconds=seen.seconds,
        fault=None if usable else _silence(seen),
        survivors=seen.survivors,
    )


def _ask(context: ProbeContext, report: Report, secret: str) -> Supervised:
    source = random.Random(secret)  # noqa: S311
    matrix = [[source.randrange(-9, 10) for _ in range(_MATRIX)] for _ in range(_MATRIX)]
    question = {
        "nonce": secret,
        "matrix": matrix,
        "seconds": _BUSY_SECONDS,
        "frameworks": list(context.manifest.frameworks),
    }
    out = f"{context.layout.runs}/{secret}"
    request = Request(
        argv=(
            report.python_path,
            context.probe("cuda"),
            context.ask(secret, question),
            f"{out}/answer",
        ),
        cwd=context.layout.workspace,
        env=build_environment(context, report, {}),
        timeout_seconds=_TIMEOUT_SECONDS,
        out=out,
        answer=f"{out}/answer",
    )
    return supervise(context, request)


def _facts(told: _Told) -> tuple[CudaFacts, ...]:
    return tuple(
        CudaFacts(
            framework=name,
            available=one.available,
            build=one.build,
            architectures=one.architectures,
            devices=one.devices,
            error=one.error,
        )
        for name, one in sorted(told.frameworks.items())
    )


def _silence(seen: Supervised) -> str:
    if seen.timed_out:
        return f"the frameworks gave no answer within {seen.seconds:.0f} s"
    return f"the frameworks gave no answer: {seen.lost or f'exit code {seen.exit_code}'}"
