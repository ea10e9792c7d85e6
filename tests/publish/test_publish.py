"""The whole of `reb publish`, over HTTP, against the loopback GitHub: what is written, where."""

import json
import re
from dataclasses import replace

import pytest

from reb_action.errors import UsageError
from reb_action.github import context
from reb_action.model.manifest import Level
from reb_action.publish import board_pages, content, publish
from tests.support import runs
from tests.support.github_api.server import Trouble
from tests.support.github_api.world import Identity
from tests.support.runs import AIM, OTHER_SHA, SHA, VIM, environ, job, made, pull_request, told
from tests.support.scoreboards import AGENTS, REPOSITORIES, slug

LEVELS = tuple(Level)
CHECKS = [f"check run researchenvbench / C{n}" for n in range(6)]
BRANCH = "reb-leaderboard"


def here(api, tmp_path, *, event="push", payload=None, names=(VIM, AIM), lost=(), **options):
    """Publish a run from a folder, as the report of that very run does."""
    folder = tmp_path / "run"
    if not folder.exists():
        made(folder, names, lost=lost, repository=options.pop("repository", None))
    env = environ(api, tmp_path, event, payload, **options.pop("env", {}))
    done = publish.publish_this_run(
        job(env, **options), folder / "plan.json", folder / "artifacts", levels=LEVELS
    )
    return told(done)


def of_run(api, tmp_path, run_id=7, **options):
    """Publish another run, as publish.yml does."""
    env = environ(api, tmp_path / "env", "workflow_run")
    place = tmp_path / f"unpacked-{len(list(tmp_path.iterdir()))}"
    return told(
        publish.publish_other_run(job(env, **options), run_id, place, context.read_context(env))
    )


def bodies(api):
    return {one["number"]: one["body"] for one in api.world.comments.values()}


def test_a_push_to_the_default_branch_writes_checks_and_the_leaderboard(api, tmp_path):
    done = here(api, tmp_path)
    leaderboard = f"leaderboard on the branch {BRANCH}"
    assert done == [*((one, "created") for one in CHECKS), (leaderboard, "created")]
    files = api.git.files(BRANCH)
    names = {"index.html", "trials.html", "scoreboard.json", "history.json", "removed.txt"}
    assert {*names, f"trials/{VIM}/7.1.html", f"records/{VIM}/7.1.json"} <= set(files)
    assert sum(path.endswith(".svg") for path in files) == 2 * 6 * 2
    assert {one["head_sha"] for one in api.world.checks.values()} == {runs.MERGE}
    assert api.world.comments == {}


def test_a_pull_request_gets_checks_at_its_head_and_one_comment(api, tmp_path):
    done = here(api, tmp_path, event="pull_request", payload=pull_request())
    why = (
        "no leaderboard: only push, schedule, workflow_dispatch of 'main' update it; this run is"
        " pull_request of 'topic'"
    )
    written = [*CHECKS, "comment on #1"]
    assert done == [*((one, "created") for one in written), (why, "-")]
    assert {one["head_sha"] for one in api.world.checks.values()} == {SHA}
    marker, title = bodies(api)[1].split("\n")[:2]
    assert marker == "<!-- researchenvbench:v1 key=researchenvbench run=7 attempt=1 -->"
    assert title.startswith("### `claude-code` `sonnet-4.5` and 1 more: nothing to compare with.")


def test_comparison_is_with_the_leaderboard_of_the_default_branch(api, tmp_path):
    here(api, tmp_path, env={"GITHUB_SHA": OTHER_SHA, "GITHUB_RUN_ID": "6"})
    here(api, tmp_path, event="pull_request", payload=pull_request())
    body = bodies(api)[1]
    assert f"compared with [`{OTHER_SHA[:12]}`](" in body
    assert body.split("\n")[1].startswith(
        "### `claude-code` `sonnet-4.5`: 0 cells changed. No diff"
    )
    assert "## Change since the base" in (tmp_path / "summary.md").read_text()


def test_without_access_to_artifacts_evidence_is_a_page_of_the_run(api, tmp_path):
    """In a private repository `actions: read` is needed to list them; no link answers 404 then."""
    identity = Identity()
    del identity.permissions["actions"]
    api.tokens["token"] = identity
    here(api, tmp_path, event="pull_request", payload=pull_request())
    links = set(re.findall(r"https?://[^)\s\]]+", bodies(api)[1]))
    run_url = f"{api.git.url}/octo/bench/actions/runs/7"
    assert {link for link in links if "/actions/" in link} == {run_url, f"{run_url}#artifacts"}
    assert {link.split("/octo/bench/")[0] for link in links} == {api.git.url}


def test_without_a_leaderboard_there_is_nothing_to_compare_with(api, tmp_path):
    here(api, tmp_path, event="pull_request", payload=pull_request())
    assert "nothing to compare with. The default branch has no results of it." in bodies(api)[1]
    assert not (tmp_path / "summary.md").exists()


def test_broken_base_is_told_and_the_rest_written(api, tmp_path):
    api.git.add_commit(BRANCH, {".researchenvbench-board": b"", "records/x.json": b"{}"})
    done = here(api, tmp_path, event="pull_request", payload=pull_request())
    assert done[0][0] == "read the base"
    why = f"the leaderboard on '{BRANCH}' cannot be read: records/x.json is not a record document"
    assert done[0][1].startswith(why)
    assert [what for what, _ in done[1:8]] == [*CHECKS, "comment on #1"]


EVENTS = [
    # event, payload, what else the runner says: the commit that people see
    ("push", {}, {}, runs.MERGE),
    ("schedule", {}, {}, runs.MERGE),
    ("workflow_dispatch", {}, {}, runs.MERGE),
    ("push", {}, {"GITHUB_REF": "refs/tags/v1"}, runs.MERGE),
    ("pull_request", pull_request(), {"GITHUB_REF": "refs/pull/1/merge"}, SHA),
    ("pull_request_review", pull_request(), {"GITHUB_REF": "refs/pull/1/merge"}, SHA),
    ("pull_request_review_comment", pull_request(), {"GITHUB_REF": "refs/pull/1/merge"}, SHA),
    ("merge_group", {"merge_group": {"head_sha": SHA, "head_ref": "refs/heads/q"}}, {}, SHA),
    (
        "workflow_run",
        {"workflow_run": {"head_sha": SHA, "head_branch": "main",
                          "head_repository": {"full_name": "octo/bench"}}},
        {},
        SHA,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("event", "payload", "env", "sha"), EVENTS)
def test_head_of_every_event(api, tmp_path, event, payload, env, sha):
    here(api, tmp_path, event=event, payload=payload, env=env, leaderboard=False)
    assert {one["head_sha"] for one in api.world.checks.values()} == {sha}


@pytest.mark.parametrize(
    ("event", "payload"), [("pull_request", {}), ("merge_group", {}), ("workflow_run", {})]
)
def test_event_without_its_commit_writes_nothing(api, tmp_path, event, payload):
    with pytest.raises(UsageError, match="has no commit to report on"):
        here(api, tmp_path, event=event, payload=payload)
    assert api.writes() == []


LEADERBOARD = [
    # event, what else the runner says: whether the leaderboard is written
    ("push", {}, True),
    ("schedule", {}, True),
    ("workflow_dispatch", {}, True),
    ("push", {"GITHUB_REF": "refs/heads/topic"}, False),
    ("push", {"GITHUB_REF": "refs/tags/main"}, False),
    ("workflow_dispatch", {"GITHUB_REF": "refs/heads/topic"}, False),
    ("release", {}, False),
    ("pull_request", {}, False),
    ("merge_group", {}, False),
]


@pytest.mark.parametrize(("event", "env", "written"), LEADERBOARD)
def test_only_the_default_branch_writes_the_leaderboard(api, tmp_path, event, env, written):
    payload = {**pull_request(), "merge_group": {"head_sha": SHA}}
    here(api, tmp_path, event=event, payload=payload, env=env, checks="off", comment="off")
    assert (BRANCH in api.git.branches()) is written


def test_older_run_leaves_a_newer_comment_alone(api, tmp_path):
    newer = {"GITHUB_RUN_ID": "9"}
    options = {"event": "pull_request", "payload": pull_request(), "leaderboard": False}
    here(api, tmp_path, **options, env=newer)
    assert ("comment on #1", "outdated") in here(api, tmp_path, **options)
    assert "run=9" in bodies(api)[1]


def test_second_attempt_updates_the_comment_and_has_check_runs_of_its_own(api, tmp_path):
    for attempt in ("1", "2"):
        env = {"GITHUB_RUN_ATTEMPT": attempt}
        done = here(api, tmp_path, event="pull_request", payload=pull_request(), env=env)
    assert ("comment on #1", "updated") in done
    # GitHub shows the newest of a name, and annotations of the first attempt cannot be removed.
    assert [one["external_id"] for one in api.world.checks.values()] == [
        f"reb:7.{attempt}:C{level}" for attempt in (1, 2) for level in range(6)
    ]
    assert len(api.world.comments) == 1


def test_fork_writes_nothing_itself(api, tmp_path):
    payload = pull_request(head="stranger/bench")
    done = here(api, tmp_path, event="pull_request", payload=payload)
    assert done == [("Skipped: tokens for fork pull requests are read-only; use publish.yml.", "-")]
    assert api.seen == []


MODES = [
    # mode, whether anything changed, whether anything failed, whether a comment is there: effect
    ("always", False, False, False, "created"),
    ("changes", False, True, False, "unwanted"),
    ("changes", False, True, True, "updated"),
    ("changes", True, True, False, "created"),
    ("failures", False, True, False, "created"),
    ("failures", False, False, False, "unwanted"),
    ("failures", False, False, True, "updated"),
]
GOOD = "NVIDIA__kvpress.codex.2"
"""A trial in which every level passed."""


@pytest.mark.parametrize(("mode", "changed", "failed", "there", "effect"), MODES)
def test_when_a_comment_is_made(api, tmp_path, mode, changed, failed, there, effect):
    name = AIM if failed else GOOD
    made(tmp_path / "run", [name])
    here(api, tmp_path, checks="off", comment="off", env={"GITHUB_RUN_ID": "6"})
    if changed:
        (path,) = (one for one in api.git.files(BRANCH) if one.startswith("records/"))
        record = json.loads(api.git.files(BRANCH)[path])
        for cell in record["value"]["row"]["cells"].values():
            cell["outcome"] = "failed"
        api.git.add_commit(BRANCH, {path: json.dumps(record).encode()})
    options = {"event": "pull_request", "payload": pull_request(), "checks": "off"}
    if there:
        here(api, tmp_path, **options, comment="always", leaderboard=False)
    env = {"GITHUB_RUN_ATTEMPT": "2"}
    done = here(api, tmp_path, **options, comment=mode, leaderboard=False, env=env)
    assert done == [("comment on #1", effect)]


def test_comment_off_makes_no_request_for_it(api, tmp_path):
    here(api, tmp_path, event="pull_request", payload=pull_request(), comment="off", checks="off",
         leaderboard=False)  # fmt: skip
    assert api.seen == []


def test_a_check_for_each_trial_up_to_fifty(api, tmp_path):
    done = here(api, tmp_path, checks="trials", comment="off", leaderboard=False)
    assert done == [(f"check run researchenvbench / {name}", "created") for name in (AIM, VIM)]


def names_of(count):
    made_of = (
        f"{slug(repository)}.{agent}.{attempt}"
        for attempt in range(1, 99)
        for repository in REPOSITORIES
        for agent in AGENTS
    )
    return [name for name, _ in zip(made_of, range(count), strict=False)]


def test_more_trials_than_that_get_checks_by_level(api, tmp_path):
    made(tmp_path / "run", names_of(51), lost=names_of(51)[1:])
    assert [what for what, _ in here(api, tmp_path, checks="trials", leaderboard=False)] == CHECKS


def test_annotations_stand_on_the_manifest_of_the_caller(api, tmp_path):
    here(api, tmp_path, repository="./bench/tiny.yaml", leaderboard=False)
    paths = {note["path"] for one in api.world.checks.values() for note in one["annotations"]}
    assert paths == {"bench/tiny.yaml"}


FILES = [
    # what the plan says of repository and agent: the file that is marked
    (("bench/tiny.yaml", "pip"), "bench/tiny.yaml"),
    (("./tiny.yml", "agents/ours.yaml"), "tiny.yml"),
    (("owner/name", "agents/ours.yaml"), "agents/ours.yaml"),
    (("owner/name", "pip"), None),
    (("../tiny.yaml", "/etc/x.yaml"), None),
    (("a/../tiny.yaml", "..yaml"), None),
    (("a/.hidden/x.yaml", "C:/x.yaml"), None),
    (("a//x.yaml", "x.yaml\n"), None),
    (("bench/*.yaml", "@org/x.yaml"), None),
]


@pytest.mark.parametrize(("named", "path"), FILES)
def test_only_a_plain_path_of_the_repository_is_marked(named, path):
    (trial,) = runs.plan_of(VIM).trials
    assert content.find_file(replace(trial, repository=named[0], agent=named[1])) == path


REFUSALS = [
    # permission taken away, what is written without it, the fault that is told
    ("checks", ["comment on #1"], "`checks: write`"),
    ("pull_requests", CHECKS, "`pull-requests: write`"),
]


@pytest.mark.parametrize(("permission", "written", "named"), REFUSALS)
def test_missing_permission_is_named_once_and_stops_nothing_else(
    api, tmp_path, permission, written, named
):
    identity = Identity()
    del identity.permissions[permission]
    api.tokens["token"] = identity
    done = here(api, tmp_path, event="pull_request", payload=pull_request(), leaderboard=False)
    assert [what for what, effect in done if effect == "created"] == written
    faults = [why for _, why in done if why not in ("created", "-")]
    assert len(faults) == 1
    assert named in faults[0]


def test_base_that_may_not_be_read_is_a_fault_and_the_rest_is_written(api, tmp_path):
    identity = Identity()
    del identity.permissions["contents"]
    api.tokens["token"] = identity
    done = here(api, tmp_path, event="pull_request", payload=pull_request(), leaderboard=False)
    assert done[0][0] == "read the base"
    assert done[0][1].startswith(f"read the branch '{BRANCH}': fatal: ")
    assert "403" in done[0][1]
    assert [what for what, _ in done[1:]] == [*CHECKS, "comment on #1"]


def test_server_that_fails_once_costs_one_check(api, tmp_path):
    path = "/repos/octo/bench/check-runs"
    api.troubles.append(Trouble(verb="POST", path=path, status=422, message="no", times=1))
    done = here(api, tmp_path, leaderboard=False)
    assert [effect for _, effect in done[1:]] == ["created"] * 5
    assert done[0][1].endswith("GitHub rejected it")


def test_link_among_the_artifacts_is_told_and_nothing_written(api, tmp_path):
    folder = made(tmp_path / "run", [VIM])
    (folder / "artifacts" / "reb-x.a1").symlink_to("/etc")
    ((what, fault),) = here(api, tmp_path)
    assert what == "read the run"
    assert fault.endswith("reb-x.a1 is not a regular file; artifacts of reb have no others")
    assert api.seen == []


def test_missing_token_is_one_line(api, tmp_path):
    with pytest.raises(UsageError, match="no token to write with"):
        here(api, tmp_path, token="")


@pytest.mark.parametrize("name", ["GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"])
def test_off_a_runner_it_says_so(api, tmp_path, name):
    with pytest.raises(UsageError, match=f"{name} is '': a?|reb publish is for a job on a runner"):
        here(api, tmp_path, env={name: ""})


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    """The folder of a run of 256 entries."""
    return made(tmp_path_factory.mktemp("matrix"), names_of(256))


def test_256_entries_take_six_writes_and_a_push(api, tmp_path, matrix):
    (tmp_path / "run").symlink_to(matrix)
    done = here(api, tmp_path)
    assert [effect for _, effect in done] == ["created"] * 7
    assert [path.rsplit("/", 1)[1] for _, path in api.writes()] == ["check-runs"] * 6
    assert sum(path.startswith("trials/") for path in api.git.files(BRANCH)) == 256


def test_256_entries_take_seven_writes_on_a_pull_request(api, tmp_path, matrix):
    (tmp_path / "run").symlink_to(matrix)
    here(api, tmp_path, event="pull_request", payload=pull_request())
    assert [path.rsplit("/", 1)[1] for _, path in api.writes()] == [
        *["check-runs"] * 6, "comments",
    ]  # fmt: skip


def test_pages_beyond_the_room_are_left_out_and_not_linked(api, tmp_path, monkeypatch):
    """Those of trials in which all passed are the first to go."""
    here(api, tmp_path, names=[VIM, AIM, GOOD], checks="off", comment="off")
    whole = api.git.files(BRANCH)
    size = sum(len(whole[f"trials/{name}/7.1.html"]) for name in (AIM, GOOD))
    monkeypatch.setattr(board_pages, "PAGES_BYTES", size)
    here(api, tmp_path, names=[VIM, AIM, GOOD], checks="off", comment="off")
    files = api.git.files(BRANCH)
    assert {path for path in whole if path not in files} == {f"trials/{VIM}/7.1.html"}
    assert f"trials/{VIM}/7.1.html" not in files["trials.html"].decode()
    assert "Vim" in files["trials.html"].decode()


def test_a_run_that_planned_no_trial_writes_nothing(api, tmp_path):
    done = here(api, tmp_path, event="pull_request", payload=pull_request(), names=())
    assert done == [("nothing is published: the run planned no trial", "-")]
    assert (api.world.checks, api.world.comments, api.writes()) == ({}, {}, [])


def test_a_pull_request_that_moved_on_gets_no_comment_of_an_old_commit(api, tmp_path):
    api.world.add_pull(1, sha=OTHER_SHA, branch="topic")
    done = here(api, tmp_path, event="pull_request", payload=pull_request(), leaderboard=False)
    assert ("no comment: the pull request has newer commits", "-") in done
    assert api.world.comments == {}
    assert len(api.world.checks) == 6


def test_a_run_that_was_overtaken_says_so_and_has_published_nothing(api, tmp_path):
    here(api, tmp_path, event="pull_request", payload=pull_request(), leaderboard=False,
         env={"GITHUB_RUN_ID": "9"})  # fmt: skip
    env = environ(api, tmp_path, "pull_request", pull_request())
    folder, lines = tmp_path / "run", []
    results = publish.publish_this_run(
        job(env, leaderboard=False), folder / "plan.json", folder / "artifacts", levels=LEVELS
    )
    publish.report_writes(results, context.read_context(env), tell=lines.append)
    warnings = [line for line in lines if line.startswith("::warning")]
    assert len(warnings) == 7
    assert warnings[-1].endswith("comment on #1: not written: a newer run has written it")
    output = (tmp_path / "output").read_text()
    assert [line for line in output.splitlines() if line in ("true", "false")] == ["false"]


def test_a_slash_command_writes_at_the_head_of_its_pull_request(api, tmp_path):
    api.world.add_pull(2, sha=OTHER_SHA, branch="elsewhere")
    api.world.add_pull(1, sha=SHA, branch="topic")
    payload = {"issue": {"number": 1, "pull_request": {"url": "x"}}, "comment": {"body": "/bench"}}
    done = here(api, tmp_path, event="issue_comment", payload=payload, leaderboard=False)
    assert ("comment on #1", "created") in done
    assert {one["head_sha"] for one in api.world.checks.values()} == {SHA}


def test_a_comment_on_an_issue_is_no_pull_request(api, tmp_path):
    payload = {"issue": {"number": 1}, "comment": {"body": "/bench"}}
    here(api, tmp_path, event="issue_comment", payload=payload, leaderboard=False)
    assert api.world.comments == {}
    assert {one["head_sha"] for one in api.world.checks.values()} == {runs.MERGE}
