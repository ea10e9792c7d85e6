"""Runs of act that several tests read: each happens once, whichever worker asks first."""

import fcntl
import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from reb_action.demo import commit_repository
from tests.act.act_consumer import PRODUCT, export_product, git, make_consumer, make_mirror
from tests.act.act_runner import Run, act, command, pinned, records
from tests.act.cancelling import full, kind, place, worker
from tests.support.sandbox_fixtures import docker_image

__all__ = ["full", "kind", "place", "worker"]

CASES = {
    "green": {"agent-argument": "agents/honest", "fail-on": "any"},
    "bare": {"agent-argument": "agents/bare", "fail-on": "C0,C5"},
    "broken": {"agent-argument": "agents/broken", "fail-on": "C1"},
    "liar": {"agent-argument": "agents/liar", "fail-on": "C0,C1"},
    "crash": {"agent-argument": "agents/crash", "fail-on": "invalid", "levels": "C0,C1"},
    "slow": {"agent-argument": "agents/slow", "fail-on": "any", "agent-seconds": "2"},
    "missing": {"agent": "nop", "agent-argument": "", "fail-on": "never"},
    "hurried": {"agent-argument": "agents/honest", "job-minutes": "3", "levels": "C1"},
    "typo": {"agent-argument": "agents/honest", "fail-on": "sometimes"},
}
"""What each job gives the action beyond COMMON."""

COMMON = {
    "repository": "tiny.yaml", "agent": "replay", "sandbox": "local", "agent-seconds": "60",
    "mirror": "${{ env.MIRROR }}", "levels": "C0,C1,C5",
}  # fmt: skip

CHECKOUT = "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1"


def job(name, inputs, action="researchenvbench/researchenvbench@v1"):
    """Return a job that uses the action between two looks at its surroundings."""
    look = '{ env | sort | grep -v "^_=" ; command -v python3; git status --porcelain; } >"$1"'
    given = "".join(f"          {key}: {json.dumps(value)}\n" for key, value in inputs.items())
    return f"""\
  {name}:
    runs-on: ubuntu-latest
    steps:
      - uses: {CHECKOUT}
      - {{ shell: 'bash {{0}} ../before', run: '{look}' }}
      - id: reb
        uses: {action}
        with:
{given}      - id: same
        if: always()
        shell: bash {{0}} ../after
        run: |
          {look}
          grep -v "^GITHUB_\\|^INPUT_" ../before >../a
          grep -v "^GITHUB_\\|^INPUT_" ../after >../b
          diff ../a ../b
"""


def workflow(jobs):
    """Return the text of a workflow."""
    return "on: push\npermissions: {}\njobs:\n" + "".join(jobs)


@pytest.fixture(scope="session")
def shared(tmp_path_factory, worker_id):
    """A folder that all workers of this session share."""
    base = tmp_path_factory.getbasetemp()
    place = (base if worker_id == "master" else base.parent) / "act"
    place.mkdir(exist_ok=True)
    return place


@pytest.fixture(scope="session")
def once(shared):
    """Let one worker do a thing that returns a Run, and all have what came out."""

    def do(name, what):
        result = shared / f"{name}.json"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not result.exists():
                place = shared / name
                place.mkdir()
                run = what(place)
                result.write_text(json.dumps([run.code, run.records]))
        code, records = json.loads(result.read_text())
        return Run(code=code, records=tuple(records))

    return do


@pytest.fixture(scope="session")
def product(shared):
    """The committed state of this repository."""
    with (shared / "product.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = shared / "product"
        return place if place.exists() else export_product(place)


@pytest.fixture(scope="session")
def cases(once, product):
    """Every case of the action, each as a job of one workflow of another repository."""

    def run(place: Path) -> Run:
        jobs = [job(name, {**COMMON, **inputs}) for name, inputs in CASES.items()]
        consumer = make_consumer(place / "c", make_mirror(place), {"w.yml": workflow(jobs)})
        return act(product, consumer, place, "push", "-W", ".github/workflows/w.yml")

    return once("cases", run)


INPUTS = {
    "repositories": "tiny.yaml",
    "sandbox": "local",
    "agent-seconds": "60",
    "levels": "C0,C1,C5",
}


def benchmark(product, place, *, env, **inputs):
    """Run the reusable workflow as the root: act stops a caller when a called job fails."""
    told = [f"--input={name.replace('_', '-')}={value}" for name, value in inputs.items()]
    told += [f"--input={name}={value}" for name, value in INPUTS.items()]
    told.append(f"--input=mirror={place / 'mirror'}")
    workflows = {"benchmark.yml": pinned(product)}
    consumer = make_consumer(place / "c", make_mirror(place), workflows)
    artifacts = {"ARTIFACTS": str(place / "artifacts"), **env}
    where = ("-W", ".github/workflows/benchmark.yml")
    return act(product, consumer, place, "workflow_call", *where, *told, env=artifacts)


@pytest.fixture(scope="session")
def matrix(once, product):
    """A matrix of three, one of whose artifacts is lost on the way."""
    agents = "nop\nreplay agents/honest\npip"
    lose = {"LOSE": ".nop."}
    return once("matrix", lambda place: benchmark(product, place, env=lose, agents=agents))


@pytest.fixture(scope="session")
def batch(once, product):
    """Two trials that have to share one job."""
    agents = "nop\nreplay agents/honest"
    return once(
        "batch",
        lambda place: benchmark(product, place, env={}, agents=agents, max_jobs="1", attest="true"),
    )


@pytest.fixture(scope="session")
def newcomer(once, product):
    """The example of docs/action.md in an empty repository, as it stands and with Docker."""

    def run(place: Path) -> Run:
        example = (product / "examples" / "one-repository.yml").read_text()
        docker = example.replace("sandbox: local", "sandbox: docker").replace(
            "researchenvbench.yaml", "DepthAnything/Depth-Anything-V2"
        )
        (place / "c" / ".github" / "workflows").mkdir(parents=True)
        for name, text in {"empty.yml": example, "docker.yml": docker}.items():
            named = text.replace("  trial:\n", f"  {name.removesuffix('.yml')}:\n")
            (place / "c" / ".github" / "workflows" / name).write_text(named)
        git(place / "c", "init", "-q")
        nowhere = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}
        return act(product, place / "c", place, "pull_request", env=nowhere)

    return once("newcomer", run)


@pytest.fixture(scope="session")
def itself(once, product):
    """The action on this repository's own demonstration, as `uses: ./` from a fresh clone."""

    def run(place: Path) -> Run:
        clone = place / "c"
        git(place, "clone", "-q", "--no-hardlinks", PRODUCT, clone)
        commit_repository(PRODUCT / "tests" / "demo", place / "mirror")
        inputs = {**COMMON, "repository": "tests/demo/manifest.yaml", "agent": "nop"}
        text = workflow([job("itself", {**inputs, "levels": "C5"}, action="./")])
        (clone / ".github" / "workflows" / "own.yml").write_text(text)
        return act(product, clone, place, "push", "-W", ".github/workflows/own.yml")

    return once("itself", run)


@pytest.fixture(scope="session")
def container(once, product):
    """The green case in a container, in a job of its own."""
    image = docker_image()
    inputs = {**COMMON, **CASES["green"], "sandbox": "docker", "image": image}

    def run(place: Path) -> Run:
        text = workflow([job("container", inputs)])
        consumer = make_consumer(place / "c", make_mirror(place), {"w.yml": text})
        return act(product, consumer, place, "push", "-W", ".github/workflows/w.yml")

    return once("container", run)


@pytest.fixture(scope="session")
def cancelled(once, product):
    """A job that is cancelled while its agent works."""

    def run(place: Path) -> Run:
        inputs = {**COMMON, "agent-argument": "agents/slow"}
        text = workflow([job("cancelled", inputs)])
        consumer = make_consumer(place / "c", make_mirror(place), {"w.yml": text})
        argv, env = command(product, place, "push", "-W", ".github/workflows/w.yml")
        lines = []
        with subprocess.Popen(
            argv, cwd=consumer, env=env, stdout=subprocess.PIPE, text=True
        ) as running:
            for line in running.stdout:
                lines.append(line)
                if "running the agent" in line:
                    time.sleep(1)
                    running.send_signal(signal.SIGINT)
        return Run(code=running.returncode, records=tuple(records("".join(lines))))

    return once("cancelled", run)
