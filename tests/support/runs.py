"""Runs of a benchmark, for tests: folders and artifacts of trials, and a runner's environment."""

import io
import json
import zipfile

from reb_action.judge import gate
from reb_action.model.github import Pacing
from reb_action.model.plan import Entry, Plan, PlannedTrial
from reb_action.publish import publish
from reb_action.publish.artifacts import name_plan
from reb_action.publish.options import KEY, ChecksMode, CommentMode, PublishOptions
from reb_action.results import plan_file
from tests.support.scoreboards import evidence_of
from tests.support.trial_folders import put

SHA, OTHER_SHA, MERGE = "c0ffee" + "0" * 34, "ba5e" + "0" * 36, "e" * 40
VIM, AIM = "hustvl__Vim.codex.1", "apple__ml-aim.claude-code.1"


def plan_of(*names, repository=None):
    """Return a plan with one job for each trial."""
    trials = tuple(
        PlannedTrial(
            id=name,
            repository=repository or name.split(".")[0].replace("__", "/", 1),
            agent=name.rsplit(".", 2)[1],
            argument=None,
            attempt=int(name.rsplit(".", 1)[1]),
        )
        for name in names
    )
    return Plan(entries=tuple(Entry(name=one.id, trials=(one,), seconds=1) for one in trials))


def place(folder, name):
    """Write the folder of a sample trial; return its verdict."""
    owner, agent, attempt = name.rsplit(".", 2)
    return put(folder, evidence_of(owner.replace("__", "/", 1), agent, int(attempt)))


def made(folder, names, *, lost=(), repository=None):
    """Write plan.json and the artifacts of a run, but for those that were lost."""
    plan_file.write_plan(plan_of(*names, repository=repository), folder / "plan.json")
    for name in names:
        if name not in lost:
            place(folder / "artifacts" / f"reb.researchenvbench.{name}.a1", name)
    return folder


def zipped(folder):
    """Return a folder as an upload makes it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return stream.getvalue()


def upload(api, folder, *, run_id=7):
    """Upload what `made` wrote, as the run's artifacts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(folder / "plan.json", "plan.json")
    api.world.add_artifact(name_plan(KEY), stream.getvalue(), run_id=run_id)
    for path in sorted((folder / "artifacts").iterdir()):
        api.world.add_artifact(path.name, zipped(path), run_id=run_id)


def environ(api, folder, event="push", payload=None, **more):
    """Return the environment of a job on a runner."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "event.json").write_text(json.dumps(payload or {}))
    return {
        "GITHUB_API_URL": api.url,
        "GITHUB_SERVER_URL": api.git.url,
        "GITHUB_REPOSITORY": api.world.repository,
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_SHA": MERGE,
        "GITHUB_REF": "refs/heads/main",
        "GITHUB_RUN_ID": "7",
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        **more,
    }


def pull_request(sha=SHA, *, number=1, head="octo/bench", base="octo/bench"):
    """Return the event of a pull request."""
    return {
        "pull_request": {
            "number": number,
            "head": {"sha": sha, "ref": "topic", "repo": {"full_name": head}},
            "base": {"ref": "main", "repo": {"full_name": base}},
        }
    }


def api_clock():
    """Return a moment that never changes: 1 December 2026."""
    return 1_796_083_200.0


def no_sleep(_):
    """Wait for nobody."""


def job(
    env,
    *,
    comment="always",
    checks="levels",
    leaderboard=True,
    fail_on="invalid",
    token="token",
    waiting=0,
    base="",
):
    """Return a job that publishes; nothing makes it wait."""
    options = PublishOptions(
        key="researchenvbench",
        comment=CommentMode(comment),
        checks=ChecksMode(checks),
        leaderboard=leaderboard,
        base=base,
    )
    pacing = Pacing(between_writes=0, waiting_seconds=waiting)
    return publish.Job(
        environ=env,
        token=token,
        options=options,
        fail_on=gate.parse_fail_on(fail_on),
        pacing=pacing,
        clock=api_clock,
        sleep=no_sleep,
    )


def told(done):
    """Return each write as a word about it."""
    return [
        (one.what, one.fault or (one.written.effect.value if one.written else "-")) for one in done
    ]
