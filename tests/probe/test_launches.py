"""The library that counts launches, in a process whose driver and CUPTI are a fake."""

import hashlib
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.judge.launches import read_table
from reb_action.model.launches import GpuLaunches, Launches, ProcessLaunches
from reb_action.model.manifest import Entrypoint, LogProof
from reb_action.probe import launches
from reb_action.probe.context import ProbeContext, reveal
from reb_action.resources import data_folder
from reb_action.sandbox.protocol import Kind
from tests.support.evidence import MANIFEST
from tests.support.sandbox_fixtures import KINDS

FAKE = Path(__file__).parents[1] / "support" / "fake_cupti.c"
FOLDER = data_folder("probes") / "launches"
KERNEL, EXTENDED, GRAPH, MEMORY = 307, 652, 514, 276
GPU_0, GPU_1 = (f"GPU-{first}010203-0405-0607-0809-0a0b0c0d0e0f" for first in ("00", "01"))

START = f"""
import ctypes, os, signal, threading
fake = ctypes.CDLL("libcupti.so.12", ctypes.RTLD_GLOBAL)
ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)
assert ctypes.CDLL({str(FOLDER / "liblaunches.so")!r}).InitializeInjection() == 1
def launch(name, number=1, *, call={KERNEL}, site=1, result=0, gpu=0):
    for _ in range(number):
        fake.launch(call, site, result, name, gpu)
"""


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """The folder of a fake libcuda and libcupti."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("the fake of CUPTI has to be compiled, and there is no cc (Debian: gcc)")
    folder = tmp_path_factory.mktemp("driver")
    for name in ("libcupti.so.12", "libcuda.so.1"):
        argv = [compiler, "-shared", "-fPIC", f"-Wl,-soname,{name}", "-o", folder / name, FAKE]
        subprocess.run(argv, check=True)
    return folder


@pytest.fixture
def count(driver, tmp_path):
    """Run code in a process that counts; return what each process launched, and how it ended."""

    def run(code, *, start=START, **env):
        given = {"LD_LIBRARY_PATH": str(driver), "REB_LAUNCHES": str(tmp_path / "launches")}
        argv = [sys.executable, "-I", "-c", start + code]
        ended = subprocess.run(argv, env=given | env, check=False, timeout=60)
        tables = [read_table(path.read_bytes()) for path in tmp_path.glob("launches.*")]
        return sorted(tables, key=lambda table: table.pid), ended.returncode

    return run


def test_each_launch_is_counted_with_its_kernel_and_gpu(count):
    code = f"""
launch(b"gemm", 20); launch(b"triton_add", 3, call={EXTENDED}); launch(b"gemm", 5, gpu=1)
launch(b"ncclDevKernel_AllReduce", 2, gpu=1); launch(None, 4, call={GRAPH}, gpu=1)
"""
    (process,), status = count(code)
    assert status == 0
    assert replace(process, pid=0) == ProcessLaunches(
        pid=0,
        kernels=30,
        graphs=4,
        gpus=(
            GpuLaunches(uuid=GPU_0, launches=23, collectives=0, kernels=("gemm", "triton_add")),
            GpuLaunches(
                uuid=GPU_1,
                launches=11,
                collectives=2,
                kernels=("gemm", "(graph)", "ncclDevKernel_AllReduce"),
            ),
        ),
    )


@pytest.mark.parametrize(
    "call",
    [
        "launch(b'gemm', site=0)",
        "launch(b'gemm', result=209)",
        f"launch(b'memory', call={MEMORY})",
        "",
    ],
)
def test_what_is_no_launch_is_not_counted(count, call):
    (process,), _ = count(call)
    assert (process.kernels, process.graphs, process.gpus) == (0, 0, ())
    assert process.fault is None


def test_killed_process_leaves_its_count(count):
    (process,), status = count('launch(b"gemm", 7); os.kill(os.getpid(), signal.SIGKILL)')
    assert (process.kernels, status) == (7, -9)


def test_forked_child_has_a_count_of_its_own(count):
    code = """
launch(b"gemm", 7)
if os.fork() == 0:
    launch(b"gemm", 3)
    os._exit(0)
os.wait()
launch(b"gemm")
"""
    processes, _ = count(code)
    assert [process.kernels for process in processes] == [8, 3]


def test_no_launch_of_several_threads_is_lost(count):
    code = """
def work(name):
    launch(name, 2000); launch(b"shared", 2000)
threads = [threading.Thread(target=work, args=(b"own%d" % i,)) for i in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
    (process,), _ = count(code)
    assert process.kernels == 16_000
    assert process.gpus[0].launches == 16_000


def test_collectives_have_room_in_the_table_of_a_program_with_many_kernels(count):
    code = """
for number in range(2000):
    launch(b"kernel%d" % number)
launch(b"ncclDevKernel_AllReduce", 5)
"""
    (process,), _ = count(code)
    assert process.kernels == 2005
    assert process.gpus[0].collectives == 5


def test_process_whose_cupti_refuses_says_so(count):
    (process,), status = count('launch(b"gemm")', FAKE_CUPTI_RESULT="39")
    fault = "CUPTI cannot count (error 39)"
    assert (process.fault, process.kernels, status) == (fault, 0, 0)


def test_process_without_cupti_runs_and_counts_nothing(count, driver, tmp_path):
    shutil.copy(driver / "libcuda.so.1", tmp_path)
    start = START.replace("libcupti.so.12", "libcuda.so.1")
    (process,), status = count('launch(b"gemm")', start=start, LD_LIBRARY_PATH=str(tmp_path))
    assert (process.kernels, status) == (0, 0)
    # A machine with the CUDA toolkit has a CUPTI, which refuses where there is no GPU.
    assert process.fault in ("it found no CUPTI library", "CUPTI cannot count (error 999)")


def test_process_without_a_place_for_its_count_runs_all_the_same(count):
    assert count('launch(b"gemm")', REB_LAUNCHES="") == ([], 0)


def test_the_library_was_built_from_the_source_beside_it():
    for line in (FOLDER / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == digest, name


ENTRYPOINT = Entrypoint(
    argv=("{python}", "train.py"), decoy="train.py", proofs=(LogProof(log="a"),)
)


@pytest.fixture
def context(sandbox):
    found = ProbeContext(sandbox=sandbox, mount=Path(sandbox.spec.mount), manifest=MANIFEST)
    reveal(found.mount, found.manifest)
    return found


@pytest.mark.parametrize("sandbox", KINDS, indirect=True)
def test_the_library_loads_in_a_sandbox(context, tmp_path):
    (tmp_path / "train.py").write_text("import torch\n")
    assert launches.find_obstacle(context, tmp_path, ENTRYPOINT, MANIFEST) is None


@pytest.mark.parametrize("sandbox", [Kind.LOCAL], indirect=True)
def test_a_library_that_does_not_load_is_an_obstacle(context, tmp_path, monkeypatch):
    (tmp_path / "train.py").write_text("import torch\n")
    # Not in place of the right one: what is changed among the probes is put back.
    (context.mount / "other.so").write_bytes(b"\x7fELF of another machine")
    monkeypatch.setattr(launches, "_LIBRARY", "other.so")
    obstacle = launches.find_obstacle(context, tmp_path, ENTRYPOINT, MANIFEST)
    assert obstacle.startswith("the library that counts does not load: ")


@pytest.mark.parametrize("sandbox", [Kind.LOCAL], indirect=True)
@pytest.mark.parametrize(
    "text",
    [
        "with torch.profiler.profile() as prof: pass",
        "from torch.autograd.profiler import record_function",
        "from torch import nn, profiler",
        "jax.profiler.start_trace('x')",
        "from cupti import cupti",
    ],
)
def test_a_program_that_profiles_itself_is_not_counted(context, tmp_path, text):
    (tmp_path / "train.py").write_text(f"import torch\n{text}\n")
    obstacle = launches.find_obstacle(context, tmp_path, ENTRYPOINT, MANIFEST)
    assert obstacle == "the entry point profiles itself, and CUPTI serves only one profiler"


def test_a_run_in_which_no_process_counts_has_no_count():
    silent = ProcessLaunches(pid=1, kernels=0, graphs=0, fault="it found no CUPTI library")
    busy = ProcessLaunches(pid=2, kernels=5, graphs=1)
    assert launches.sum_up((silent,), ()) == Launches(
        processes=(silent,),
        decoy_launches=0,
        not_counted="no process could count: it found no CUPTI library",
    )
    assert launches.sum_up((silent, busy), (busy,)) == Launches(
        processes=(silent, busy), decoy_launches=6
    )
