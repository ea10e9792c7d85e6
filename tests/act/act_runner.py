"""Runs act as a runner would be used, and reads its records; nothing of this machine leaks in."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ACT = shutil.which("act", path=str(Path(sys.executable).parent)) or shutil.which("act")
NAME = "researchenvbench/researchenvbench@v1"
DOUBLES = Path(__file__).parent / "doubles"
LOG = "act.log"
PASSED = ("DOCKER_HOST", "PIP_CERT", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS")


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What act said: its exit code and one record a line."""

    code: int
    records: tuple[dict, ...]

    def of(self, job, leg=None):
        """Return the run cut down to one job, or to the leg of one matrix entry."""
        mine = (one for one in self.records if one.get("jobID") == job)
        kept = tuple(one for one in mine if leg is None or leg in json.dumps(one.get("matrix")))
        return Run(code=self.code, records=kept)

    @property
    def jobs(self):
        """The jobs that ran at all: act skips some without a word."""
        return {one["jobID"] for one in self.records if "stepResult" in one}

    def step(self, *path):
        """Return how a step ended, by its id within the action's."""
        found = [
            one["stepResult"]
            for one in self.records
            if one.get("stage") == "Main"
            and "stepResult" in one
            and tuple(one.get("stepID", ())) == path
        ]
        return found[-1] if found else None

    def steps(self, action):
        """Return how the steps of one use of the action ended, by id."""
        return {
            one["stepID"][1]: one["stepResult"]
            for one in self.records
            if "stepResult" in one and one.get("stepID", [])[:1] == [action] and one["stepID"][1:]
        }

    def outputs(self, *path):
        """Return the outputs of one step."""
        return {
            one["name"]: one["arg"]
            for one in self.records
            if one.get("command") == "set-output" and tuple(one.get("stepID", ())) == path
        }

    @property
    def summaries(self):
        """The job summaries of the innermost steps; act repeats them for the outer ones."""
        found = [one for one in self.records if one.get("command") == "summary"]
        return [one["content"] for one in found if len(one["stepID"]) > 1]

    @property
    def errors(self):
        """The messages that GitHub would show on the run's page."""
        return [one["arg"] for one in self.records if one.get("command") == "error"]

    @property
    def log(self):
        """All plain lines of the log."""
        return "".join(one.get("msg", "") for one in self.records)


def command(product, place, *arguments, env=None):
    """Return act's command line and its environment, which is not ours."""
    variables = {
        "GITHUB_REPOSITORY": "acme/bench",
        "GITHUB_SERVER_URL": "http://127.0.0.1:9",
        "MIRROR": str(place / "mirror"),
        **{name: os.environ[name] for name in PASSED if name in os.environ},
        **(env or {}),
    }
    argv = [str(ACT), *arguments, "--json", "--rm", "--no-cache-server"]
    argv += ["-P", "ubuntu-latest=-self-hosted", "-P", "self-hosted=-self-hosted"]
    argv += ["--action-cache-path", str(cache(place)), "--local-repository", f"{NAME}={product}"]
    for double in sorted(DOUBLES.iterdir()):
        for ref in references(product, double.name):
            argv += ["--local-repository", f"actions/{double.name}@{ref}={double}"]
    for name, value in variables.items():
        argv += ["--env", f"{name}={value}"]
    home = place / "home"
    home.mkdir(exist_ok=True)
    return argv, {
        "PATH": "/usr/bin:/bin", "HOME": str(home), "ACT_DISABLE_VERSION_CHECK": "1",
    }  # fmt: skip


def act(product, consumer, place, *arguments, env=None, timeout=280):
    """Run act in a repository and return what it said; all of it is in `place`, too."""
    argv, environment = command(product, place, *arguments, env=env)
    done = subprocess.run(
        argv, cwd=consumer, env=environment, capture_output=True, text=True, timeout=timeout
    )
    (place / LOG).write_text(done.stdout + done.stderr)
    return Run(code=done.returncode, records=tuple(records(done.stdout)))


def pinned(product, name="benchmark"):
    """Return the text of a reusable workflow as act can run it, without `$/`."""
    script = [sys.executable, str(product / ".github" / "pinned.py"), NAME, name]
    return subprocess.run(script, check=True, capture_output=True, text=True).stdout


def records(text):
    """Yield act's records; other lines are not its own."""
    for line in text.splitlines():
        if line.startswith("{"):
            yield json.loads(line)


def kept():
    """Return the folder of this machine that outlives the tests."""
    return Path(os.environ.get("REB_CACHE") or Path.home() / ".cache" / "researchenvbench")


def cache(place):
    """Return a cache of this run's own; only the tool cache is shared, as on a runner.

    It outlives the tests, as the images of the sandbox's tests do.
    """
    mine = place / "cache"
    shared = kept() / "act-tool-cache"
    shared.mkdir(parents=True, exist_ok=True)
    if not mine.exists():
        mine.mkdir()
        (mine / "tool_cache").symlink_to(shared)
    return mine


def references(product, name):
    """Return the commits by which the product's workflows use an action of GitHub's."""
    workflow = (product / ".github" / "workflows" / "benchmark.yml").read_text()
    marker = f"actions/{name}@"
    return sorted(
        {line.split(marker)[1].split()[0] for line in workflow.splitlines() if marker in line}
    )
