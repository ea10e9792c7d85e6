"""Evidence for tests: of an honest trial in a right environment with two GPUs, then changed."""

from dataclasses import replace

from reb_action.model.agent import AgentRun, Ending, Freeze
from reb_action.model.evidence import Evidence
from reb_action.model.gpu import Gpu
from reb_action.model.manifest import Entrypoint, Framework, Level, LogProof, Manifest, Trial
from reb_action.model.observation import (
    CudaFacts,
    CudaObservation,
    Decoy,
    Device,
    FrameworkFacts,
    ImportsObservation,
    Interpreter,
    Library,
    ProofObservation,
    Rank,
    RunObservation,
    Witness,
)
from reb_action.model.report import Report

PYTHON, TORCH = "3.11.2", "2.4.0+cu124"
PROOF = LogProof(log="^done")
ENTRYPOINT = Entrypoint(argv=("{python}", "train.py"), decoy="train.py", proofs=(PROOF,))
MANIFEST = Manifest(
    repository="owner/name",
    commit="0" * 40,
    domain="example",
    imports=10,
    entrypoints={
        Level.C1: ENTRYPOINT,
        Level.C3: ENTRYPOINT,
        Level.C4: replace(ENTRYPOINT, ranks=2),
    },
)
LIBTORCH = Library(path="/venv/lib/libtorch_cpu.so", size_bytes=400_000_000)


def report(**claims):
    """A report that claims nothing but its interpreter; `claims` are what it says besides."""
    silent = dict.fromkeys(
        ("python_version", "torch_version", "cuda_available", "gpu_count", "ddp_expected_ok")
    )
    other = {"env_tool": "venv", "env_name": None, "notes": None}
    return Report(**{"python_path": "/venv/bin/python", **silent, **other, **claims})


def gpu(index=0, *, memory=900, utilisation=80):
    return Gpu(
        uuid=f"GPU-{index}",
        name="NVIDIA H200",
        peak_memory_mib=memory,
        peak_utilisation_percent=utilisation,
        pids=(4242,),
    )


def witness(*gpus, libraries=(LIBTORCH,)):
    return Witness(
        samples=9,
        peak_processes=3,
        cpu_seconds=4.5,
        peak_memory_mib=800,
        libraries=libraries,
        driver="550.163.01" if gpus else None,
        gpus=gpus,
    )


def torch_facts(**changes):
    genuine = FrameworkFacts(name=Framework.TORCH, imported=True, version=TORCH, genuine=True)
    return replace(genuine, **changes)


def interpreter(**changes):
    good = Interpreter(
        path="/venv/bin/python",
        fault=None,
        path_is_good=True,
        version=PYTHON,
        prefix="/venv",
        prefix_bytes=5_000_000,
        frameworks=(torch_facts(),),
    )
    return replace(good, **changes)


def imports(**changes):
    resolved = ImportsObservation(
        total=10,
        missing=(),
        third_party=("numpy", "torch"),
        stub_only=(),
        files=3,
        pyright="1.1.414",
        seconds=2.0,
    )
    return replace(resolved, **changes)


def device(index=0, **changes):
    used = Device(index=index, name="NVIDIA H200", capability="9.0", computed=True)
    return replace(used, **changes)


def cuda_facts(**changes):
    working = CudaFacts(
        framework=Framework.TORCH,
        available=True,
        build="12.4",
        architectures=("sm_90",),
        devices=(device(0), device(1)),
    )
    return replace(working, **changes)


def cuda(*frameworks, **changes):
    seen = CudaObservation(
        frameworks=frameworks or (cuda_facts(),),
        witness=witness(gpu(0), gpu(1)),
        gpus_present=2,
        seconds=6.0,
    )
    return replace(seen, **changes)


def proved(*, holds=True):
    detail = "the log has ^done" if holds else "the log lacks ^done"
    return ProofObservation(proof=PROOF, satisfied=holds, detail=detail)


def decoy(**changes):
    honest = Decoy(exit_code=86, expected_exit_code=86, token_seen=True, proofs_satisfied=False)
    return replace(honest, **changes)


def rank(number, *, device=None, ranks=2, collectives=12):
    return Rank(
        rank=number, ranks=ranks, device=device or f"{number + 1}000", collectives=collectives
    )


def run(**changes):
    """A run of any level that holds: C1 does not mind the GPUs that C4 needs."""
    good = RunObservation(
        argv=("/venv/bin/python", "train.py"),
        exit_code=0,
        timed_out=False,
        seconds=30.0,
        proofs=(proved(),),
        decoy=decoy(),
        witness=witness(gpu(0), gpu(1)),
        restored=(),
        log_sha256="0" * 64,
        gpus_present=2,
        ranks=(rank(0), rank(1)),
    )
    return replace(good, **changes)


FREEZE = Freeze(report=None, report_sha256="0" * 64, touched=(), survivors=(), native=())
AGENT_RUN = AgentRun(
    agent="replay", version="1", ending=Ending.DONE, exit_code=0, seconds=60.0, setup_seconds=1.0
)


def observations(**changes):
    """All five observations; `C4=None` leaves one out."""
    seen = {"C0": imports(), "C1": run(), "C2": cuda(), "C3": run(), "C4": run()} | changes
    return {Level(level): one for level, one in seen.items() if one is not None}


def evidence(**changes):
    whole = Evidence(
        trial=Trial(manifest=MANIFEST, agent="replay"),
        gpus_promised=2,
        levels=tuple(Level),
        agent_run=AGENT_RUN,
        freeze=FREEZE,
        report=report(),
        interpreter=interpreter(),
        observations=observations(),
        hashes={"report.json": "0" * 64},
    )
    return replace(whole, **changes)
