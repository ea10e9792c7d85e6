"""Everything that GitHub or the network between answers instead of what was asked."""

import time
from dataclasses import replace
from itertools import pairwise

import pytest

from reb_action.errors import GitHubError
from reb_action.github.api.faults import Fault, Need, RefusedError
from reb_action.github.api.transport import Call
from reb_action.model.github import CheckRun, Comment, Conclusion, RunOrder
from tests.support.github_api.fixtures import client_of
from tests.support.github_api.server import Trouble
from tests.support.github_api.world import Identity

ORDER = RunOrder(run_id=7, attempt=1)
COMMENT = Comment(number=1, key="bench", order=ORDER, body="text")
CHECK = CheckRun(
    name="C0",
    head_sha="a" * 40,
    external_id="7.1.C0",
    conclusion=Conclusion.SUCCESS,
    title="t",
    summary="s",
)
GRANT = (
    "add it under `permissions:` of the job and of each workflow that calls it "
    "(for a fork's or Dependabot's pull request, let publish.yml write: docs/publishing.md)"
)


def trouble(api, verb="GET", path="/octo/bench", **more):
    api.troubles.append(Trouble(verb=verb, path=path, **more))


def error_of(action):
    with pytest.raises(GitHubError) as caught:
        action()
    return str(caught.value)


# What stays forbidden, however often one asks.

LACKING = {
    "pull_requests": (
        lambda client: client.comment(COMMENT),
        "write the comment on #1",
        "pull-requests: write",
    ),
    "checks": (lambda client: client.check_run(CHECK), "write the check run 'C0'", "checks: write"),
    "actions": (
        lambda client: client.artifacts(7),
        "list the artifacts of run 7",
        "actions: read",
    ),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_missing_permission_is_named_with_how_to_grant_it(api, name):
    action, what, permission = LACKING[name]
    levels = api.tokens["token"].permissions
    levels[name] = "read" if permission.endswith("write") else "none"
    assert error_of(lambda: action(client_of(api))) == (
        f'{what}: GitHub answered 403 "Resource not accessible by integration": '
        f"the token lacks `{permission}`; {GRANT}"
    )
    assert api.clock.slept == []


def test_another_permission_than_ours_is_named_as_github_says_it(api):
    headers = {"x-accepted-github-permissions": "issues=write; members=read"}
    trouble(api, status=403, message="Resource not accessible by integration", headers=headers)
    assert "the token lacks `issues: write`" in error_of(client_of(api).default_branch)


def test_what_github_says_is_not_believed_to_be_a_permission(api):
    headers = {"x-accepted-github-permissions": "`<b>`"}
    trouble(api, status=403, message="Resource not accessible by integration", headers=headers)
    assert "the token lacks `metadata: read`" in error_of(client_of(api).default_branch)


def test_a_permission_is_not_waited_for_when_the_limit_is_used_up_too(api):
    api.tokens["token"].permissions["pull_requests"] = "read"
    api.remaining = 3
    assert "lacks `pull-requests: write`" in error_of(lambda: client_of(api).comment(COMMENT))
    assert (api.remaining, api.clock.slept) == (0, [])


def test_a_personal_token_cannot_write_check_runs(api):
    api.tokens["token"] = Identity(login="ada", app=None)
    assert error_of(lambda: client_of(api).check_run(CHECK)) == (
        "write the check run 'C0': GitHub answered 403 "
        '"You must authenticate via a GitHub App.": '
        "only an app may write it; use the job's own github.token"
    )


ANSWERS = {
    "a token that is none": (
        {"status": 401, "message": "Bad credentials"},
        Fault.TOKEN,
        "the token is not valid or has expired; pass github.token",
    ),
    "single sign-on": (
        {
            "status": 403,
            "message": "Resource protected by organization SAML enforcement.",
            "headers": {"x-github-sso": "required; url=https://sso.sample/x"},
        },
        Fault.SSO,
        "authorize the token for the organization's single sign-on",
    ),
    "an archive": (
        {"status": 403, "message": "Repository was archived so is read-only."},
        Fault.FORBIDDEN,
        "a rule of the repository or organization forbids it",
    ),
    "an allow list of addresses": (
        {"status": 403, "message": "the `octo` organization has an IP allow list enabled"},
        Fault.FORBIDDEN,
        "a rule of the repository or organization forbids it",
    ),
    "a private repository": (
        {"status": 404, "message": "Not Found"},
        Fault.MISSING,
        f"it does not exist, or the token lacks `metadata: read`; {GRANT}",
    ),
    "something that is over": (
        {"status": 410, "message": "Issues are disabled for this repo"},
        Fault.GONE,
        "it has expired or is disabled",
    ),
    "a conflict": (
        {"status": 409, "message": "Git Repository is empty."},
        Fault.REFUSED,
        "GitHub rejected it",
    ),
    "a wrong request": (
        {"status": 422, "message": "Validation Failed"},
        Fault.REFUSED,
        "GitHub rejected it",
    ),
    "a law": (
        {"status": 451, "message": "Repository access blocked"},
        Fault.REFUSED,
        "GitHub rejected it",
    ),
    "a repository that was renamed": (
        {
            "status": 307,
            "message": "Moved",
            "headers": {"location": "http://127.0.0.1/repositories/1"},
        },
        Fault.MOVED,
        "it has moved; correct the repository's name or the API's URL",
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_is_final_is_told_once(api, name):
    answer, fault, reason = ANSWERS[name]
    trouble(api, **answer)
    with pytest.raises(RefusedError) as caught:
        client_of(api).default_branch()
    said = f'GitHub answered {answer["status"]} "{answer["message"]}"'
    assert str(caught.value) == f"read the repository: {said}: {reason}"
    assert (caught.value.fault, caught.value.status) == (fault, answer["status"])
    assert (len(api.seen), api.clock.slept) == (1, [])


def test_a_locked_conversation_is_forbidden(api):
    api.world.locked.add(1)
    assert error_of(lambda: client_of(api).comment(COMMENT)) == (
        "write the comment on #1: GitHub answered 403 "
        '"Unable to create comment because issue is locked.": '
        "a rule of the repository or organization forbids it"
    )


def test_a_message_cannot_speak_to_the_runner(api):
    trouble(api, status=422, message="x\r\n::error::y\x1b[31m" + "z" * 200)
    said = error_of(client_of(api).default_branch)
    assert said.startswith(
        'read the repository: GitHub answered 422 "x\ufffd\ufffd::error::y\ufffd['
    )
    assert said.endswith('z…": GitHub rejected it')
    assert "\n" not in said


# Limits, which pass.

BLOCKED = "You have exceeded a secondary rate limit and have been temporarily blocked."
WAITS = {
    "secondary, with the seconds": (
        {"status": 403, "message": BLOCKED, "headers": {"retry-after": "7"}},
        [7],
    ),
    "secondary, without": ({"status": 403, "message": BLOCKED}, [60]),
    "secondary, twice": ({"status": 403, "message": BLOCKED, "times": 2}, [60, 120]),
    "abuse, as it was called": (
        {"status": 403, "message": "You have triggered an abuse detection mechanism."},
        [60],
    ),
    "too many, with the seconds": ({"status": 429, "headers": {"retry-after": "9"}}, [9]),
    "too many, without": ({"status": 429}, [60]),
    "too many, with a date for the seconds": (
        {"status": 429, "headers": {"retry-after": "Thu, 01 Jan 2026 00:00:00 GMT"}},
        [60],
    ),
}


@pytest.mark.parametrize("name", WAITS)
def test_a_limit_is_waited_for_as_documented(api, name):
    answer, slept = WAITS[name]
    trouble(api, **answer)
    assert client_of(api).default_branch() == "main"
    assert api.clock.slept == slept


@pytest.mark.parametrize("status", [403, 429])
def test_no_request_remaining_is_the_primary_limit_whatever_is_said(api, status):
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(api.clock()) + 30)}
    trouble(api, status=status, message="Forbidden", headers=headers)
    assert client_of(api).default_branch() == "main"
    assert api.clock.slept == [30]


def test_the_primary_limit_is_waited_for_until_its_reset(api):
    api.remaining, api.reset = 0, api.clock() + 90
    assert client_of(api).default_branch() == "main"
    assert api.clock.slept == [90]


def test_a_reset_is_told_by_the_servers_clock(api):
    """A runner whose clock is 10 minutes fast would not wait at all."""
    api.remaining, api.reset = 0, api.clock() + 90
    ahead = client_of(api)
    ahead._transport.budget.now = lambda: api.clock() + 600
    assert ahead.default_branch() == "main"
    assert api.clock.slept == [90]


def test_a_reset_that_is_over_is_waited_for_a_second(api):
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(api.clock()) - 5)}
    trouble(api, status=403, message="API rate limit exceeded for user ID 1.", headers=headers)
    assert client_of(api).default_branch() == "main"
    assert api.clock.slept == [1]


def test_a_limit_of_24_minutes_is_not_waited_for(api):
    """EnricoMi/publish-unit-test-result-action#170: a run slept as long."""
    api.remaining, api.reset = 0, api.clock() + 24 * 60
    assert error_of(client_of(api).default_branch) == (
        "read the repository: rate limited: GitHub asks to wait 1440 s, and only 300 s of "
        "300 s are left; run the job again later"
    )
    assert (len(api.seen), api.clock.slept) == (1, [])


def test_waiting_time_is_shared_by_all_requests_of_a_client(api):
    trouble(api, status=429, headers={"retry-after": "100"}, times=3)
    client = client_of(api, waiting_seconds=250)
    assert "asks to wait 100 s, and only 50 s of 250 s" in error_of(client.default_branch)
    assert api.clock.slept == [100, 100]


def test_a_limit_that_never_passes_ends(api):
    trouble(api, status=429, headers={"retry-after": "0"}, times=99)
    assert error_of(client_of(api).default_branch) == (
        "read the repository: GitHub answered 429: rate limit exceeded; run the job again later"
    )
    assert (len(api.seen), api.clock.slept) == (5, [0, 0, 0, 0])


def test_a_comment_that_came_too_fast_is_written_later(api):
    trouble(api, "POST", "/comments", status=422, message="was submitted too quickly")
    client_of(api).comment(COMMENT)
    assert ([one["number"] for one in api.world.comments.values()], api.clock.slept) == ([1], [60])


def test_requests_have_a_budget(api):
    client = client_of(api, requests=2)
    assert [client.default_branch(), client.default_branch()] == ["main", "main"]
    assert error_of(client.default_branch) == (
        "read the repository: 2 requests were made, which is the limit here: other jobs of the "
        "repository need the rest of its hourly limit"
    )
    assert len(api.seen) == 2


def write_comments(api, count, **pacing):
    """Write so many comments, each to an issue of its own."""
    client = client_of(api, **pacing)
    api.world.issues |= set(range(1, count + 1))
    for number in range(1, count + 1):
        client.comment(replace(COMMENT, number=number), author="me")
    assert len(api.world.comments) == count


def test_writes_keep_their_distance(api):
    """80 in a minute are allowed: at 0.8 s nobody ever has to wait for more."""
    write_comments(api, 100, between_writes=0.8)
    at = [one.at for one in api.seen if one.verb == "POST"]
    assert min(b - a for a, b in pairwise(at)) == pytest.approx(0.8)
    assert api.clock.slept == pytest.approx([0.8] * 99)


def test_without_distance_the_81st_write_waits_a_minute(api):
    write_comments(api, 81)
    assert api.clock.slept == [60]


# What breaks between.

BROKEN = {
    "a bad gateway": {"status": 502, "message": "Server Error"},
    "an unavailable service": {"status": 503, "text": "<html>Unicorn!</html>"},
    "a connection that is reset": {"how": "reset"},
    "an answer that is cut off": {"how": "cut"},
    "half a JSON document": {"how": "half"},
    "a page of HTML": {"status": 200, "text": "<html>Log in</html>"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_read_is_repeated_where_no_answer_came(api, name):
    trouble(api, **BROKEN[name], times=3)
    assert client_of(api).default_branch() == "main"
    assert (len(api.seen), api.clock.slept) == (4, [1, 2, 4])


FINAL = {
    "a bad gateway": ('GitHub answered 502 "Server Error": server error; run the job again later'),
    "an unavailable service": "GitHub answered 503: server error; run the job again later",
    "a connection that is reset": "no answer (ConnectionError)",
    "an answer that is cut off": "no answer (ChunkedEncodingError)",
    "half a JSON document": "no answer (NotJsonError)",
    "a page of HTML": "no answer (NotJsonError)",
}


@pytest.mark.parametrize("name", FINAL)
def test_a_read_is_given_up_after_three_repetitions(api, name):
    trouble(api, **BROKEN[name], times=99)
    assert error_of(client_of(api).default_branch) == f"read the repository: {FINAL[name]}"
    assert len(api.seen) == 4


def test_a_server_that_says_nothing_is_not_waited_for_long(api):
    trouble(api, how="meanwhile", action=lambda: time.sleep(1.5))
    assert client_of(api, request_seconds=1).default_branch() == "main"
    assert api.clock.slept == [1]


@pytest.mark.parametrize("how", ["lost", "cut", "half"])
def test_a_comment_whose_answer_got_lost_is_not_written_twice(api, how):
    trouble(api, "POST", "/comments", how=how)
    assert client_of(api).comment(COMMENT).effect == "unchanged"
    assert [verb for verb, _ in api.writes()] == ["POST"]


@pytest.mark.parametrize("broken", [{"status": 502}, {"how": "reset"}])
def test_a_comment_that_did_not_arrive_is_written_after_looking(api, broken):
    trouble(api, "POST", "/comments", **broken)
    assert client_of(api).comment(COMMENT).effect == "created"
    verbs = [one.verb for one in api.seen if "comments" in one.path]
    assert (verbs, len(api.world.comments)) == (["GET", "POST", "GET", "POST", "GET"], 1)


def test_a_write_that_never_arrives_ends(api):
    trouble(api, "POST", "/comments", how="reset", times=99)
    said = error_of(lambda: client_of(api).comment(COMMENT))
    assert said == "write the comment on #1: no answer (ConnectionError)"
    assert (len(api.writes()), api.clock.slept) == (4, [1, 2, 4])


def test_a_check_run_whose_answer_got_lost_is_not_written_twice(api):
    trouble(api, "POST", "/check-runs", how="lost")
    assert client_of(api).check_run(CHECK).effect == "unchanged"
    assert (len(api.writes()), len(api.world.checks)) == (1, 1)


# Where the token goes.


def test_a_redirect_to_another_host_is_not_followed(api):
    trouble(api, status=301, headers={"location": f"{api.store}/repos/octo/bench"})
    assert error_of(client_of(api).default_branch) == (
        "read the repository: GitHub redirects to another host; not followed, because the"
        " request has a token"
    )
    assert (len(api.seen), api.stored) == (1, [])


def test_a_redirect_on_the_same_host_is_followed(api):
    """A repository that was renamed: GitHub names it by its number."""
    trouble(api, status=301, headers={"location": f"{api.url}/repositories/1/pulls"})
    client_of(api)._transport.send(call_of("/repos/octo/bench/pulls"))
    assert [one.path for one in api.seen] == ["/repos/octo/bench/pulls", "/repositories/1/pulls"]


def call_of(path):
    return Call(path=path, what="x", need=Need.PULLS_READ)


def test_a_further_page_is_asked_for_where_the_first_one_was(api):
    link = f'<{api.store}/repos/octo/bench/issues/1/comments?page=2>; rel="next"'
    trouble(api, path="/comments", status=200, text="[]", headers={"link": link})
    client_of(api).comment(COMMENT)
    assert [one.query.get("page") for one in api.seen if one.verb == "GET"][:2] == [None, "2"]
    assert api.stored == []


def test_the_token_is_in_no_message(api):
    secret = "ghs_" + "s3cr3t" * 6
    api.tokens = {}
    client = client_of(api, token=secret)
    assert secret not in error_of(client.default_branch)
    trouble(api, how="reset", times=99)
    assert secret not in error_of(client.default_branch)
    assert [one.headers["authorization"] for one in api.seen] == [f"token {secret}"] * 5


def test_an_answer_of_another_shape_is_an_error(api):
    trouble(api, "POST", "/graphql", status=200, text='{"errors": [{"message": "no"}]}')
    assert error_of(client_of(api).login) == (
        "GitHub's answer has no text at data.viewer.login; check GITHUB_API_URL"
    )


def test_a_list_without_end_ends(api):
    link = f'<{api.url}/repos/octo/bench/issues/1/comments?page=2>; rel="next"'
    trouble(api, path="/comments", status=200, text="[]", headers={"link": link}, times=200)
    assert error_of(lambda: client_of(api).comment(COMMENT)) == (
        "write the comment on #1: GitHub lists more than 10000 items, which is the limit"
    )


def test_such_an_error_has_an_exit_code_of_its_own():
    assert GitHubError.exit_code == 10
