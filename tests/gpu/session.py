"""Runs everything that needs a real GPU, in the local sandbox, and prints a short table.

    python -m tests.gpu.session --python /path/to/python-with-torch --out FOLDER [--only NAME]

Each case is a trial of the bait in an environment made on top of the given interpreter, right or
spoiled in one way. The folders of the trials, with all that was observed, stay in FOLDER; the
judges are tested on them in CI, where there is no GPU.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from reb_action import evidence, observing, trial, witness
from reb_action.demo import committed
from reb_action.layout import SessionLayout
from reb_action.model.manifest import Framework, Level, Outcome
from reb_action.sandbox.protocol import Kind
from reb_action.session import AgentChoice

HERE = Path(__file__).parent
C1, C2, C3, C4 = Level.C1, Level.C2, Level.C3, Level.C4
PASSED, FAILED, INVALID = Outcome.PASSED, Outcome.FAILED, Outcome.INVALID

# The environment: a virtual environment that also finds the packages of the given interpreter.
VENV = """set -e
{python} -m venv --without-pip "$HOME/venv"
site=$(echo "$HOME"/venv/lib/python3*/site-packages)
"""
WITH_ALL = 'echo {packages} > "$site/base.pth"\n'
HIDDEN = "echo \"import os; os.environ['CUDA_VISIBLE_DEVICES'] = ''\" > \"$site/hide.pth\"\n"
FAKE = """mkdir "$site/torch"
cat > "$site/torch/__init__.py" <<'X'
__version__ = "2.11.0"
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 1)
X
"""
# JAX without its CUDA plugin is what the CPU-only wheels install.
CPU_JAX = """for name in jax jaxlib numpy numpy.libs scipy scipy.libs ml_dtypes opt_einsum; do
    [ -e {packages}/$name ] && ln -s {packages}/$name "$site/$name"
done
for info in {packages}/jax-*.dist-info {packages}/jaxlib-*.dist-info; do
    ln -s "$info" "$site/"
done
"""
OLD_DRIVER = """mkdir "$HOME/driver"
cat > "$HOME/driver.c" <<'X'
#include <string.h>
int cuInit(unsigned flags) {{ return 0; }}
int cuDriverGetVersion(int *version) {{ *version = 11040; return 0; }}
static int find(const char *name, void **found) {{
    *found = 0;
    if (!strcmp(name, "cuInit")) *found = cuInit;
    if (!strcmp(name, "cuDriverGetVersion")) *found = cuDriverGetVersion;
    return *found ? 0 : 500;
}}
int cuGetProcAddress(const char *n, void **p, int v, long f) {{ return find(n, p); }}
int cuGetProcAddress_v2(const char *n, void **p, int v, long f, int *s) {{ return find(n, p); }}
X
gcc -shared -fPIC -o "$HOME/driver/libcuda.so.1" "$HOME/driver.c"
"""
OLD_KERNEL = """cat > "$HOME/kernel.cu" <<'X'
__global__ void nothing() {{}}
extern "C" int launch() {{ nothing<<<1, 1>>>(); return cudaGetLastError(); }}
X
nvcc -shared -Xcompiler -fPIC -cudart shared -gencode arch=compute_75,code=sm_75 \\
    -o "$HOME/kernel.so" "$HOME/kernel.cu"
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One trial: how its environment is made, what is changed in the manifest, what must come."""

    name: str
    script: str
    expected: dict[Level, tuple[Outcome, str]]
    arguments: dict[Level, list[str]] = field(default_factory=dict)
    frameworks: tuple[Framework, ...] = (Framework.TORCH,)
    environment: dict[str, str] = field(default_factory=dict)
    gpus: int = 1
    timeout: int | None = None
    neighbour: bool = False


def run_of(*arguments):
    return ["{python}", "train.py", *arguments, "--output", "{out}/w"]


def cases():
    right = VENV + WITH_ALL
    return (
        Case(name="right", script=right, expected=dict.fromkeys((C1, C2, C3), (PASSED, ""))),
        Case(
            name="on-the-cpu", script=right, expected={C3: (FAILED, "NVML saw no kernel")},
            arguments={C3: run_of("--device", "cpu", "--steps", "60")},
        ),
        Case(
            name="only-allocates", script=right, expected={C3: (FAILED, "NVML saw no kernel")},
            arguments={C3: run_of("--device", "cpu", "--steps", "60", "--hold")},
        ),
        Case(
            name="neighbour-works", script=right, expected={C3: (FAILED, "NVML saw no kernel")},
            arguments={C3: run_of("--device", "cpu", "--steps", "60")}, neighbour=True,
        ),
        Case(
            name="hidden-devices", script=right + HIDDEN,
            expected={C2: (FAILED, "No CUDA GPUs"), C3: (FAILED, "")},
        ),
        Case(name="fake-torch", script=VENV + FAKE, expected={C2: (FAILED, ""), C3: (FAILED, "")}),
        Case(
            name="jax-for-the-cpu", script=VENV + CPU_JAX, frameworks=(Framework.JAX,),
            expected={C2: (FAILED, "")},
        ),
        Case(
            name="jax-beside-torch", script=right, frameworks=(Framework.TORCH, Framework.JAX),
            expected={C2: (PASSED, "")},
        ),
        Case(
            name="driver-too-old", script=right + OLD_DRIVER,
            environment={"LD_LIBRARY_PATH": "{home}/driver"},
            expected={C2: (FAILED, ""), C3: (FAILED, "")},
        ),
        Case(
            name="kernel-of-another-card", script=right + OLD_KERNEL,
            arguments={C3: run_of("--extension", "{repo}/../../home/agent/kernel.so")},
            expected={C3: (FAILED, "exit code 1")},
        ),
        Case(name="one-gpu-for-two-ranks", script=right, expected={C4: (INVALID, "needs 2 GPUs")}),
        Case(
            name="promised-gpu-absent", script=right, gpus=2,
            expected={C4: (INVALID, "promised 2 GPUs and has 1")},
        ),
        Case(
            name="gloo-on-two-cpu-ranks", script=right, expected={C1: (PASSED, "")},
            arguments={
                C1: [
                    *("{python}", "-m", "torch.distributed.run", "--standalone"),
                    *("--nproc-per-node", "2", "train.py", "--device", "cpu", "--steps", "8"),
                    *("--backend", "gloo", "--output", "{out}/w"),
                ]
            },
        ),
        Case(
            name="nccl-of-one-rank", script=right, expected={C3: (PASSED, "")},
            arguments={
                C3: [
                    *("{python}", "-m", "torch.distributed.run", "--standalone"),
                    *("--nproc-per-node", "1", "train.py", "--steps", "2000"),
                    *("--backend", "nccl", "--output", "{out}/w"),
                ]
            },
        ),
    )  # fmt: skip


def launched(*arguments, ranks="2"):
    torchrun = ("{python}", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node")
    return [*torchrun, ranks, "train.py", "--steps", "2000", *arguments, "--output", "{out}/w"]


def cases_of_two():
    """What takes two GPUs: a collective between them, and all that looks like one."""
    right = VENV + WITH_ALL
    alone = (FAILED, "0 of 2 ranks")
    return (
        Case(name="two-right", script=right, gpus=2, expected={C2: (PASSED, ""), C4: (PASSED, "")}),
        Case(
            name="two-one-hidden", script=right + HIDDEN.replace("''", "'0'"), gpus=2,
            expected={C2: (FAILED, "sees 1 of 2"), C4: (FAILED, "exit code")},
        ),
        Case(
            name="two-independent", script=right, gpus=2, expected={C4: alone},
            arguments={C4: launched()},
        ),
        Case(
            name="two-device-map", script=right, gpus=2, expected={C4: alone},
            arguments={C4: run_of("--steps", "2000", "--split")},
        ),
        Case(
            name="two-one-rank-on-cpu", script=right, gpus=2, timeout=60,
            expected={C4: (FAILED, "")},
            arguments={C4: launched("--backend", "gloo", "--cpu-rank", "1")},
        ),
        Case(
            name="two-hang", script=right, gpus=2, timeout=60,
            expected={C4: (FAILED, "had not ended after")},
            arguments={C4: launched("--backend", "nccl", "--silent-rank", "1")},
        ),
    )  # fmt: skip


def changed(wanted, case):
    entrypoints = dict(wanted.entrypoints)
    for level, argv in case.arguments.items():
        seconds = case.timeout or entrypoints[level].timeout_seconds
        entrypoints[level] = replace(entrypoints[level], argv=tuple(argv), timeout_seconds=seconds)
    return replace(wanted, entrypoints=entrypoints, frameworks=case.frameworks)


def player(case, folder, python, packages):
    folder.mkdir(parents=True)
    values = {"python": shlex.quote(python), "packages": shlex.quote(packages)}
    (folder / "run.sh").write_text(case.script.format(**values))
    report = {
        "python_path": "{home}/venv/bin/python", "python_version": None, "torch_version": None,
        "cuda_available": True, "gpu_count": None, "ddp_expected_ok": None, "env_tool": "venv",
        "env_name": None, "notes": None, "environment": case.environment,
    }  # fmt: skip
    (folder / "report.json").write_text(json.dumps(report))
    return folder


def verdict_of(case, wanted, mirror, options):
    folder = options.out / case.name
    shutil.rmtree(folder, ignore_errors=True)
    played = player(case, options.scratch / f"{case.name}.agent", options.python, options.packages)
    choice = AgentChoice(name="replay", argument=str(played), total_seconds=300, setup_seconds=60)
    chosen = trial.Options(
        manifest=changed(wanted, case), agent=choice, folder=folder, kind=Kind.LOCAL,
        mirror=mirror, gpus=case.gpus, levels=tuple(case.expected),
    )  # fmt: skip
    neighbour = subprocess.Popen([options.python, "-c", BURN]) if case.neighbour else None
    try:
        return trial.run(chosen, environ={}, tell=lambda line: print(f"    {line}", flush=True))
    finally:
        if neighbour:
            neighbour.kill()
            neighbour.wait()


BURN = (
    "import torch\nx = torch.rand(4096, 4096, device='cuda')\nwhile True: x = (x @ x).clamp(0, 1)"
)


def check(case, verdict):
    """Yield a row for each level that the case is about."""
    for level, (outcome, reason) in case.expected.items():
        result = verdict.result(level)
        fine = result.outcome is outcome and reason in result.reason
        cause = result.diagnosis.cause if result.diagnosis else ""
        yield fine, f"{case.name:24} {level} {result.outcome:8} {cause:30} {result.reason[:110]}"


def cost_of_watching():
    """Return the share of one core that sampling takes, over five seconds."""
    began = time.process_time()
    with witness.watch(witness.nothing_owned) as seen:
        time.sleep(5)
    return (time.process_time() - began) / 5, seen.samples


def effect_on_the_run(python, checkout, folder):
    """Return the median ratio of a run's own time, watched to not watched, in pairs."""
    argv = [python, "train.py", "--steps", "4000", "--output", str(folder)]
    ratios = []
    for _ in range(3):
        times = []
        for watched in (False, True):
            began = time.monotonic()
            if watched:
                with witness.watch(lambda _: True):
                    subprocess.run(argv, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
            else:
                subprocess.run(argv, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
            times.append(time.monotonic() - began)
        ratios.append(times[1] / times[0])
    return sorted(ratios)[1]


def time_to_verdict(layout, level):
    """Return the seconds from the command to its result, and those of the entry point itself."""
    began = time.monotonic()
    observing.observe(layout, level, tell=lambda _: None)
    whole = time.monotonic() - began
    return whole, evidence.read(layout).observations[level].seconds


def measured(wanted, mirror, options):
    """Yield the figures that are not verdicts."""
    share, samples = cost_of_watching()
    yield f"sampling: {share:.2%} of one core ({samples} samples in 5 s)"
    checkout = mirror / wanted.repository
    ratio = effect_on_the_run(options.python, checkout, options.scratch / "effect")
    yield f"entry point watched / not watched: {ratio:.3f}"
    case = cases()[0]
    played = player(case, options.scratch / "timing.agent", options.python, options.packages)
    choice = AgentChoice(name="replay", argument=str(played), total_seconds=300, setup_seconds=60)
    layout = SessionLayout(folder=options.scratch / "timing")
    longer = changed(wanted, replace(case, arguments={C3: run_of("--steps", "12000")}))
    chosen = trial.Options(
        manifest=longer, agent=choice, folder=layout.folder, kind=Kind.LOCAL, mirror=mirror, gpus=1
    )
    trial.start(chosen, owner=1, tell=lambda _: None)
    trial.run_agent(layout, environ={}, tell=lambda _: None)
    whole, own = time_to_verdict(layout, C3)
    trial.stop(layout, tell=lambda _: None)
    yield f"command to result: {whole:.1f} s over {own:.1f} s of the entry point"
    yield f"  allowed: {1.05 * own + 2:.1f} s"


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only")
    parser.add_argument("--no-measures", action="store_true")
    options = parser.parse_args()
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([options.python, "-c", code], check=True, capture_output=True, text=True)
    options.packages = found.stdout.strip()
    options.out = options.out.absolute()
    options.scratch = options.out / "scratch"
    shutil.rmtree(options.scratch, ignore_errors=True)
    options.scratch.mkdir(parents=True)
    return options


def main():
    options = parsed()
    mirror = options.scratch / "mirror"
    wanted = committed(HERE / "bait", mirror)
    rows = []
    with witness.watch(witness.nothing_owned) as seen:
        two = seen.present > 1
    for case in (*cases(), *(cases_of_two() if two else ())):
        # Where there are two GPUs, the absence of one cannot be shown.
        if options.only in (None, case.name) and not (two and case.name == "promised-gpu-absent"):
            print(f"--- {case.name}", flush=True)
            rows += check(case, verdict_of(case, wanted, mirror, options))
    if not options.no_measures:
        for line in measured(wanted, mirror, options):
            print(line, flush=True)
    for fine, row in rows:
        print(f"{'ok  ' if fine else 'WRONG'} {row}")
    shutil.rmtree(options.scratch)
    sys.exit(0 if all(fine for fine, _ in rows) else 1)


if __name__ == "__main__":
    main()
