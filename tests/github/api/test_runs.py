"""Runs, their pull requests and artifacts: from GitHub alone, whoever the run was of."""

import io
from dataclasses import replace

import pytest
import requests

from reb_action.errors import GitHubError
from reb_action.model.github import Artifact, PullRequest, WorkflowRun
from tests.support.github_api.fixtures import client_of
from tests.support.github_api.server import Trouble

SHA, OTHER = "a" * 40, "c" * 40
FORK = "mallory/bench"
MIB = 1024 * 1024


def numbers(api, run_id=7):
    client = client_of(api)
    return [one.number for one in client.pull_requests(client.workflow_run(run_id))]


def test_a_run_is_read(api):
    api.world.add_run(7, sha=SHA, repository=FORK, attempt=2, actor="mallory", conclusion="failure")
    assert client_of(api).workflow_run(7) == WorkflowRun(
        id=7,
        attempt=2,
        event="pull_request",
        status="completed",
        conclusion="failure",
        head_sha=SHA,
        head_branch="topic",
        head_repository=FORK,
        actor="mallory",
        path=".github/workflows/benchmark.yml",
        url="https://github.sample/octo/bench/actions/runs/7",
    )


def test_a_run_of_a_deleted_fork_has_no_repository(api):
    api.world.add_run(7, sha=SHA, repository=None, conclusion=None, status="in_progress")
    run = client_of(api).workflow_run(7)
    assert (run.head_repository, run.conclusion, run.status) == (None, None, "in_progress")


def test_a_run_that_does_not_exist_is_told(api):
    with pytest.raises(GitHubError, match=r'^read run 8: GitHub answered 404 "Not Found"'):
        client_of(api).workflow_run(8)


def test_the_pull_request_of_a_fork_is_found(api):
    """actions/runner#3444: what the run itself lists is empty."""
    api.world.add_run(7, sha=SHA, repository=FORK)
    api.world.add_pull(5, sha=SHA, repository=FORK)
    client = client_of(api)
    assert client.pull_requests(client.workflow_run(7)) == (
        PullRequest(
            number=5,
            head_sha=SHA,
            head_branch="topic",
            head_repository=FORK,
            base_branch="main",
            base_sha="b" * 40,
            draft=False,
            url="https://github.sample/octo/bench/pull/5",
        ),
    )


def test_all_pull_requests_of_the_branch_are_found(api):
    api.world.add_run(7, sha=SHA)
    for number in (6, 5):
        api.world.add_pull(number, sha=SHA)
    assert numbers(api) == [5, 6]


@pytest.mark.parametrize(
    "other",
    [
        {"branch": "another"},
        {"repository": "mallory/renamed"},
        {"repository": "eve/bench"},
        {"repository": None},
        {"state": "closed"},
    ],
    ids=str,
)
def test_another_pull_request_of_the_same_commit_is_not_meant(api, other):
    """A fork that has our commit on a branch of its own gets no comment for it."""
    api.world.add_run(7, sha=SHA, repository=FORK)
    api.world.add_pull(4, **{"sha": SHA, "repository": FORK, **other})
    api.world.add_pull(5, sha=SHA, repository=FORK)
    assert numbers(api) == [5]


def test_a_branch_that_moved_on_is_found_with_its_new_head(api):
    api.world.add_run(7, sha=SHA, repository=FORK)
    api.world.add_pull(5, sha=OTHER, repository=FORK)
    client = client_of(api)
    (found,) = client.pull_requests(client.workflow_run(7))
    assert (found.number, found.head_sha) == (5, OTHER)


def test_of_a_deleted_fork_the_pull_request_at_the_commit_is_found(api):
    api.world.add_run(7, sha=SHA, repository=None)
    api.world.add_pull(4, sha=SHA, repository="octo/bench")
    api.world.add_pull(5, sha=SHA, repository=None)
    api.world.add_pull(6, sha=OTHER, repository=None)
    api.world.add_pull(7, sha=SHA, repository=None, state="closed")
    assert numbers(api) == [5]


def test_a_run_of_a_tag_has_none(api):
    api.world.add_run(7, sha=SHA, branch=None)
    assert numbers(api) == []


def test_pull_requests_are_looked_for_on_all_pages(api):
    api.world.add_run(7, sha=SHA)
    for number in range(1, 251):
        api.world.add_pull(number, sha=SHA)
    assert numbers(api) == list(range(1, 251))


def test_an_artifact_is_read(api):
    api.world.add_artifact("reb-a", b"zip")
    (found,) = client_of(api).artifacts(7)
    assert replace(found, created_at=None) == Artifact(
        id=101,
        name="reb-a",
        size_bytes=3,
        digest="sha256:4a70fe9aa6436e02c2dea340fbd1e352e4ef2d8ce6ca52ad25d4b95471fc8bf2",
        expired=False,
        created_at=None,
    )
    assert found.created_at.isoformat() == "2026-01-02T03:04:05+00:00"


def test_300_artifacts_are_listed_with_their_doubles(api):
    for number in range(300):
        api.world.add_artifact(f"reb-{number % 299}", run_id=7)
    api.world.add_artifact("other", run_id=8)
    found = client_of(api).artifacts(7)
    assert [one.name for one in found] == [f"reb-{number % 299}" for number in range(300)]
    assert [one.query.get("page", "1") for one in api.seen] == ["1", "2", "3"]


def test_a_page_that_fails_is_repeated_alone(api):
    for number in range(250):
        api.world.add_artifact(f"reb-{number}", run_id=7)
    api.troubles.append(Trouble(verb="GET", path="/artifacts", how="cut", skip=1))
    assert len(client_of(api).artifacts(7)) == 250
    assert [one.query.get("page", "1") for one in api.seen] == ["1", "2", "2", "3"]


# Downloads.


def download(api, *, limit_bytes=MIB):
    client = client_of(api)
    file = io.BytesIO(b"left from before")
    client.download(client.artifacts(7)[0], file, limit_bytes=limit_bytes)
    return file.getvalue()


def failure(api, **more):
    with pytest.raises(GitHubError) as caught:
        download(api, **more)
    return str(caught.value)


def test_an_artifact_arrives_without_the_token_leaving_the_api(api):
    api.world.add_artifact("reb-a", b"z" * 3 * MIB)
    assert download(api, limit_bytes=3 * MIB) == b"z" * 3 * MIB
    assert api.seen[-1].headers["authorization"] == "token token"
    (stored,) = api.stored
    assert ("authorization" in stored.headers, stored.query) == (False, {"sig": "signed"})


def test_a_password_file_is_not_read_for_the_store(api, tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("machine localhost login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    api.world.add_artifact("reb-a")
    download(api)
    plain = requests.get(f"{api.store}/artifact/101", timeout=10)
    assert ["authorization" in one.headers for one in api.stored] == [False, True]
    assert plain.content == b"zip"


def test_without_a_digest_none_is_compared(api):
    api.world.add_artifact("reb-a", b"zip", served=b"other", digest=False)
    assert download(api) == b"other"


def test_another_file_than_the_one_listed_is_refused(api):
    api.world.add_artifact("reb-a", b"zip", served=b"zap")
    assert failure(api) == (
        "download the artifact 'reb-a': its digest differs from the listed digest; "
        "run the job again"
    )


def test_what_is_listed_as_too_large_is_not_asked_for(api):
    api.world.add_artifact("reb-a", b"z" * (MIB + 1))
    assert failure(api) == "download the artifact 'reb-a': it is larger than the limit of 1 MiB"
    assert api.stored == []


def test_what_is_larger_than_listed_is_not_read_on(api):
    api.world.add_artifact("reb-a", b"zip", served=b"z" * 40 * MIB)
    assert failure(api) == "download the artifact 'reb-a': it is larger than the limit of 1 MiB"


def test_an_artifact_that_expired_is_told(api):
    api.world.add_artifact("reb-a", expired=True)
    assert failure(api) == (
        "download the artifact 'reb-a': GitHub answered 410 \"Artifact has expired\": "
        "it has expired or is disabled"
    )


@pytest.mark.parametrize(
    "how", [{"how": "cut"}, {"how": "reset"}, {"status": 503}, {"status": 403}]
)
def test_a_store_that_breaks_is_asked_again_at_a_new_address(api, how):
    api.world.add_artifact("reb-a", b"z" * 1000)
    api.troubles.append(Trouble(verb="GET", path="store/", **how, times=2))
    assert download(api) == b"z" * 1000
    asked = [one.path for one in api.seen].count("/repos/octo/bench/actions/artifacts/101/zip")
    assert (asked, len(api.stored), api.clock.slept) == (3, 3, [1, 2])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"how": "reset"}, "no file (ConnectionError)"),
        ({"how": "cut"}, "no file (ChunkedEncodingError)"),
        ({"status": 403}, "no file (HTTPError 403)"),
    ],
)
def test_a_store_that_stays_broken_is_told_without_its_address(api, how, said):
    api.world.add_artifact("reb-a", b"z" * 1000)
    api.troubles.append(Trouble(verb="GET", path="store/", **how, times=99))
    assert failure(api) == f"download the artifact 'reb-a': {said}"


def test_a_store_that_points_elsewhere_is_not_followed(api):
    api.world.add_artifact("reb-a")
    headers = {"location": f"{api.url}/repos/octo/bench"}
    api.troubles.append(Trouble(verb="GET", path="store/", status=302, headers=headers))
    before = len(api.seen)
    assert failure(api) == "download the artifact 'reb-a': the store answered 302 without a file"
    assert [one.path.split("/")[-1] for one in api.seen[before:]] == ["artifacts", "zip"]


@pytest.mark.parametrize("address", ["ftp://store.sample/a", "file:///etc/passwd", "/etc/passwd"])
def test_an_address_of_another_kind_is_not_followed(api, address):
    api.world.add_artifact("reb-a")
    headers = {"location": address}
    api.troubles.append(Trouble(verb="GET", path="/zip", status=302, headers=headers))
    assert failure(api) == (
        "download the artifact 'reb-a': GitHub redirects to an address without https"
    )


def test_an_answer_without_an_address_is_told(api):
    api.world.add_artifact("reb-a")
    api.troubles.append(Trouble(verb="GET", path="/zip", status=200, text="{}"))
    assert failure(api) == "download the artifact 'reb-a': GitHub answered 200 without a redirect"


def test_it_works_on_an_enterprise_server(enterprise_api):
    enterprise_api.world.add_run(7, sha=SHA, repository=FORK)
    enterprise_api.world.add_pull(5, sha=SHA, repository=FORK)
    for number in range(101):
        enterprise_api.world.add_artifact(f"reb-{number}", run_id=7)
    assert (numbers(enterprise_api), download(enterprise_api)) == ([5], b"zip")
    assert client_of(enterprise_api).default_branch() == "main"
    assert {one.path[:8] for one in enterprise_api.seen} == {"/api/v3/"}
