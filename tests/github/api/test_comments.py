"""The sticky comment: found wherever it stands, by marker and author, and never set back."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from reb_action.github.api import comments
from reb_action.github.api.comments import marker
from reb_action.github.api.faults import RefusedError
from reb_action.model.github import (
    COMMENT_CHARACTERS,
    MARKER_CHARACTERS,
    Comment,
    RunOrder,
    Written,
)
from tests.support.github_api.fixtures import client_of
from tests.support.github_api.server import Trouble
from tests.support.github_api.world import Identity

BOT = "github-actions[bot]"
OLD, NEW = RunOrder(run_id=7, attempt=1), RunOrder(run_id=9, attempt=1)


def comment(body="text", *, key="bench", order=OLD, number=1):
    return Comment(number=number, key=key, order=order, body=body)


def bodies(api, login=BOT):
    return [one["body"] for one in api.world.comments.values() if one["login"] == login]


def whole(text, order):
    """Return a comment with its marker above and below."""
    return f"{marker('bench', order)}\n{text}\n{marker('bench', order)}"


def test_a_comment_starts_with_its_marker(api):
    written = client_of(api).comment(comment("text"))
    assert bodies(api) == [whole("text", OLD)]
    url = "https://github.sample/octo/bench/pull/1#issuecomment-101"
    assert written == Written(effect="created", url=url)


def test_a_newer_run_writes_into_the_same_comment(api):
    client_of(api).comment(comment("old"))
    assert client_of(api).comment(comment("new", order=NEW)).effect == "updated"
    assert bodies(api) == [whole("new", NEW)]


def test_two_workflows_with_one_key_have_a_comment_each_and_a_warning(api):
    """They overwrote each other silently."""
    agent, nightly = (
        replace(comment(name), workflow=f".github/workflows/{name}.yml")
        for name in ("agent", "nightly")
    )
    first = client_of(api).comment(agent)
    second = client_of(api).comment(replace(nightly, order=NEW))
    assert (first.effect, first.warning, second.effect) == ("created", "", "created")
    assert second.warning == (
        "the workflow .github/workflows/agent.yml comments on #1 with the same key 'bench':"
        f" {first.url}; set the input `key` of one of the two workflows"
    )
    again = client_of(api).comment(replace(agent, body="again", order=replace(OLD, attempt=2)))
    assert (again.effect, again.url) == ("updated", first.url)
    assert "workflow .github/workflows/nightly.yml comments on #1" in again.warning
    assert [body.split("\n")[1] for body in bodies(api)] == ["again", "nightly"]


def test_a_comment_without_a_workflow_becomes_that_of_the_one_that_writes_it(api):
    old = client_of(api).comment(comment("old"))
    own = replace(comment("new", order=NEW), workflow=".github/workflows/agent.yml")
    assert client_of(api).comment(own) == replace(old, effect="updated")
    assert "workflow=.github/workflows/agent.yml -->" in bodies(api)[0]


def test_the_same_again_writes_nothing(api):
    client_of(api).comment(comment("text"))
    assert client_of(api).comment(comment("text")).effect == "unchanged"
    assert len(api.writes()) == 1


@pytest.mark.parametrize(
    "late", [OLD, RunOrder(run_id=7, attempt=3), RunOrder(run_id=9, attempt=0)]
)
def test_an_older_run_that_ends_later_writes_nothing(api, late):
    """vuphongle/oss-pr-reviewer#21; a re-run of the old run is old still."""
    newer = client_of(api).comment(comment("new", order=NEW))
    written = client_of(api).comment(comment("old", order=late))
    assert written == Written(effect="outdated", url=newer.url)
    assert bodies(api) == [whole("new", NEW)]


def test_a_second_attempt_is_newer_than_the_first(api):
    client_of(api).comment(comment("first"))
    again = client_of(api).comment(comment("second", order=RunOrder(run_id=7, attempt=2)))
    assert (again.effect, bodies(api)[0].split("\n")[1]) == ("updated", "second")


@pytest.mark.parametrize(("position", "pages"), [(1, 1), (31, 1), (101, 2), (300, 3), (301, 4)])
def test_it_is_found_at_any_position(api, position, pages):
    """py-cov-action reads the first page only."""
    for _ in range(position - 1):
        api.world.add_comment("chatter")
    api.world.add_comment(f"{marker('bench', OLD)}\nold", login=BOT)
    assert client_of(api).comment(comment("new", order=NEW)).effect == "updated"
    listed = [one for one in api.seen if one.verb == "GET"]
    assert (len(listed), len(api.world.comments)) == (pages, position)


@pytest.mark.parametrize("mine_first", [True, False])
def test_somebody_elses_marker_is_not_ours(api, mine_first):
    """marocchino/sticky-pull-request-comment, PR 332."""
    spoofed = f"{marker('bench', RunOrder(run_id=10**15, attempt=1))}\nall passed"
    writers = [("mallory", spoofed), (BOT, f"{marker('bench', OLD)}\nold")]
    for login, body in reversed(writers) if mine_first else writers:
        api.world.add_comment(body, login=login)
    assert client_of(api).comment(comment("new", order=NEW)).effect == "updated"
    assert bodies(api) == [whole("new", NEW)]
    assert bodies(api, "mallory") == [spoofed]


@pytest.mark.parametrize(
    "body",
    [
        f"quoted: {marker('bench', NEW)}",
        f"\n{marker('bench', NEW)}\ntext",
        f"{marker('bench', NEW)} and more",
        f"{marker('other', NEW)}\ntext",
        "<!-- researchenvbench:v2 key=bench run=9 attempt=1 -->\ntext",
        "<!-- researchenvbench:v1 key=bench run=9999999999999999999999 attempt=1 -->\ntext",
        "",
    ],
)
def test_our_own_comments_without_the_marker_on_top_are_left_alone(api, body):
    api.world.add_comment(body, login=BOT)
    assert client_of(api).comment(comment("new")).effect == "created"
    assert bodies(api) == [body, whole("new", OLD)]


def test_lines_that_were_edited_in_a_browser_are_read_as_ours(api):
    text = whole("old", OLD).replace("\n", "\r\n")
    api.world.add_comment(text, login=BOT)
    assert client_of(api).comment(comment("old")).effect == "unchanged"


def test_a_comment_whose_author_is_gone_is_nobodys(api):
    api.world.add_comment(f"{marker('bench', NEW)}\ntext", login=None)
    assert client_of(api).comment(comment("mine")).effect == "created"


def test_two_benchmarks_have_two_comments(api):
    client_of(api).comment(comment("one", key="one"))
    client_of(api).comment(comment("two", key="two"))
    assert [body.split("\n")[1] for body in bodies(api)] == ["one", "two"]


@pytest.mark.parametrize(
    ("login", "app"), [(BOT, "github-actions"), ("bench-app[bot]", "bench-app"), ("ada", None)]
)
def test_every_kind_of_token_finds_its_own_comment(api, login, app):
    """aryamthecodebreaker/FixMap#77: an assumed author appends one comment a push."""
    api.tokens["token"] = Identity(login=login, app=app)
    effects = [client_of(api).comment(comment("text", order=order)).effect for order in (OLD, NEW)]
    assert (effects, len(bodies(api, login))) == (["created", "updated"], 1)


def test_an_author_that_is_given_is_not_asked_for(api):
    client_of(api).comment(comment(), author=BOT)
    assert not any(one.path == "/graphql" for one in api.seen)


def test_writers_that_race_end_with_one_comment(api, monkeypatch):
    """langfuse/experiment-action#78; all look before the first one writes."""
    together, create = Barrier(8, timeout=60), comments._create
    monkeypatch.setattr(comments, "_create", lambda *args: (together.wait(), create(*args))[1])

    def write(number):
        order = RunOrder(run_id=7, attempt=number + 1)
        return client_of(api).comment(comment("text", order=order), author=BOT).effect

    with ThreadPoolExecutor(8) as pool:
        effects = list(pool.map(write, range(8)))
    assert effects.count("created") == 1
    assert list(api.world.comments) == [101]


def test_an_older_run_that_loses_the_race_takes_its_comment_back(api):
    api.world.add_comment(f"{marker('bench', NEW)}\nnew", login=BOT)
    api.troubles.append(Trouble(verb="GET", path="/comments", status=200, text="[]"))
    assert client_of(api).comment(comment("old")).effect == "outdated"
    assert bodies(api) == [f"{marker('bench', NEW)}\nnew"]


def test_what_a_race_left_behind_is_cleared_at_the_next_write(api):
    for order in (OLD, RunOrder(run_id=8, attempt=1)):
        api.world.add_comment(f"{marker('bench', order)}\ntext", login=BOT)
    api.world.add_comment(f"{marker('bench', OLD)}\ntext", login="mallory")
    assert client_of(api).comment(comment("new", order=NEW)).effect == "updated"
    assert sorted(api.world.comments) == [101, 103]


def test_a_copy_that_is_gone_already_does_not_matter(api):
    for _ in range(2):
        api.world.add_comment(f"{marker('bench', OLD)}\ntext", login=BOT)
    gone = lambda: api.world.comments.pop(102)  # noqa: E731
    api.troubles.append(Trouble(verb="DELETE", path="/102", how="meanwhile", action=gone))
    assert client_of(api).comment(comment("new", order=NEW)).effect == "updated"


@pytest.mark.parametrize("letter", ["x", "é", "\N{GRINNING FACE}"])
def test_a_body_at_the_limit_is_counted_in_characters(api, letter):
    most = COMMENT_CHARACTERS - 2 * (len(marker("bench", OLD)) + 1)
    assert client_of(api).comment(comment(letter * most)).effect == "created"
    with pytest.raises(RefusedError) as caught:
        client_of(api).comment(comment(letter * (most + 1), order=NEW))
    assert str(caught.value) == (
        'write the comment on #1: GitHub answered 422 "Body is too long '
        '(maximum is 65536 characters)": GitHub rejected it'
    )


def test_the_longest_marker_leaves_what_is_promised():
    longest = marker("k" * 64, RunOrder(run_id=10**20 - 1, attempt=10**9 - 1), "w" * 160)
    assert 2 * (len(longest) + 1) == 622 <= MARKER_CHARACTERS


def test_an_issue_that_does_not_exist_is_told(api):
    with pytest.raises(RefusedError, match=r"^write the comment on #404: GitHub answered 404"):
        client_of(api).comment(comment(number=404))


def test_it_works_on_an_enterprise_server(enterprise_api):
    effects = [client_of(enterprise_api).comment(comment("x", order=o)).effect for o in (OLD, NEW)]
    assert effects == ["created", "updated"]
    paths = {one.path for one in enterprise_api.seen}
    assert paths == {
        "/api/graphql",
        "/api/v3/repos/octo/bench/issues/1/comments",
        "/api/v3/repos/octo/bench/issues/comments/101",
    }


def test_without_create_a_comment_is_brought_up_to_date_and_none_is_made(api):
    client = client_of(api)
    quiet = replace(comment("news"), create=False)
    assert client.comment(quiet) == Written(effect="unwanted", url="")
    client.comment(comment("old"))
    assert client.comment(quiet).effect == "updated"
    assert [body.split("\n")[1] for body in bodies(api)] == ["news"]


def test_a_comment_whose_first_line_was_removed_is_still_ours(api):
    client_of(api).comment(comment("old"))
    (only,) = api.world.comments.values()
    only["body"] = only["body"].split("\n", 1)[1]
    assert client_of(api).comment(comment("new", order=NEW)).effect == "updated"
    assert bodies(api) == [whole("new", NEW)]


def test_a_comment_that_is_deleted_between_read_and_write_is_made_again(api, monkeypatch):
    client_of(api).comment(comment("old"))
    settle = comments._settle

    def delete_first(*arguments, **named):
        api.world.comments.clear()
        monkeypatch.setattr(comments, "_settle", settle)
        return settle(*arguments, **named)

    monkeypatch.setattr(comments, "_settle", delete_first)
    assert client_of(api).comment(comment("new", order=NEW)).effect == "created"
    assert bodies(api) == [whole("new", NEW)]
