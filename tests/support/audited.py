"""The labelled reports of tests/audit/: what was seen, what is said of it, and what is false."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from reb_action.model.evidence import Evidence
from reb_action.model.manifest import Framework, Level, Trial
from reb_action.model.observation import PlainAnswers
from reb_action.model.report import PAPER_FIELDS, ReportFaultKind, find_blocking_fault
from reb_action.session.report import fault, parse
from tests.support.evidence import (
    FREEZE,
    MANIFEST,
    TORCH,
    cuda,
    cuda_facts,
    device,
    evidence,
    interpreter,
    observations,
    proved,
    report,
    run,
    torch_facts,
)

_FOLDER = Path(__file__).parents[1] / "audit"

_C4 = {
    "passed": run(),
    "failed": run(exit_code=1),
    "timed_out": run(exit_code=None, timed_out=True),
    "unproven": run(proofs=(proved(holds=False),)),
    "lost": run(exit_code=None, fault="the run ended its supervisor"),
    "no_launcher": run(exit_code=None, fault="it cannot be started: FileNotFoundError: 'torchrun'"),
    "absent": None,
    "not_asked": None,
    "paper_only": None,
    "not_applicable": None,
}

_SILENT = {
    "lost": "the frameworks gave no answer: exit code -9",
    "hung": "the frameworks gave no answer within 300 s",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """What was seen; the defaults are a right environment with two GPUs."""

    torch: str | None = TORCH
    genuine: bool = True
    framework: str = "torch"
    cuda: bool = True
    gpus: int = 2
    present: int = 2
    promised: int = 2
    c2: str = "passed"
    c4: str = "passed"
    fault: str | None = None
    good_path: bool = True
    frozen: bool = True
    answers: Mapping[str, object] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Labelled:
    """A report, which of its claims are false or too modest, and the paper's counts."""

    at: str
    says: Mapping[str, object]
    lies: tuple[str, ...] = ()
    modest: tuple[str, ...] = ()
    counts: tuple[int, int, int] = (0, 0, 0)
    seen: Evidence = field(default_factory=evidence)

    @property
    def id(self):
        return f"{self.at}: {', '.join(f'{k}={v}' for k, v in self.says.items()) or 'silent'}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Situation:
    """A report at a machine; what most of the paper's validators count, and ours where it differs.

    `readable` is false where they could not read the report; `why` says which count is right.
    """

    name: str
    basis: str
    seen: Evidence
    reference: tuple[int, int, int]
    ours: tuple[int, int, int] | None = None
    readable: bool = True
    why: str | None = None


def read_reports():
    """Return every labelled report with the evidence beside it."""
    machines = yaml.safe_load((_FOLDER / "machines.yaml").read_text())
    rows = yaml.safe_load((_FOLDER / "reports.yaml").read_text())
    return tuple(_labelled(row, Machine(**machines[row["at"]])) for row in rows)


def read_situations():
    """Return every situation that the paper's validators were compared in, with its evidence."""
    machines = yaml.safe_load((_FOLDER / "machines.yaml").read_text())
    rows = yaml.safe_load((_FOLDER / "situations.yaml").read_text())
    return tuple(_situation(row, Machine(**machines[row.pop("at", "right")])) for row in rows)


def _situation(row, machine):
    claimed = _read(row)
    seen = replace(_evidence(machine), report=claimed)
    if find_blocking_fault(claimed) is not None:
        seen = replace(seen, interpreter=None, observations={})
    counts = {key: tuple(row[key]) for key in ("reference", "ours") if key in row}
    return Situation(
        name=row["name"], basis=row["basis"], seen=seen, why=row.get("why"),
        readable=row.get("readable", True), **counts,
    )  # fmt: skip


def _read(row):
    """Return the report of a situation: its own bytes, or the keys of one that says nothing."""
    if row.get("report") == "missing":
        return fault(ReportFaultKind.MISSING)
    if "report" in row:
        return parse(row["report"].encode())
    silent = dict.fromkeys((*PAPER_FIELDS, "env_name", "notes"))
    claims = {**silent, "python_path": "/venv/bin/python", "env_tool": "venv", **row["says"]}
    return parse(json.dumps(claims).encode())


def _labelled(row, machine):
    lists = {key: tuple(row[key]) for key in ("lies", "modest", "counts") if key in row}
    seen = replace(_evidence(machine), report=report(**row["says"]))
    if not machine.frozen:
        seen = replace(seen, report=None)
    return Labelled(at=row["at"], says=row["says"], seen=seen, **lists)


def _evidence(machine):
    changes = {"C2": _cuda(machine), "C4": _C4[machine.c4]}
    seen = observations(**changes) if machine.fault is None and machine.frozen else {}
    seen = {level: _on(one, machine) for level, one in seen.items()}
    return evidence(
        trial=Trial(manifest=_manifest(machine), agent="replay"),
        levels=tuple(level for level in Level if _is_asked(level, machine)),
        gpus_promised=machine.promised,
        freeze=FREEZE if machine.frozen else None,
        interpreter=_interpreter(machine) if machine.frozen else None,
        observations=seen,
    )


def _manifest(machine):
    if machine.c4 not in ("paper_only", "not_applicable"):
        return MANIFEST
    runs = {level: one for level, one in MANIFEST.entrypoints.items() if level is not Level.C4}
    return replace(MANIFEST, entrypoints=runs, **{machine.c4: {Level.C4: "why"}})


def _is_asked(level, machine):
    return {Level.C2: machine.c2, Level.C4: machine.c4}.get(level) != "not_asked"


def _on(seen, machine):
    return replace(seen, gpus_present=machine.present) if hasattr(seen, "gpus_present") else seen


def _interpreter(machine):
    if machine.fault is not None:
        return replace(
            interpreter(frameworks=(), version=None),
            fault=machine.fault,
            path_is_good=machine.good_path,
            answers=None if machine.answers is None else PlainAnswers(**machine.answers),
        )
    return interpreter(frameworks=_torch(machine))


def _torch(machine):
    if machine.torch is None:
        return ()
    if machine.torch[0].isdigit():
        return (torch_facts(version=machine.torch, genuine=machine.genuine),)
    return (torch_facts(imported=False, version=None, genuine=False, error=machine.torch),)


def _cuda(machine):
    if machine.c2 in ("absent", "not_asked"):
        return None
    if machine.c2 in _SILENT:
        return replace(cuda(), frameworks=(), fault=_SILENT[machine.c2])
    devices = tuple(device(index) for index in range(machine.gpus))
    framework = Framework(machine.framework)
    return cuda(cuda_facts(framework=framework, available=machine.cuda, devices=devices))
