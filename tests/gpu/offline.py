"""Runs, within a time limit, what needs GPUs on a machine without a network.

    python -m tests.gpu.offline --bundle BUNDLE.tar --out FOLDER --seconds 540 [--tasks NAME,…]

That is each cell of the bundle (`tests/gpu/bundle.py` packs it), and with two GPUs the witnesses
and the staged cases. The bundle holds wheels for the packages that the interpreter there lacks, and
mirrors of repositories. Everything that was seen is written at once.
"""

import argparse
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
WORK = Path("/tmp/reb-offline")
LOCK = threading.Lock()
CASES = (
    "few-steps", "only-allocates", "two-right", "two-few-steps", "two-independent",
    "two-gloo-on-cpu", "two-forged", "two-one-rank-on-cpu", "two-one-hidden",
)  # fmt: skip


class Session:
    """The machine, its time and the folder that comes back."""

    def __init__(self, options):
        """Unpack the bundle; its packages for reb go first on the path."""
        self.out, self.ends = options.out, time.monotonic() + options.seconds
        self.out.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(WORK, ignore_errors=True)
        with tarfile.open(options.bundle) as bundle:
            bundle.extractall(WORK, filter="data")
        with tarfile.open(WORK / "wheels.tar.xz") as bundle:
            bundle.extractall(WORK, filter="data")
        self.cells = json.loads((WORK / "cells.json").read_text())
        site = WORK / "site"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
        wheels = sorted((WORK / "reb").glob("*.whl"))
        subprocess.run([*pip, "--no-compile", "--target", site, *wheels], check=True)
        if (WORK / "system").is_dir():
            shutil.copytree(WORK / "system", "/usr/local/lib", symlinks=True, dirs_exist_ok=True)
            subprocess.run(["ldconfig"], check=True)
        self.env = {**os.environ, "PYTHONPATH": f"{ROOT}:{site}", "PYTHONUNBUFFERED": "1"}
        self.env["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True)
        self.gpus = len(listing.stdout.splitlines())

    def left(self):
        """Return the seconds that are left, without those that packing takes."""
        return self.ends - time.monotonic() - 8

    def run(self, name, argv, *, seconds):
        """Run one task with its output, each line with its time, in a file."""
        limit = min(seconds, self.left())
        if limit < 15:
            return self.say(name, "not run: no time is left")
        began = time.monotonic()
        self.say(name, "begins")
        child = subprocess.Popen(
            argv, cwd=ROOT, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )  # fmt: skip
        timer = threading.Timer(limit, lambda: os.killpg(child.pid, 9))
        timer.start()
        for line in child.stdout:
            self.say(name, line.rstrip()[:300])
        timer.cancel()
        self.say(name, f"ends with {child.wait()} after {time.monotonic() - began:.1f} s")
        self.keep(name)
        return None

    def say(self, name, line):
        """Add a line to the log that comes back, and print it."""
        stamped = f"{time.strftime('%H:%M:%S')} {name}: {line}"
        with LOCK, (self.out / "log.txt").open("a") as log:
            print(stamped, file=log, flush=True)
            print(stamped, flush=True)

    def keep(self, name):
        """Pack the small files of a task's trials, and the record that it made."""
        with LOCK, tarfile.open(self.out / "trials.tar", "a") as kept:
            for path in sorted((WORK / "results" / name).rglob("*")):
                small = path.suffix in {".json", ".log"} and path.stat().st_size < 400_000
                if small and not {"checkout", "source", "workspace"} & set(path.parts):
                    kept.add(path, f"trials/{name}/{path.relative_to(WORK / 'results' / name)}")
            repository = self.cells.get(name, {}).get("repository", "-").replace("/", "__")
            with tarfile.open(self.out / "qualified.tar", "a") as records:
                for path in (ROOT / "repos" / "qualified").glob(f"{repository}.*.json"):
                    records.add(path, path.name)


def cell_file(path, cell):
    """Write what the bundle says about a cell where its task reads it."""
    path.write_text(json.dumps(cell))
    return path


def tasks_of(session):
    """Return (name, argv, seconds) of each task, in their order."""
    results = WORK / "results"
    argv = [sys.executable, "-m", "tests.gpu.side_by_side"]
    for name, cell in session.cells.items():
        cache = WORK / "caches" / name
        cache.mkdir(parents=True)
        for wheel in cell["wheels"]:
            os.link(WORK / "wheels" / wheel, cache / wheel)
        places = ["--mirror", WORK / "mirror", "--cache", cache, "--results", results / name]
        places += [
            "--gpus",
            str(session.gpus),
            "--cell",
            cell_file(cache.with_suffix(".json"), cell),
        ]
        yield name, [*argv, *places], cell.get("seconds", 480)
    for name in CASES if session.gpus > 1 else ():
        argv = [sys.executable, "-m", "tests.gpu.session", "--only", name, "--exact"]
        argv += ["--no-measures", "--python", sys.executable, "--out", results / name]
        yield name, argv, 150


def main():
    """Run the witnesses alone, then all else side by side."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bundle", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--workers", type=int, default=5)
    parser.add_argument("--tasks", default="", help="names, separated by commas; all by default")
    options = parser.parse_args()
    session = Session(options)
    chosen = set(filter(None, options.tasks.split(",")))
    smi = ["sh", "-c", "nvidia-smi --query-gpu=index,uuid,driver_version --format=csv,noheader"]
    session.run("machine", smi, seconds=30)
    if "witnesses" in chosen or (not chosen and session.gpus > 1):
        out = session.out / "witnesses.jsonl"
        argv = [sys.executable, "-m", "tests.gpu.witnesses", "--python", sys.executable]
        session.run("witnesses", [*argv, "--out", out, "--workers", "8"], seconds=150)
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        for name, argv, seconds in tasks_of(session):
            if not chosen or name in chosen:
                pool.submit(session.run, name, argv, seconds=seconds)


if __name__ == "__main__":
    main()
