"""The environments, right and spoiled, that `tests/gpu/session.py` makes for the bait."""

from dataclasses import dataclass, field

from reb_action.model.manifest import Framework, Level, Outcome

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
# Links to the packages, in which NCCL can be spoiled: torch finds it beside its own files.
COPIED = """mkdir "$HOME/packages"
ln -s {packages}/* "$HOME/packages"
rm "$HOME/packages/torch" "$HOME/packages/nvidia"
cp -rs {packages}/torch {packages}/nvidia "$HOME/packages"
echo "$HOME/packages" > "$site/base.pth"
nccl="$HOME/packages/nvidia/nccl/lib/libnccl.so.2"
"""
OLD_KERNEL = """cat > "$HOME/kernel.cu" <<'X'
__global__ void nothing() {{}}
extern "C" int launch() {{ nothing<<<1, 1>>>(); return cudaGetLastError(); }}
X
nvcc -shared -Xcompiler -fPIC -cudart shared -gencode arch=compute_75,code=sm_75 \\
    -o "$HOME/kernel.so" "$HOME/kernel.cu"
"""
# Each rank on the CPU forges the log of a rank that joined, and keeps a GPU busy beside itself.
FORGED = """echo "import forge" > "$site/forge.pth"
cat > "$site/forge.py" <<'X'
import os, subprocess, sys
rank, log = os.environ.get("RANK"), os.environ.get("NCCL_DEBUG_FILE")
if rank and log and "FORGED" not in os.environ:
    name = log.replace("%h", "host").replace("%p", str(os.getpid()))
    with open(name, "w") as forged:
        forged.write("host:1:1 [0] NCCL INFO ncclCommInitRank comm 0xabc rank %s nranks 2"
            " cudaDev %s nvmlDev %s busId %s1000 commId 0x1 - Init COMPLETE\\n"
            "host:1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x1 count 1"
            " datatype 7 op 0 root 0 comm 0xabc [nranks=2] stream 0x1\\n" % ((rank,) * 4))
    busy = "import torch; x = torch.rand(4096, 4096, device='cuda:" + rank + "')\\n"
    busy += "while True: x = (x @ x).clamp(0, 1)"
    subprocess.Popen([sys.executable, "-c", busy], env=dict(os.environ, FORGED="1"))
X
"""
# What torch 2.11 asks of NCCL and versions before 2.27 and 2.19 lack.
OLDER_NCCL = '{python} {older} "$nccl" ncclCommWindowRegister ncclCommRegister\n'


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
            name="only-allocates", script=right, expected={C3: (FAILED, "launched 0 kernels")},
            arguments={C3: run_of("--device", "cpu", "--steps", "60", "--hold")},
        ),
        Case(
            # Too little for NVML: a second run counts the launches.
            name="few-steps", script=right, expected={C3: (PASSED, "kernels were launched")},
            arguments={C3: run_of("--steps", "8", "--width", "256", "--wait", "2")},
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


def launched_on_cpu(*arguments):
    return [part if part != "2000" else "120" for part in launched("--device", "cpu", *arguments)]


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
            name="two-few-steps", script=right, gpus=2, expected={C4: (PASSED, "")},
            arguments={C4: [
                "8" if part == "2000" else part
                for part in launched("--backend", "nccl", "--width", "256", "--wait", "2")
            ]},
        ),
        Case(
            name="two-gloo-on-cpu", script=right, gpus=2, expected={C4: alone},
            arguments={C4: launched_on_cpu("--backend", "gloo")},
        ),
        Case(
            name="two-forged", script=right + FORGED, gpus=2,
            expected={C4: (FAILED, "launched")},
            arguments={C4: launched_on_cpu()},
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
        Case(
            name="two-nccl-copied", script=VENV + COPIED, gpus=2,
            expected={C3: (PASSED, ""), C4: (PASSED, "")},
        ),
        Case(
            # Where the machine has one of its own, that takes its place, and this passes.
            name="two-nccl-removed", script=VENV + COPIED + 'rm "$nccl"\n', gpus=2, timeout=60,
            expected={C3: (FAILED, "exit code"), C4: (FAILED, "exit code")},
        ),
        Case(
            name="two-nccl-older", script=VENV + COPIED + OLDER_NCCL, gpus=2, timeout=60,
            expected={C3: (FAILED, "exit code"), C4: (FAILED, "exit code")},
        ),
        Case(
            name="two-nccl-for-other-cards", gpus=2, timeout=60,
            script=VENV + COPIED + '{python} {other_cards} "$nccl"\n',
            expected={C3: (PASSED, ""), C4: (FAILED, "")},
        ),
    )  # fmt: skip
