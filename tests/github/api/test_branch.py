"""Files on a branch of their own: one commit, races replayed on the new tip, never forced."""

import subprocess
from dataclasses import replace

import pytest

from reb_action.errors import GitHubError
from reb_action.github.api.faults import RefusedError
from reb_action.github.api.tree import TREE_BYTES
from reb_action.model.github import Push, RunOrder, Written
from tests.support.github_api import limits
from tests.support.github_api.fixtures import client_of
from tests.support.github_api.server import Trouble

PUSH = Push(
    branch="site",
    folder="",
    files={"index.html": b"<p>", "data/a.json": b"{}"},
    message="Publish run 7",
    order=RunOrder(run_id=7, attempt=1),
)
MARK = {".researchenvbench-run": b"7 1\n"}


def kinds(api):
    return [path.split("/")[-1 if verb == "POST" else -3] for verb, path in api.writes()]


def test_a_missing_branch_is_made_without_a_history(api):
    """nervosys/HyperMachine, PR 74."""
    written = client_of(api).push(PUSH)
    commit = api.world.objects[api.world.refs["site"]]
    assert (commit["parents"], commit["message"]) == ([], "Publish run 7")
    assert api.world.files("site") == {**PUSH.files, **MARK}
    url = f"https://github.sample/octo/bench/commit/{api.world.refs['site']}"
    assert written == Written(effect="created", url=url)
    assert kinds(api) == ["trees", "commits", "refs"]


def test_a_branch_moves_by_one_commit_that_sends_what_differs(api):
    tip = api.world.add_commit("site", {"index.html": b"<p>", "old.html": b"x"})
    assert client_of(api).push(PUSH).effect == "updated"
    assert api.world.objects[api.world.refs["site"]]["parents"] == [tip]
    assert api.world.files("site") == {**PUSH.files, **MARK}
    (tree,) = (one.body["tree"] for one in api.seen if one.path.endswith("/git/trees"))
    assert [(one["path"], one.get("content"), "sha" in one) for one in tree] == [
        (".researchenvbench-run", "7 1\n", False),
        ("data/a.json", "{}", False),
        ("old.html", None, True),
    ]
    forced = [one.body["force"] for one in api.seen if one.verb == "PATCH"]
    assert forced == [False]


def test_a_folder_leaves_all_else_alone(api):
    api.world.add_commit("site", {"README.md": b"mine", "ours/old": b"x", "oursnot/old": b"x"})
    client_of(api).push(replace(PUSH, folder="ours"))
    assert api.world.files("site") == {
        "README.md": b"mine",
        "oursnot/old": b"x",
        "ours/index.html": b"<p>",
        "ours/data/a.json": b"{}",
        "ours/.researchenvbench-run": b"7 1\n",
    }


def test_the_same_again_writes_nothing(api):
    first = client_of(api).push(PUSH)
    again = client_of(api).push(PUSH)
    assert (again, len(api.writes())) == (replace(first, effect="unchanged"), 3)


@pytest.mark.parametrize("folder", ["", "ours"])
def test_an_older_run_writes_nothing(api, folder):
    newer = replace(PUSH, folder=folder, order=RunOrder(run_id=9, attempt=1))
    url = client_of(api).push(newer).url
    before = api.world.files("site")
    late = replace(PUSH, folder=folder, files={"index.html": b"late"})
    assert client_of(api).push(late) == Written(effect="outdated", url=url)
    assert api.world.files("site") == before


def test_an_order_that_is_not_ours_does_not_stop_us(api):
    api.world.add_commit("site", {".researchenvbench-run": b"nonsense"})
    assert client_of(api).push(PUSH).effect == "updated"


def test_what_is_no_text_arrives_as_it_is(api):
    data = bytes(range(256))
    client_of(api).push(replace(PUSH, files={"a.png": data, "b.txt": "é\r\n".encode()}))
    assert api.world.files("site") == {"a.png": data, "b.txt": "é\r\n".encode(), **MARK}
    assert kinds(api) == ["blobs", "trees", "commits", "refs"]


def test_300_pages_take_three_writes(api):
    files = {f"trial/{number}.html": b"<p>%d" % number for number in range(300)}
    client_of(api).push(replace(PUSH, files=files))
    assert api.world.files("site") == {**files, **MARK}
    assert kinds(api) == ["trees", "commits", "refs"]


def test_large_sites_are_sent_in_parts(api):
    files = {f"{number}.html": b"x" * (TREE_BYTES // 2) for number in range(5)}
    client_of(api).push(replace(PUSH, files=files))
    assert api.world.files("site") == {**files, **MARK}
    assert kinds(api) == ["trees", "trees", "trees", "commits", "refs"]


def moved(api, **more):
    """Let somebody else push just before our reference is written."""
    numbers = iter(range(100))
    push = lambda: api.world.add_commit("site", {"other": b"%d" % next(numbers)})  # noqa: E731
    verb = "PATCH" if "site" in api.world.refs else "POST"
    api.troubles.append(Trouble(verb=verb, path="/git/refs", how="meanwhile", action=push, **more))


@pytest.mark.parametrize("exists", [True, False])
def test_a_push_that_is_faster_is_built_upon(api, exists):
    """Checkmarx/kics#3782, skyf0xx/hedgehog PR 309: what is written starts from the new tip."""
    if exists:
        api.world.add_commit("site", {"index.html": b"x"})
    moved(api)
    assert client_of(api).push(replace(PUSH, folder="ours")).effect == "updated"
    theirs = {"other": b"0"}
    ours = {f"ours/{path}": data for path, data in {**PUSH.files, **MARK}.items()}
    assert api.world.files("site") == theirs | ours
    assert api.clock.slept == [0.25]


def test_two_publishers_both_arrive(api):
    other = replace(PUSH, folder="b")
    api.troubles.append(
        Trouble(
            verb="POST",
            path="/git/refs",
            how="meanwhile",
            action=lambda: api.world.add_commit("site", {"a/index.html": b"a"}),
        )
    )
    client_of(api).push(other)
    assert {"a/index.html", "b/index.html"} < api.world.files("site").keys()


def test_a_newer_run_that_was_faster_wins(api):
    newer = {"index.html": b"new", ".researchenvbench-run": b"9 1\n"}
    api.world.add_commit("site", {"index.html": b"x"})
    api.troubles.append(
        Trouble(
            verb="PATCH",
            path="/git/refs",
            how="meanwhile",
            action=lambda: api.world.add_commit("site", newer),
        )
    )
    assert client_of(api).push(PUSH).effect == "outdated"
    assert api.world.files("site") == newer


def test_a_conflict_is_tried_again(api):
    api.world.add_commit("site", {"index.html": b"x"})
    api.troubles.append(Trouble(verb="PATCH", path="/git/refs", status=409, message="Conflict"))
    assert client_of(api).push(PUSH).effect == "updated"
    assert api.world.files("site") == {**PUSH.files, **MARK}


def test_a_branch_that_never_stands_still_is_given_up(api):
    api.world.add_commit("site", {"index.html": b"x"})
    moved(api, times=99)
    with pytest.raises(GitHubError) as caught:
        client_of(api).push(PUSH)
    assert str(caught.value) == (
        "push to the branch 'site': the branch changed concurrently 8 times; run the job again"
    )
    assert api.clock.slept == [0.25, 0.5, 1, 2, 4, 8, 16, 32]


def test_a_rule_that_protects_the_branch_is_told_at_once(api):
    api.world.add_commit("site", {"index.html": b"x"})
    rule = Trouble(verb="PATCH", path="/git/refs", status=422, message="Repository rule violations")
    api.troubles.append(rule)
    with pytest.raises(RefusedError) as caught:
        client_of(api).push(PUSH)
    assert str(caught.value) == (
        "push to the branch 'site': GitHub answered 422 "
        '"Repository rule violations": it is not accepted'
    )
    assert api.clock.slept == []


def test_a_repository_without_a_commit_is_told(api):
    api.world.empty = True
    with pytest.raises(RefusedError, match=r'GitHub answered 409 "Git Repository is empty\."'):
        client_of(api).push(PUSH)
    assert api.writes() == []


@pytest.mark.parametrize("path", ["/git/trees", "/git/commits", "/git/refs"])
@pytest.mark.parametrize("how", ["lost", "reset", "half"])
def test_a_step_whose_answer_got_lost_is_done_again(api, path, how):
    api.troubles.append(Trouble(verb="POST", path=path, how=how))
    client_of(api).push(PUSH)
    assert api.world.files("site") == {**PUSH.files, **MARK}
    assert api.world.objects[api.world.refs["site"]]["parents"] == []


def test_more_files_than_github_lists_are_not_guessed_at(api, monkeypatch):
    monkeypatch.setattr(limits, "TREE_ENTRIES", 2)
    api.world.add_commit("site", {"a": b"", "b": b"", "c": b""})
    with pytest.raises(GitHubError) as caught:
        client_of(api).push(PUSH)
    assert str(caught.value) == (
        "push to the branch 'site': it has more files than GitHub lists; use another branch"
    )


def test_a_branch_may_have_slashes(api):
    client_of(api).push(replace(PUSH, branch="reb/site"))
    assert client_of(api).push(replace(PUSH, branch="reb/site")).effect == "unchanged"


@pytest.mark.parametrize("size", [0, 3, 1024 * 1024, 1024 * 1024 + 1])
def test_a_file_is_read_back_whole(api, size):
    data = bytes(number % 251 for number in range(size))
    api.world.add_commit("site", {"data/a b.bin": data})
    assert client_of(api).file("site", "data/a b.bin") == data


@pytest.mark.parametrize(("branch", "path"), [("site", "missing"), ("missing", "a")])
def test_a_file_that_is_missing_is_none(api, branch, path):
    api.world.add_commit("site", {"a": b"x"})
    assert client_of(api).file(branch, path) is None


def test_names_of_contents_are_gits_own(api, tmp_path):
    """What is there is told by git's hash; a wrong one would send everything each time."""
    data = "é\n".encode() * 100
    (tmp_path / "file").write_bytes(data)
    done = subprocess.run(
        ["git", "hash-object", "file"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert api.world.add_blob(data) == done.stdout.strip()


def test_it_works_on_an_enterprise_server(enterprise_api):
    effects = [client_of(enterprise_api).push(PUSH).effect for _ in range(2)]
    assert effects == ["created", "unchanged"]
    assert client_of(enterprise_api).file("site", "index.html") == b"<p>"
    assert {one.path.split("/repos/")[0] for one in enterprise_api.seen} == {"/api/v3"}
