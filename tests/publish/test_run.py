"""Publishing another run: the API says what it was for, and its artifacts get nothing anywhere."""

import io
import json
import re
import zipfile

import pytest

from reb_action.github import context
from reb_action.model.github import RunOrder
from reb_action.publish import artifacts
from reb_action.publish import publish as publisher
from reb_action.publish import run as publish_run
from reb_action.publish.options import KEY
from tests.support import zips
from tests.support.github_api.fixtures import client_of
from tests.support.github_api.world import Identity
from tests.support.runs import AIM, OTHER_SHA, SHA, VIM, environ, job, made, plan_of, told, upload

CHECKS = [f"check run researchenvbench / C{n}" for n in range(6)]
FORK = "stranger/bench"
NO_LEADERBOARD = "no leaderboard: runs of a fork are not published on the leaderboard"


def publish(api, tmp_path, run_id=7, **options):
    """Publish a run as publish.yml does: on its id alone."""
    env = environ(api, tmp_path / "env", "workflow_run")
    place = tmp_path / "unpacked"
    return told(
        publisher.publish_other_run(job(env, **options), run_id, place, context.read_context(env))
    )


@pytest.fixture
def forked(api, tmp_path):
    """A run of two trials that a fork's pull request began, beside one of somebody else."""
    upload(api, made(tmp_path / "run", [VIM, AIM]))
    api.world.add_run(7, sha=SHA, repository=FORK)
    api.world.add_pull(5, sha=SHA, repository=FORK)
    api.world.add_pull(9, sha=OTHER_SHA)
    return api


def commented(api):
    return {one["number"] for one in api.world.comments.values()}


def test_fork_gets_checks_and_a_comment_that_say_they_are_unverified(forked, tmp_path):
    done = publish(forked, tmp_path)
    assert [what for what, effect in done if effect == "created"] == [*CHECKS, "comment on #5"]
    assert done[-1] == (NO_LEADERBOARD, "-")
    assert {one["head_sha"] for one in forked.world.checks.values()} == {SHA}
    titles = [one["output"]["title"] for one in forked.world.checks.values()]
    assert all(title.startswith("unverified (fork workflow): ") for title in titles)
    (comment,) = forked.world.comments.values()
    assert "**Unverified: these results come from the workflow of a fork.**" in comment["body"]
    assert forked.git.branches() == set()


def test_job_summary_is_written_first(forked, tmp_path):
    publish(forked, tmp_path)
    assert "hustvl__Vim.codex.1" in (tmp_path / "env" / "summary.md").read_text()


def test_run_of_the_default_branch_writes_the_leaderboard(api, tmp_path):
    upload(api, made(tmp_path / "run", [VIM]))
    api.world.add_run(7, sha=SHA, branch="main", event="schedule")
    assert publish(api, tmp_path)[-1] == ("leaderboard on the branch reb-leaderboard", "created")
    record = json.loads(api.git.files("reb-leaderboard")[f"records/{VIM}/7.1.json"])
    assert record["value"]["run"]["commit"] == SHA


def sizes(path):
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())


@pytest.mark.parametrize(("spare", "kept"), [(0, 2), (-1, 1)])
def test_all_artifacts_together_have_a_limit(forked, tmp_path, monkeypatch, spare, kept):
    """The plan has VIM first; what is above the limit is no more on the disk."""
    folder = tmp_path / "run" / "artifacts"
    most = sizes(folder) + spare
    monkeypatch.setattr(publish_run, "TOTAL_BYTES", most)
    above = f"the artifacts unpack to more than {most} bytes in all: reb.researchenvbench.{AIM}.a1"
    listed, place = client_of(forked).artifacts(7), tmp_path / "all"
    plan, order = plan_of(VIM, AIM), RunOrder(run_id=7, attempt=1)
    faults = list(publish_run.fetch_trials(client_of(forked), listed, plan, order, place, key=KEY))
    assert faults == [f"{above} and those after it are left out"][: 2 - kept]
    names = [f"reb.researchenvbench.{VIM}.a1", f"reb.researchenvbench.{AIM}.a1"][:kept]
    assert sorted(one.name for one in place.iterdir()) == sorted(names)


OTHERS = {
    # what the API says of the run and of pull request 5: who gets a comment
    "deleted fork": ({"repository": None}, {"repository": None}, {5}),
    "of this repository": ({"repository": "octo/bench"}, {"repository": "octo/bench"}, {5}),
    "moved on": ({"repository": FORK}, {"repository": FORK, "sha": "d" * 40}, set()),
    "closed": ({"repository": FORK}, {"repository": FORK, "state": "closed"}, set()),
    "same branch name elsewhere": ({"repository": FORK}, {"repository": "octo/bench"}, set()),
    "not for a pull request": ({"repository": "octo/bench", "event": "push"}, {}, set()),
}


@pytest.mark.parametrize("case", OTHERS)
def test_pull_request_is_found_by_the_api(api, tmp_path, case):
    run, pull, expected = OTHERS[case]
    upload(api, made(tmp_path / "run", [VIM]))
    api.world.add_run(7, **{"sha": SHA, **run})
    api.world.add_pull(5, **{"sha": SHA, **pull})
    publish(api, tmp_path)
    assert commented(api) == expected
    titles = {one["output"]["title"].startswith("unverified") for one in api.world.checks.values()}
    assert titles == {run["repository"] != "octo/bench"}


def test_two_pull_requests_of_one_commit_get_a_comment_each(forked, tmp_path):
    forked.world.add_pull(6, sha=SHA, repository=FORK)
    publish(forked, tmp_path)
    assert commented(forked) == {5, 6}


def test_number_and_names_inside_the_artifacts_decide_nothing(forked, tmp_path):
    """An artifact that says pull request 9, other commits, another repository, a newer run."""
    lies = {
        "pr.json": b'{"number": 9}', "number": b"9",
        "event.json": b'{"pull_request": {"number": 9}}',
        "head_sha": OTHER_SHA.encode(), ".researchenvbench-run": b"99 1\n", "commit.txt": b"evil",
        "GITHUB_OUTPUT": b"published=evil", "scoreboard.json": b"{}", "env.sh": b"exit 1",
    }  # fmt: skip
    for stored in forked.world.artifacts:
        stored.data = zips.made([*lies.items(), *contents(stored.data)])
    done = publish(forked, tmp_path)
    assert [what for what, effect in done if effect == "created"] == [*CHECKS, "comment on #5"]
    assert commented(forked) == {5}
    written = {one.name for one in (tmp_path / "unpacked").rglob("*") if one.is_file()}
    assert written & {name.rsplit("/")[-1] for name in lies} == set()


def contents(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


HOSTILE = {
    "zip slip": lambda _: zips.made([("../../../../evil", b"x"), ("/tmp/evil", b"x")]),
    "link": lambda _: zips.made([("session.json", b"/etc/passwd")], attributes=zips.LINK),
    "bomb": lambda _: zips.made([("agent.log", b"\0" * (artifacts.MEMBER_BYTES + 1))]),
    "million entries": lambda _: zips.crowded(1_000_000),
    "name twice": lambda data: zips.made([*contents(data), *contents(data)]),
    "no zip": lambda _: b"x" * 1000,
    "empty zip": lambda _: zips.made([]),
    "forged verdict": lambda data: zips.made(
        [(name, re.sub(b'"outcome": "invalid"', b'"outcome": "passed"', content))
         for name, content in contents(data)]
    ),
    "another trial": lambda data: zips.made(
        [(name, content.replace(b"claude-code", b"evil"))
         for name, content in contents(data)]
    ),
    "deep JSON": lambda _: zips.made(
        [(name, b"[" * 100_000) for name in ("session.json", "verdict.json")]
    ),
    "half a document": lambda data: zips.made(
        [(name, content[: len(content) // 2]) for name, content in contents(data)]
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_artifact_is_a_missing_trial_and_nothing_else(forked, tmp_path, case):
    (stored,) = (one for one in forked.world.artifacts if AIM in one.name)
    stored.data = HOSTILE[case](stored.data)
    before = {one for one in tmp_path.rglob("*") if "unpacked" not in one.parts}
    publish(forked, tmp_path)
    (comment,) = forked.world.comments.values()
    assert comment["number"] == 5
    assert "1 of 2 planned trials have a verdict" in comment["body"]
    assert "evil" not in comment["body"]
    new = set(tmp_path.rglob("*")) - before
    assert {one.relative_to(tmp_path).parts[0] for one in new} == {"env", "unpacked"}


PLANS = {
    "no plan": None,
    "no zip": b"x",
    "no JSON": zips.made([("plan.json", b"{")]),
    "another document": zips.made([("plan.json", b'{"document": "verdict"}')]),
    "huge": zips.made([("plan.json", b" " * (artifacts.MEMBER_BYTES + 1))]),
}


@pytest.mark.parametrize("case", PLANS)
def test_run_without_a_plan_writes_nothing_and_is_told(forked, tmp_path, case):
    (stored,) = (one for one in forked.world.artifacts if one.name == artifacts.name_plan(KEY))
    if PLANS[case] is None:
        forked.world.artifacts.remove(stored)
    else:
        stored.data = PLANS[case]
    ((what, fault),) = publish(forked, tmp_path)
    assert what == "read the run"
    assert "plan" in fault
    assert forked.writes() == []


def test_crowd_of_artifacts_that_no_plan_asked_for_is_not_downloaded(forked, tmp_path):
    for number in range(600):
        forked.world.add_artifact(f"reb-evil{number}.a1")
    publish(forked, tmp_path)
    fetched = [one for one in forked.seen if one.path.endswith("/zip")]
    assert len(fetched) == 3


def test_newest_finished_attempt_counts_whatever_the_ids(forked, tmp_path):
    """Of two uploads of a name the later one; an attempt without a verdict replaces none."""
    good = next(one for one in forked.world.artifacts if AIM in one.name)
    bad = zips.made([])
    forked.world.runs[7]["attempt"] = 2
    forked.world.add_artifact(good.name, bad, created_at="2026-01-02T03:00:00Z")
    again = forked.world.add_artifact(
        f"reb.researchenvbench.{VIM}.a2", bad, created_at="2026-01-01T00:00:00Z"
    )
    again.id = 1
    forked.world.add_artifact(f"reb.researchenvbench.{VIM}.a3", zips.made([]))
    publish(forked, tmp_path)
    (comment,) = forked.world.comments.values()
    assert "2 of 2 planned trials have a verdict" in comment["body"]
    assert f"`{AIM}`" in comment["body"]
    assert "attempt=2" in comment["body"]


def test_artifact_that_was_swapped_after_it_was_listed_is_missing(forked, tmp_path):
    stored = next(one for one in forked.world.artifacts if AIM in one.name)
    stored.served = zips.made([("session.json", b"evil")])
    done = publish(forked, tmp_path)
    assert done[0][0] == "read an artifact"
    assert "its digest differs from the listed digest" in done[0][1]
    assert "comment on #5" in [what for what, _ in done]


def test_without_actions_read_that_is_said(forked, tmp_path):
    identity = Identity()
    del identity.permissions["actions"]
    forked.tokens["token"] = identity
    ((_, fault),) = publish(forked, tmp_path)
    assert "`actions: read`" in fault
    assert forked.writes() == []


def test_run_that_does_not_exist_is_said(api, tmp_path):
    ((_, fault),) = publish(api, tmp_path, run_id=404)
    assert fault.startswith("read run 404: GitHub answered 404")


def test_spoofed_comment_of_somebody_else_is_left_alone(forked, tmp_path):
    marker = "<!-- researchenvbench:v1 key=researchenvbench run=99 attempt=1 -->"
    spoof = forked.world.add_comment(f"{marker}\nevil", number=5)
    publish(forked, tmp_path)
    bodies = [one["body"] for one in forked.world.comments.values()]
    assert len(bodies) == 2
    assert bodies[0] == f"{marker}\nevil" == spoof["body"]


def test_enterprise_server_is_written_by_its_own_address(enterprise_api, tmp_path):
    upload(enterprise_api, made(tmp_path / "run", [VIM]))
    enterprise_api.world.add_run(7, sha=SHA)
    enterprise_api.world.add_pull(5, sha=SHA)
    done = publish(enterprise_api, tmp_path)
    assert [what for what, effect in done if effect == "created"] == [*CHECKS, "comment on #5"]
    assert {one.path.split("/repos/")[0] for one in enterprise_api.seen} <= {
        "/api/v3", "/api/graphql",
    }  # fmt: skip
