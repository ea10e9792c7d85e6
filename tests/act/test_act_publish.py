"""The workflows publish for real to a GitHub on loopback: a push, a pull request, another run."""

import json

import pytest

from reb_action.publish.artifacts import name_plan
from reb_action.publish.options import KEY
from tests.act.act_consumer import git, make_consumer, make_mirror
from tests.act.act_runner import Run, act, pinned
from tests.support import runs
from tests.support.github_api.fixtures import serve
from tests.support.github_api.world import Identity
from tests.support.oracles.markdown import read

pytestmark = pytest.mark.timeout(600)

HEAD = "d" * 40
TOKEN = "ghs_of_the_job"
CALLER = """\
on: [push, pull_request]
permissions: {}
jobs:
  benchmark:
    permissions:
      checks: write
      contents: write
      pull-requests: write
    uses: ./.github/workflows/benchmark.yml
    with:
      repositories: tiny.yaml
      agents: |
        nop
        replay agents/AGENT
      sandbox: local
      agent-seconds: 60
      mirror: MIRROR
      fail-on: never
      checks: levels
      comment: changes
      leaderboard: true
"""
EVENT = {
    "pull_request": {
        "number": 1,
        "head": {"sha": HEAD, "ref": "topic", "repo": {"full_name": "acme/bench"}},
        "base": {"ref": "main", "repo": {"full_name": "acme/bench"}},
    }
}
BROKEN = (
    "- C1 `replay` on `example/tiny` 1/1 → 0/1: `the entry point ended with exit code 1` ·"
    " Installed packages are of versions that do not work together. · `NameError: name 'undefined'"
    " is not defined` · Pinning them to versions of the same time, such as numpy below 2, usually"
    " fixes this. · [levels/C1.log]("
)
COMMENT = f"""\
<!-- researchenvbench:v1 key=researchenvbench run=2 attempt=1 -->
### `nop`: 0 cells changed. No difference that this run could show.

**`replay`: 1 cell broken. No difference that this run could show (p = 1.00).**

`replay`, C1: a difference of -100 points would need more repositories.

2 of 2 planned trials have a verdict, for commit `dddddddddddd`, compared with [`BASE`](BOARD).

| contestant | C0 | C1 | C2 | C3 | C4 | C5 | cost of a trial |
|---|---|---|---|---|---|---|---|
| `nop` | 0/1 | 0/1 | n/a | n/a | n/a | 0/1 | - |
| `replay` | 1/1 | 0/1 \u22121 | n/a | n/a | n/a | 1/1 | - |

<sub>passed/counted cells; + and \u2212: repositories that pass more and less often than in the\
 base; unseen: missing or invalid.</sub>

**Broken (1)**

{BROKEN}RUN#artifacts)
"""


def caller(place, agent):
    return CALLER.replace("AGENT", agent).replace("MIRROR", str(place / "mirror"))


def consumer_of(product, place):
    """Make the repository of somebody who publishes, on its default branch."""
    names = {f"{name}.yml": pinned(product, name) for name in ("benchmark", "publish")}
    workflows = {**names, "caller.yml": caller(place, "honest")}
    consumer = make_consumer(place / "c", make_mirror(place), workflows)
    git(consumer, "branch", "-M", "main")
    (place / "event.json").write_text(json.dumps(EVENT))
    return consumer


def publish(product, place):
    """Run the caller on a push with an honest agent and on a pull request with a broken one.

    Then publish the second run once more, as if it were another one that a fork had begun.
    """
    consumer = consumer_of(product, place)
    with serve("github") as api:
        api.world.repository, api.tokens = "acme/bench", {TOKEN: Identity()}

        def run(event, number, workflow, *more):
            told = ("-W", f".github/workflows/{workflow}.yml", "-s", f"GITHUB_TOKEN={TOKEN}")
            env = {
                "GITHUB_API_URL": api.url,
                "GITHUB_SERVER_URL": api.git.url,
                "GITHUB_RUN_ID": number,
                "ARTIFACTS": str(place / number),
            }
            return act(product, consumer, place, event, *told, *more, env=env)

        api.world.issues = {1, 5}
        base = git(consumer, "rev-parse", "HEAD")
        first = run("push", "1", "caller")
        (consumer / ".github" / "workflows" / "caller.yml").write_text(caller(place, "broken"))
        git(consumer, "commit", "-qam", "Break the agent")
        second = run("pull_request", "2", "caller", "-e", str(place / "event.json"))
        uploaded(api, place / "2")
        third = run("workflow_call", "3", "publish", "--input", "run-id=9")
        told = told_of(api, base)
    parts = (first, second, third)
    marked = [{**one, "run": n} for n, part in enumerate(parts) for one in part.records]
    code = max(one.code for one in parts)
    return Run(code=code, records=(*marked, {"run": None, "world": told}))


def uploaded(api, folder):
    """Put the artifacts of a run there as those of run 9, which a fork began."""
    for path in sorted(folder.iterdir()):
        api.world.add_artifact(path.name, runs.zipped(path), run_id=9)
    assert name_plan(KEY) in {one.name for one in api.world.artifacts}
    api.world.add_run(9, sha="f" * 40, repository="stranger/bench")
    api.world.add_pull(5, sha="f" * 40, repository="stranger/bench")


def told_of(api, base):
    """Return what GitHub was told, as JSON."""
    files = api.git.files("reb-leaderboard")
    return {
        "base": base,
        "server": api.git.url,
        "checks": list(api.world.checks.values()),
        "comments": {one["number"]: one["body"] for one in api.world.comments.values()},
        "files": {path: data.decode() for path, data in files.items()},
        "writes": [path.rsplit("/", 1)[1] for _, path in api.writes()],
    }


@pytest.fixture(scope="session")
def published(once, product):
    """All three runs; what act said."""
    return once("publish", lambda place: publish(product, place))


@pytest.fixture
def world(published):
    """What GitHub was told by them."""
    return published.records[-1]["world"]


def part(run, number):
    """Return the records of one of the runs."""
    return Run(code=run.code, records=tuple(one for one in run.records if one["run"] == number))


def test_all_jobs_ran_and_nothing_failed(published):
    assert published.code == 0
    for number in (0, 1):
        assert part(published, number).jobs == {"plan", "trial", "report"}
        assert part(published, number).of("report").step("report", "publish") == "success"
    assert part(published, 2).of("publish").step("publish", "publish") == "success"
    assert published.errors == []


def test_push_writes_six_checks_then_the_leaderboard(world):
    assert world["writes"][:6] == ["check-runs"] * 6
    checks = world["checks"][:6]
    assert [one["name"] for one in checks] == [f"researchenvbench / C{n}" for n in range(6)]
    assert {one["head_sha"] for one in checks} == {world["base"]}
    assert [one["conclusion"] for one in checks] == [
        "neutral", "neutral", "skipped", "skipped", "skipped", "neutral",
    ]  # fmt: skip


def test_pull_request_writes_six_checks_at_its_head_then_the_comment(world):
    assert world["writes"][6:13] == [*["check-runs"] * 6, "comments"]
    assert {one["head_sha"] for one in world["checks"][6:12]} == {HEAD}
    titles = [one["output"]["title"] for one in world["checks"][6:8]]
    assert titles == ["static integrity: 1 of 2 passed", "CPU run: 0 of 2 passed"]


def test_comment_says_what_the_pull_request_broke(world):
    body = world["comments"]["1"]
    place = f"{world['server']}/acme/bench"
    run, board = f"{place}/actions/runs/2", f"{place}/tree/reb-leaderboard"
    expected = COMMENT.replace("BASE", world["base"][:12]).replace("RUN", run)
    assert body.startswith(expected.replace("BOARD", board))
    assert set(read(body).links) == {run, f"{run}#artifacts", board}


def test_annotations_stand_on_the_manifest(world):
    notes = world["checks"][7]["annotations"]
    assert [(one["path"], one["title"]) for one in notes] == [
        ("tiny.yaml", "example__tiny.nop.1"),
        ("tiny.yaml", "example__tiny.replay.1"),
    ]


def test_leaderboard_is_a_site_with_badges_and_a_page_for_each_trial(world):
    files = world["files"]
    record = json.loads(files["records/example__tiny.nop.1/1.1.json"])["value"]
    assert (record["run"]["commit"], record["complete"]) == (world["base"], True)
    assert {path for path in files if path.startswith("trials/")} == {
        "trials/example__tiny.nop.1/1.1.html",
        "trials/example__tiny.replay.1/1.1.html",
    }
    badge = json.loads(files["badges/replay/C1.json"])
    assert (badge["label"], badge["message"]) == ("replay C1", "1 of 1")
    assert files["badges/replay/C1.svg"].startswith("<svg ")
    assert "2 contestants on 1 repository: 2 of 2 trials with a verdict." in files["index.html"]


def test_another_run_is_published_unverified_to_its_own_pull_request(world):
    assert world["writes"][13:] == [*["check-runs"] * 6, "comments"]
    assert {one["head_sha"] for one in world["checks"][12:]} == {"f" * 40}
    body = world["comments"]["5"]
    assert "**Unverified: these results come from the workflow of a fork.**" in body
    assert BROKEN in body


def test_every_run_has_its_summary(published):
    for number, job in ((0, "report"), (1, "report"), (2, "publish")):
        # What one step writes is one summary.
        text = "".join(part(published, number).of(job).summaries)
        assert text.startswith("## researchenvbench\n\n2 of 2 trials have a verdict.\n")
        # The push has no base: it makes the leaderboard.
        assert ("## Change since the base" in text) is (number != 0)
        assert (BROKEN in text) is (number != 0)


def test_outputs_say_where_to_look(published):
    told = part(published, 1).of("report").outputs("report", "publish")
    assert told == {
        "published": "true",
        "comment-url": "https://github.sample/acme/bench/pull/1#issuecomment-113",
        "leaderboard-url": "",
    }
