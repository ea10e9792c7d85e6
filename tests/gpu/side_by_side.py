"""Qualifies one repository like `reb qualify`, with all of its environments side by side.

    python -m tests.gpu.side_by_side --cell CELL.json --mirror M --cache C --results R --gpus N

The environments are built on this interpreter's packages. Each trial is a process of its own, for
which a host with many cores has room; the record is that of `reb qualify`. CELL.json has the
repository and the level. Where it has `commit` and `left_out`, the mirror lacks files of the pinned
commit: that other commit is the pinned one without them, and the record lists them.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from reb_action.corpus import manifests, qualification
from reb_action.model.manifest import Level
from reb_action.qualify import oracle, qualify
from reb_action.sandbox.protocol import Kind
from reb_action.session.state import AgentChoice
from reb_action.trial.options import Options


def plan_of(options, cell):
    wanted = manifests.find(cell["repository"])
    agent = AgentChoice(name="replay", argument=None, total_seconds=600, setup_seconds=300)
    chosen = Options(
        manifest=replace(wanted, commit=cell.get("commit", wanted.commit)), agent=agent,
        folder=options.results, kind=Kind.LOCAL, mirror=options.mirror, gpus=options.gpus,
        levels=(Level(cell["level"]),),
    )  # fmt: skip
    date = datetime.now(UTC).date().isoformat()
    return qualify.plan(chosen, cache=options.cache, date=date, base=Path(sys.executable))


def trial(plan, sabotage):
    levels = plan.levels if sabotage is None else oracle.must_fail(sabotage, plan.levels)
    name = sabotage or "right"

    def tell(line):
        print(f"{name}: {line}", flush=True)

    return qualify._trial(plan, sabotage, levels, environ=os.environ, tell=tell)


def of_pinned(plan, done, left_out):
    """Return plan and qualifications in the words of the pinned commit, which had more files."""
    wanted = manifests.find(plan.options.manifest.repository)
    named = [
        replace(
            one,
            commit=wanted.commit,
            run=qualification.run_of(wanted, one.level),
            left_out=tuple(left_out),
        )
        for one in done
    ]
    return replace(plan, options=replace(plan.options, manifest=wanted)), tuple(named)


def main():
    """Run every trial at once, print what they came to, and record it."""
    parser = argparse.ArgumentParser()
    for name in ("--cell", "--mirror", "--cache", "--results"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--gpus", type=int, required=True)
    options = parser.parse_args()
    cell = json.loads(options.cell.read_text())
    plan = plan_of(options, cell)
    qualify._demand_tools(plan)
    plan.options.folder.mkdir(parents=True, exist_ok=True)
    plan = replace(plan, building=replace(plan.building, shadows=qualify._shadows(plan, print)))
    possible = oracle.sabotages(plan.building)
    wanted = [None, *(one for one in possible if oracle.must_fail(one, plan.levels))]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(len(wanted), mp_context=context) as pool:
        right, *wrong = pool.map(trial, [plan] * len(wanted), wanted)
    negatives = dict(zip(wanted[1:], wrong, strict=True))
    done = tuple(qualify._qualification(plan, level, right, negatives) for level in plan.levels)
    plan, done = of_pinned(plan, done, cell.get("left_out", ()))
    print("\n".join(qualify.lines(done)))
    for path in qualify.record(plan, done):
        print(f"recorded: {path}")


if __name__ == "__main__":
    main()
