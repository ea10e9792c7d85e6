"""Runs everything that needs a real GPU, in the local sandbox, and prints a short table.

    python -m tests.gpu.session --python /path/to/python-with-torch --out FOLDER [--only BEGINNING]

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
from dataclasses import replace
from pathlib import Path

from reb_action.demo import commit_repository
from reb_action.model.manifest import Level
from reb_action.probe import gpu_witness
from reb_action.qualify import other_cards
from reb_action.sandbox.protocol import Kind
from reb_action.session import evidence
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice
from reb_action.trial import agent, probe, run, start, stop
from reb_action.trial import options as trial_options
from tests.gpu.cases import cases, cases_of_two, run_of

HERE = Path(__file__).parent


def changed(wanted, case):
    entrypoints = {
        level: replace(
            one,
            argv=tuple(case.arguments.get(level, one.argv)),
            timeout_seconds=case.timeout or one.timeout_seconds,
        )
        for level, one in wanted.entrypoints.items()
    }
    return replace(wanted, entrypoints=entrypoints, frameworks=case.frameworks)


def player(case, folder, python, packages):
    folder.mkdir(parents=True)
    values = {
        "python": python, "packages": packages, "older": HERE / "older.py",
        "other_cards": other_cards.__file__,
    }  # fmt: skip
    values = {name: shlex.quote(str(value)) for name, value in values.items()}
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
    chosen = trial_options.Options(
        manifest=changed(wanted, case), agent=choice, folder=folder, kind=Kind.LOCAL,
        mirror=mirror, gpus=case.gpus, levels=tuple(case.expected),
    )  # fmt: skip
    neighbour = subprocess.Popen([options.python, "-c", BURN]) if case.neighbour else None
    try:
        return run.run(chosen, environ={}, tell=lambda line: print(f"    {line}", flush=True))
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
    with gpu_witness.watch(gpu_witness.own_nothing) as seen:
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
                with gpu_witness.watch(lambda _: True):
                    subprocess.run(argv, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
            else:
                subprocess.run(argv, cwd=checkout, check=True, stdout=subprocess.DEVNULL)
            times.append(time.monotonic() - began)
        ratios.append(times[1] / times[0])
    return sorted(ratios)[1]


def time_to_verdict(layout, level):
    """Return the seconds from the command to its result, and those of the entry point itself."""
    began = time.monotonic()
    probe.probe_level(layout, level, tell=lambda _: None)
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
    longer = changed(wanted, replace(case, arguments={Level.C3: run_of("--steps", "12000")}))
    chosen = trial_options.Options(
        manifest=longer, agent=choice, folder=layout.folder, kind=Kind.LOCAL, mirror=mirror, gpus=1
    )
    start.start(chosen, owner=1, tell=lambda _: None)
    agent.run_agent(layout, environ={}, tell=lambda _: None)
    whole, own = time_to_verdict(layout, Level.C3)
    stop.stop(layout, tell=lambda _: None)
    yield f"command to result: {whole:.1f} s over {own:.1f} s of the entry point"
    yield f"  allowed: {1.05 * own + 2:.1f} s"


def parsed():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="the cases whose names begin so")
    parser.add_argument("--exact", action="store_true", help="only the case of this very name")
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
    wanted = commit_repository(HERE / "bait", mirror)
    rows = []
    with gpu_witness.watch(gpu_witness.own_nothing) as seen:
        two = seen.present > 1
    for case in (*cases(), *(cases_of_two() if two else ())):
        # Where there are two GPUs, the absence of one cannot be shown.
        absent = two and case.name == "promised-gpu-absent"
        chosen = case.name == options.only or not options.exact
        if case.name.startswith(options.only) and chosen and not absent:
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
