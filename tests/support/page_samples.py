"""Trials to render: a small one in full words, and one in which everything occurs."""

from dataclasses import replace

from reb_action.judge.judge import judge
from reb_action.model.agent import (
    AgentRun,
    Change,
    Ending,
    Freeze,
    Interruption,
    Resume,
    Touched,
    Usage,
    UsageEstimate,
    VendorRecord,
)
from reb_action.model.contestant import Contestant
from reb_action.model.evidence import Evidence
from reb_action.model.fault import FaultCause
from reb_action.model.gpu import Gpu
from reb_action.model.limits import LimitHits, Limits
from reb_action.model.manifest import (
    CurveProof,
    Entrypoint,
    FileKind,
    FileProof,
    Framework,
    Level,
    LogProof,
    Manifest,
    MetricProof,
    StepsProof,
    Trial,
)
from reb_action.model.observation import (
    CudaFacts,
    CudaObservation,
    Curve,
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
from reb_action.model.report import Report, ReportFault, ReportFaultKind
from reb_action.render.html.page import View

PYTHON = "/home/agent/miniconda3/envs/mamba/bin/python"
COMMIT = "8c8a33ac958cf50246e215fdaad3b5a8850c69f9"
GPUS = ("GPU-5c1a6c0e-0001", "GPU-5c1a6c0e-0002")


def manifest(**fields):
    return Manifest(
        repository="research/vision-mamba", commit=COMMIT, domain="vision", imports=61, **fields
    )


def small():
    """A trial whose agent left nothing."""
    nothing = {level: f"no code for {level}" for level in (Level.C2, Level.C3, Level.C4)}
    fault = ReportFault(kind=ReportFaultKind.MISSING, message="there is no report.json")
    run = AgentRun(
        agent="nop", version="1", ending=Ending.DONE, exit_code=0, seconds=0.5, setup_seconds=0.1
    )
    evidence = Evidence(
        trial=Trial(manifest=manifest(not_applicable=nothing), agent="nop"),
        gpus_promised=0,
        levels=tuple(Level),
        agent_run=run,
        freeze=Freeze(report=fault, report_sha256=None, touched=(), survivors=(), native=()),
        report=fault,
        hashes={"agent.json": "c2a19bae"},
    )
    return View(verdict=judge(evidence), evidence=evidence, agent_log="", unqualified=frozenset())


def full():
    """A trial on two GPUs in which every part of the page has something to say."""
    evidence = Evidence(
        trial=Trial(
            manifest=_wanted(),
            agent="codex",
            attempt=2,
            contestant=Contestant(id="patient-codex", digest="0123456789abcdef" * 4),
        ),
        gpus_promised=2,
        levels=tuple(Level),
        agent_run=_agent_run(),
        freeze=_freeze(),
        report=_report(),
        interpreter=_interpreter(),
        observations={
            Level.C0: _imports(),
            Level.C1: _run(),
            Level.C2: _cuda(),
            Level.C3: _run(gpus=GPUS[:1], exit_code=1),
            Level.C4: _run(gpus=GPUS, ranks=2),
        },
        logs={
            Level.C1: "epoch 1 loss 0.5\nepoch 2 loss 0.25\n",
            Level.C3: _TRACEBACK,
            Level.C4: "\x1b[32mrank 0 done\x1b[0m\n 10%|#\r 50%|#####\r100%|##########\n",
        },
        hashes={f"levels/{level}.json": COMMIT + COMMIT[:24] for level in Level},
    )
    return View(
        verdict=judge(evidence),
        evidence=evidence,
        agent_log="$ conda create\ndone\n",
        unqualified=frozenset(evidence.trial.manifest.entrypoints),
    )


def unmeasured():
    """The full trial, with GPUs promised that the machine does not have."""
    view = full()
    evidence = replace(view.evidence, gpus_promised=0)
    return replace(view, verdict=judge(evidence), evidence=evidence)


_TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 12, in <module>
    y = selective_scan(x)
        ^^^^^^^^^^^^^^^^^
RuntimeError: CUDA error: no kernel image is available for execution on the device
"""

_CURVE = Curve(losses=(2.0, 1.0, 0.5), per_second=4.0, reseeded=(2.1, 1.1, 0.4))

_PROOFS = (
    FileProof(file="{out}/weights.pt", kind=FileKind.ZIP, min_bytes=1000),
    LogProof(log="^done"),
    MetricProof(metric="accuracy ([0-9.]+)", minimum=0.5),
    StepsProof(steps="epoch", at_least=2),
    CurveProof(curve="loss ([0-9.]+)", at_least=3, falls=0.5, repeats=0.01),
)


def _wanted():
    entrypoint = Entrypoint(argv=("{python}", "train.py"), decoy="train.py", proofs=_PROOFS)
    return manifest(
        entrypoints={
            Level.C1: entrypoint,
            Level.C3: entrypoint,
            Level.C4: replace(entrypoint, ranks=2),
        }
    )


def _agent_run():
    return AgentRun(
        agent="codex",
        version="0.44.0",
        ending=Ending.TIMED_OUT,
        exit_code=None,
        seconds=3598.4,
        setup_seconds=21.9,
        root=True,
        attempts=2,
        interruptions=(Interruption(seconds=61.0, resumed=Resume.CONTINUE),),
        usage=Usage(input_tokens=1_204_331, output_tokens=48_210, turns=96, cost_usd=3.1),
        detail="its last turn was cut off",
        cause=FaultCause.REQUEST_REJECTED,
        hits=LimitHits(memory_kills=2),
        limits=Limits(),
        estimate=UsageEstimate(
            calls=1,
            input_tokens_min=0,
            input_tokens_max=21000,
            output_tokens_min=12,
            output_tokens_max=32000,
            cost_usd_min=0.01,
            cost_usd_max=0.35,
        ),
        reported=Usage(input_tokens=1200, output_tokens=90),
        vendor=VendorRecord(
            models={"gpt-5.1-codex": 41},
            removed={"web_search": 41},
            offered={"image address": 1},
            searches=2,
            retried={"429": 3},
            waited_seconds=14.0,
        ),
    )


def _freeze():
    return Freeze(
        report=None,
        report_sha256=COMMIT,
        touched=(
            Touched(path="setup.py", change=Change.MODIFIED),
            Touched(path="tests/test_model.py", change=Change.DELETED),
        ),
        survivors=("python -m http.server", "node agent.js"),
        native=(),
        shadowing=("argparse.py",),
        known_hooks={"site-packages/distutils-precedence.pth": "setuptools"},
    )


def _report():
    return Report(
        python_path=PYTHON,
        python_version="3.10.14",
        torch_version="2.4.0+cu124",
        cuda_available=False,
        gpu_count=8,
        ddp_expected_ok=None,
        env_tool="conda",
        env_name="mamba",
        notes="Everything is installed.\nThe model trains on all GPUs.",
        environment={"CUDA_HOME": "/usr/local/cuda-12.4"},
    )


def _interpreter():
    return Interpreter(
        path=PYTHON,
        fault=None,
        path_is_good=True,
        version="3.10.14",
        prefix="/home/agent/miniconda3/envs/mamba",
        prefix_bytes=6_412_300_123,
        hooks=("site-packages/telemetry.pth", "site-packages/distutils-precedence.pth"),
        frameworks=(
            FrameworkFacts(
                name=Framework.TORCH, imported=True, version="2.3.1+cu121", genuine=True
            ),
        ),
    )


def _imports():
    return ImportsObservation(
        total=61,
        missing=("mamba_ssm", "causal_conv1d"),
        third_party=("torch", "mamba_ssm", "causal_conv1d", "yaml"),
        stub_only=("yaml",),
        hollow=("apex",),
        optional=("wandb",),
        files=23,
        pyright="1.1.414",
        seconds=9.4,
    )


def _cuda():
    devices = tuple(
        Device(index=index, name="NVIDIA H100 80GB HBM3", capability="9.0", computed=index == 0)
        for index in range(2)
    )
    return CudaObservation(
        frameworks=(
            CudaFacts(
                framework=Framework.TORCH,
                available=True,
                build="12.1",
                architectures=("sm_80", "sm_90"),
                devices=(devices[0], replace(devices[1], error="CUDA error: device busy")),
                error="one GPU did not answer",
            ),
        ),
        witness=_witness(GPUS),
        gpus_present=2,
        seconds=12.5,
    )


def _run(*, gpus=(), exit_code=0, ranks=0):
    found = exit_code == 0
    return RunObservation(
        argv=(PYTHON, "train.py"),
        exit_code=exit_code,
        timed_out=False,
        seconds=83.0,
        proofs=tuple(
            ProofObservation(
                proof=proof,
                satisfied=found,
                detail=f"looked for {index}",
                curve=_CURVE if isinstance(proof, CurveProof) else None,
            )
            for index, proof in enumerate(_PROOFS)
        ),
        decoy=Decoy(
            exit_code=86,
            expected_exit_code=86,
            token_seen=True,
            proofs_satisfied=False,
            changed=() if found else (Touched(path="data.py", change=Change.PUT_BACK),),
        ),
        witness=_witness(gpus),
        restored=(Touched(path="train.py", change=Change.MODIFIED),),
        log_sha256=COMMIT,
        gpus_present=2,
        survivors=("miner",),
        ranks=tuple(
            Rank(rank=rank, ranks=ranks, device=GPUS[rank], collectives=1200)
            for rank in range(ranks)
        ),
    )


def _witness(gpus):
    return Witness(
        samples=640,
        peak_processes=5,
        cpu_seconds=211.37,
        peak_memory_mib=9_214,
        libraries=(Library(path="/env/torch/lib/libtorch_cpu.so", size_bytes=431_000_000),),
        driver="550.54.15" if gpus else None,
        gpus=tuple(
            Gpu(
                uuid=uuid,
                name="NVIDIA H100 80GB HBM3",
                peak_memory_mib=31_204,
                peak_utilisation_percent=97,
                pids=(4_211,),
            )
            for uuid in gpus
        ),
    )
