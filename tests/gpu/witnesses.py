"""Compares NVML with the count of launches on small programs, one JSON line for each.

    python -m tests.gpu.witnesses --python PYTHON --out FILE [--workers N]

Each program runs once as it is and once counted. NVML watches both.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from reb_action.judge.launches import read_table
from reb_action.probe import gpu_witness
from reb_action.resources import data_folder
from tests.gpu.programs import PROGRAMS, WORKER

LIBRARY = data_folder("probes") / "launches" / "liblaunches.so"
SECONDS = 90
RANKS = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def session_of(pid):
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[3])
    except OSError:
        return 0


def run(python, folder, name, *, counted, gpu):
    """Run a program; return its time, its end, and what both witnesses saw."""
    code, ranks, _ = PROGRAMS[name]
    place = folder / f"{name}-{counted}"
    place.mkdir()
    (place / "program.py").write_text(code)
    (place / "worker.py").write_text(WORKER)
    env = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    env["CUDA_VISIBLE_DEVICES"] = "0,1" if ranks == 2 else str(gpu)
    env["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    if counted:
        env |= {"CUDA_INJECTION64_PATH": str(LIBRARY), "REB_LAUNCHES": str(place / "launches")}
    argv = [python, *(RANKS if ranks == 2 else ()), "program.py"]
    began, own = time.monotonic(), set()
    with gpu_witness.watch(lambda pid: session_of(pid) in own) as seen:
        child = subprocess.Popen(
            argv, cwd=place, env=env, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        own.add(child.pid)
        output = end(child)
    tables = [read_table(path.read_bytes()) for path in sorted(place.glob("launches.*"))]
    return {
        "seconds": round(time.monotonic() - began, 2),
        "status": child.returncode,
        "utilisation": max((gpu.peak_utilisation_percent for gpu in seen.gpus), default=0),
        "memory_mib": max((gpu.peak_memory_mib for gpu in seen.gpus), default=0),
        "processes": [summary(table) for table in tables if table],
        "output": output[-300:] if child.returncode or "kernel events" in output else "",
    }


def end(child):
    try:
        return child.communicate(timeout=SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        return child.communicate()[0]


def summary(table):
    gpus = {
        gpu.uuid: [gpu.launches, gpu.collectives, *(name[:60] for name in gpu.kernels[:3])]
        for gpu in table.gpus
    }
    return {"kernels": table.kernels, "graphs": table.graphs, "fault": table.fault, "gpus": gpus}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    lock = threading.Lock()

    def compare(item):
        number, name = item
        row = {"program": name, "works": PROGRAMS[name][2], "ranks": PROGRAMS[name][1]}
        for key, counted in (("plain", False), ("counted", True)):
            row[key] = run(options.python, folder, name, counted=counted, gpu=number % 2)
        with lock, options.out.open("a") as stream:
            print(json.dumps(row), file=stream, flush=True)

    chosen = [name for name in PROGRAMS if name.startswith(options.only)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
            list(pool.map(compare, enumerate(chosen)))


if __name__ == "__main__":
    main()
