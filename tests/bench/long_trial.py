"""A trial of 200 turns with a megabyte of output each: the size of its folder, and its page.

    python -m tests.bench.long_trial IMAGE FOLDER [AGENT] [TURNS]

A real agent in a container does what the scripted model says. The page is opened in Chromium, and
the trajectory is checked as Harbor does (with REB_HARBOR also by Harbor's own models).
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from reb_action.agents.catalogue import load_packaged
from reb_action.demo import commit_repository
from reb_action.gateway.settings import Budget
from reb_action.model.manifest import Level
from reb_action.results import page
from reb_action.sandbox.protocol import Kind, Limits, Network
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, ModelChoice
from reb_action.trial import options as trial_options
from reb_action.trial import run
from tests.support.atif import demand_valid
from tests.support.chromium import Browser
from tests.support.model_server import KEY, ModelServer
from tests.support.model_server.scenarios import COMMANDS

DEMO = Path(__file__).parents[1] / "demo"
MEGABYTE = 1_000_000


def main():
    image, folder = sys.argv[1], Path(sys.argv[2])
    name = sys.argv[3] if len(sys.argv) > 3 else "claude-code"
    turns = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    flood = tuple(f"yes turn {n} | head -c {MEGABYTE}" for n in range(turns - len(COMMANDS) - 1))
    layout = SessionLayout(folder=folder)
    began = time.monotonic()
    with ModelServer(commands=(*flood, *COMMANDS)) as server, tempfile.TemporaryDirectory() as at:
        url = server.url(load_packaged(name).dialect, "multi", run="long")
        play(layout, name, image, url, Path(at))
        asked = len(server.run("long").seen)
    print(f"{name}: {asked} calls of the model in {time.monotonic() - began:.0f} s")
    show_sizes(layout)
    check_trajectory(layout)
    open_page(layout)


def play(layout, name, image, url, place):
    model = ModelChoice(name="scripted-1", url=url, budget=Budget(), preflight=False)
    choice = AgentChoice(
        name=name, argument=None, total_seconds=3000, setup_seconds=600, model=model
    )
    options = trial_options.Options(
        manifest=commit_repository(DEMO, place / "mirror"),
        agent=choice,
        folder=layout.folder,
        kind=Kind.DOCKER,
        image=image,
        mirror=place / "mirror",
        network=Network.NONE,
        levels=(Level.C0,),
        limits=Limits(memory_mib=4096, shm_mib=64, processes=1000, seconds=4000),
    )
    environ = {**os.environ, "REB_MODEL_KEY": KEY}
    verdict = run.run(options, environ=environ, tell=lambda _: None)
    page.write_page(layout, verdict)


def show_sizes(layout):
    files = {path: path.stat().st_size for path in layout.folder.rglob("*") if path.is_file()}
    print(f"folder: {sum(files.values()) / 1e6:.1f} MB in {len(files)} files")
    for path, size in sorted(files.items(), key=lambda item: -item[1])[:6]:
        print(f"  {path.relative_to(layout.folder)}: {size / 1e6:.2f} MB")


def check_trajectory(layout):
    document = json.loads(layout.trajectory_document.read_text())
    demand_valid(document)
    steps = document["steps"]
    agent = [step for step in steps if step["source"] == "agent"]
    marked = [
        result
        for step in steps
        for result in step.get("observation", {}).get("results", ())
        if "extra" in result
    ]
    print(
        f"ATIF: valid; {len(steps)} steps, {len(agent)} of the agent,"
        f" {sum('metrics' in step for step in agent)} with usage,"
        f" {sum('timestamp' in step for step in agent)} with a time;"
        f" {len(marked)} results marked as cut"
    )
    print(f"  {document.get('notes')}")


def open_page(layout):
    with tempfile.TemporaryDirectory() as profile, Browser(profile) as browser:
        for attempt in ("first", "second"):
            began = time.monotonic()
            browser.open(layout.page)
            seconds = time.monotonic() - began
            print(f"page: the {attempt} opening in Chromium takes {seconds:.2f} s")


if __name__ == "__main__":
    main()
