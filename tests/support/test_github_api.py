"""The loopback GitHub itself: what GitHub refuses it refuses, and wrong answers of its own show."""

import github
import pytest
import requests

from tests.support.github_api import describe
from tests.support.github_api.contract import schema_of
from tests.support.github_api.fixtures import serve

REPOSITORY = "/repos/octo/bench"
SHA = "a" * 40
CHECK = {"name": "C0", "head_sha": SHA, "status": "completed", "conclusion": "success"}
OUTPUT = {"title": "t", "summary": "s"}
NOTE = {
    "path": "a.py",
    "start_line": 1,
    "end_line": 1,
    "annotation_level": "warning",
    "message": "m",
}


def ask(api, verb, path, body=None, token="token"):
    return requests.request(
        verb,
        f"{api.url}{REPOSITORY}{path}",
        json=body,
        headers={"Authorization": f"Bearer {token}"},
        timeout=10,
    )


def refusal(api, verb, path, body):
    """Return what was answered, and forget the complaint that a test is about."""
    answer = ask(api, verb, path, body)
    api.refused.clear()
    return answer.status_code, answer.json()["message"]


WRONG_CHECKS = {
    "51 annotations": {"output": OUTPUT | {"annotations": [NOTE] * 51}},
    "a conclusion that is none": {"conclusion": "fine"},
    "a level that is none": {
        "output": OUTPUT | {"annotations": [NOTE | {"annotation_level": "x"}]}
    },
    "an annotation that says nothing": {
        "output": OUTPUT | {"annotations": [{k: NOTE[k] for k in NOTE if k != "message"}]}
    },
    "an output without a summary": {"output": {"title": "t"}},
    "a summary of 65,536 characters": {"output": OUTPUT | {"summary": "x" * 65_536}},
    "a misspelt field": {"conclusions": "success"},
    "a misspelt field of the output": {"output": OUTPUT | {"anotations": []}},
    "a number for a text": {"external_id": 7},
}


@pytest.mark.parametrize("wrong", WRONG_CHECKS.values(), ids=WRONG_CHECKS)
def test_a_check_run_against_the_description_is_refused(api, wrong):
    status, message = refusal(api, "POST", "/check-runs", CHECK | wrong)
    assert (status, message[:16], api.world.checks) == (422, "Invalid request.", {})


OWN_RULES = {
    "conclusion is required for a completed check run": {
        "name": "C0",
        "head_sha": SHA,
        "status": "completed",
    },
    "summary exceeds a maximum bytesize of 65535": CHECK
    | {"output": OUTPUT | {"summary": "é" * 32_768}},
    "text exceeds a maximum bytesize of 65535": CHECK | {"output": OUTPUT | {"text": "é" * 32_768}},
    "message exceeds a maximum bytesize of 64000": CHECK
    | {"output": OUTPUT | {"annotations": [NOTE | {"message": "x" * 64_001}]}},
    "title is too long (maximum is 255 characters)": CHECK
    | {"output": OUTPUT | {"annotations": [NOTE | {"title": "x" * 256}]}},
}


@pytest.mark.parametrize("message", OWN_RULES)
def test_what_the_description_lacks_is_a_rule_of_ours(api, message):
    assert refusal(api, "POST", "/check-runs", OWN_RULES[message]) == (422, message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"body": "x" * 65_537}, "Body is too long (maximum is 65536 characters)"),
        ({"body": " \n"}, "Body cannot be blank"),
        ({}, "Invalid request. body: 'body' is a required property"),
        ({"body": "x", "text": "y"}, "Invalid request. body.text is unknown"),
    ],
)
def test_a_wrong_comment_is_refused(api, body, message):
    assert refusal(api, "POST", "/issues/1/comments", body) == (422, message)


def test_a_right_check_run_is_kept(api):
    answer = ask(api, "POST", "/check-runs", CHECK | {"output": OUTPUT | {"annotations": [NOTE]}})
    assert (answer.status_code, answer.json()["output"]["annotations_count"]) == (201, 1)


def test_an_unknown_parameter_is_refused(api):
    assert refusal(api, "GET", "/pulls?heads=octo:x", None) == (
        422,
        "Invalid request. unknown parameter heads",
    )


@pytest.mark.parametrize(("token", "status"), [("token", 200), ("other", 401)])
def test_only_known_tokens_are_served(api, token, status):
    assert ask(api, "GET", "", token=token).status_code == status


def test_an_address_that_is_not_described_is_our_fault(api):
    assert ask(api, "GET", "/teapot").status_code == 404
    assert api.faults == [f"GET {REPOSITORY}/teapot is not described"]
    api.faults.clear()


def test_an_answer_that_departs_from_the_description_is_our_fault(api):
    made = api.world.add_comment("text")
    made["body"] = 7
    ask(api, "GET", f"/issues/comments/{made['id']}")
    (fault,) = api.faults
    assert fault == (
        "GET /repos/{owner}/{repo}/issues/comments/{comment_id} 200.body: 7 is not of type 'string'"
    )
    api.faults.clear()


@pytest.mark.parametrize(
    ("query", "count", "more"),
    [("", 30, True), ("?per_page=100", 100, True), ("?per_page=500&page=2", 5, False)],
)
def test_pages_are_as_long_as_on_github(api, query, count, more):
    for _ in range(105):
        api.world.add_comment("text")
    answer = ask(api, "GET", f"/issues/1/comments{query}")
    assert (len(answer.json()), "next" in answer.links) == (count, more)


def test_the_81st_comment_of_a_minute_is_a_secondary_limit(api):
    answers = [ask(api, "POST", "/issues/1/comments", {"body": "x"}) for _ in range(81)]
    assert [one.status_code for one in answers] == [201] * 80 + [403]
    assert answers[-1].headers["retry-after"] == "60"


def test_the_1001st_request_of_an_hour_is_the_primary_limit(api):
    api.remaining = 1
    answers = [ask(api, "GET", "") for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 403]
    assert answers[-1].headers["x-ratelimit-remaining"] == "0"
    api.clock.sleep(3600)
    assert ask(api, "GET", "").status_code == 200


def test_an_enterprise_server_has_its_own_path_and_no_limits(enterprise_api):
    answer = ask(enterprise_api, "GET", "")
    assert enterprise_api.url.endswith("/api/v3")
    assert (answer.status_code, "x-ratelimit-limit" in answer.headers) == (200, False)


def test_objects_of_pygithub_work_against_it(api):
    """PyGithub checks types by itself: a second reader of every answer."""
    server = github.Github(base_url=api.url, auth=github.Auth.Token("token"), retry=None)
    repository = server.get_repo("octo/bench")
    api.world.add_pull(5, sha=SHA)
    check = repository.create_check_run("C0", SHA, status="completed", conclusion="success")
    check.edit(output=OUTPUT | {"annotations": [NOTE]})
    assert [one.message for one in check.get_annotations()] == ["m"]
    assert [one.number for one in repository.get_pulls(state="open")] == [5]


def test_null_is_added_where_nullable_says_so():
    nullable = {"type": "string", "enum": ["a"], "nullable": True, "example": "a"}
    assert schema_of(nullable) == {"type": ["string", "null"], "enum": ["a", None]}
    assert schema_of({"$ref": "#/x", "nullable": True}) == {
        "anyOf": [{"$ref": "#/x"}, {"type": "null"}]
    }
    assert schema_of({"properties": {"nullable": {"type": "boolean"}}}) == {
        "properties": {"nullable": {"type": "boolean"}}
    }


@pytest.mark.parametrize(
    ("asked", "outcome"),
    [("", pytest.skip.Exception), ("required", pytest.fail.Exception)],
)
def test_without_the_description_nothing_is_served(monkeypatch, tmp_path, asked, outcome):
    monkeypatch.setenv("REB_CACHE", str(tmp_path))
    monkeypatch.setenv("REB_DESCRIPTION", asked)
    with pytest.raises(
        outcome, match=r"not here: \.venv/bin/python tests/support/github_api/describe\.py$"
    ):
        serve("github").__enter__()


def test_a_package_that_is_not_the_pinned_one_ends_the_script(tmp_path, monkeypatch):
    monkeypatch.setattr(describe, "INTEGRITY", "sha512-other")
    monkeypatch.setattr(describe.subprocess, "run", lambda *_, cwd, **__: (cwd / "x.tgz").touch())
    with pytest.raises(SystemExit, match="is not the file that is pinned here: sha512-z4PhN"):
        describe.fetch(tmp_path)
