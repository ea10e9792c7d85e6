"""`reb publish` as a step runs it: what it prints, its outputs, its exit code."""

import json

import pytest
from click.testing import CliRunner

from reb_action.cli.main import cli
from reb_action.errors import GitHubError, UsageError
from reb_action.model.github import Pacing
from tests.support.github_api.world import Identity
from tests.support.runs import SHA, VIM, environ, made, pull_request, upload


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Nobody waits between writes."""
    monkeypatch.setattr("reb_action.github.api.client.Pacing", lambda: Pacing(between_writes=0))


def reb(env, *argv):
    """Return the result of `reb publish`; the environment is all that it gets."""
    return CliRunner(env=env).invoke(cli, ["publish", *argv], catch_exceptions=True)


def step(api, tmp_path, **more):
    """Return the environment of the step that publishes a run's own results."""
    folder = made(tmp_path / "run", [VIM])
    return {
        **environ(api, tmp_path, "pull_request", pull_request()),
        "REB_TOKEN": "token",
        "REB_PLAN": str(folder / "plan.json"),
        "REB_ARTIFACTS": str(folder / "artifacts"),
        "REB_COMMENT": "always",
        "REB_CHECKS": "levels",
        "REB_LEADERBOARD": "true",
        **more,
    }


def outputs(tmp_path):
    lines = (tmp_path / "output").read_text().splitlines()
    return {lines[n].split("<<")[0]: lines[n + 1] for n in range(0, len(lines), 3)}


def test_writes_are_told_and_given_as_outputs(api, tmp_path):
    done = reb(step(api, tmp_path))
    lines = done.output.splitlines()
    assert done.exit_code == 0
    assert len(lines) == 8
    assert lines[6].startswith("comment on #1: created https://github.sample/octo/bench/pull/1#")
    assert outputs(tmp_path) == {
        "published": "true",
        "comment-url": lines[6].split()[-1],
        "leaderboard-url": "",
    }


def test_fork_is_told_and_published_is_false(api, tmp_path):
    env = step(api, tmp_path)
    (tmp_path / "event.json").write_text(json.dumps(pull_request(head="stranger/bench")))
    done = reb(env)
    assert (done.exit_code, outputs(tmp_path)["published"]) == (0, "false")
    assert done.output == (
        "Skipped: tokens for fork pull requests are read-only; use publish.yml.\n"
    )


def without(api, permission):
    identity = Identity()
    del identity.permissions[permission]
    api.tokens["token"] = identity


@pytest.mark.parametrize(("mode", "code"), [("warn", 0), ("fail", 1)])
def test_refused_write_is_a_warning_and_fails_where_asked(api, tmp_path, mode, code):
    without(api, "checks")
    done = reb(step(api, tmp_path, REB_ON_WRITE_FAULT=mode))
    assert done.exit_code == code
    assert isinstance(done.exception, GitHubError) is (mode == "fail")
    warnings = [line for line in done.output.splitlines() if line.startswith("::warning ")]
    assert len(warnings) == 1
    assert "the token lacks `checks: write`; add it under `permissions:`" in warnings[0]
    assert outputs(tmp_path)["published"] == "false"
    assert len(api.world.comments) == 1


def test_another_run_is_named_by_its_id_alone(api, tmp_path):
    upload(api, made(tmp_path / "run", [VIM]))
    api.world.add_run(7, sha=SHA)
    api.world.add_pull(5, sha=SHA)
    env = {**environ(api, tmp_path, "workflow_run"), "REB_TOKEN": "token", "REB_RUN_ID": "7"}
    assert reb({**env, "REB_COMMENT": "always"}).exit_code == 0
    assert {one["number"] for one in api.world.comments.values()} == {5}


@pytest.mark.parametrize("mode", ["warn", "fail"])
def test_run_that_cannot_be_read_is_10_whatever_a_write_fault_does(api, tmp_path, mode):
    """Of the run 7 there is nothing; of the run 8 there is no plan."""
    api.world.add_run(8, sha=SHA)
    for run in "78":
        env = {**environ(api, tmp_path, "workflow_run"), "REB_TOKEN": "token", "REB_RUN_ID": run}
        done = reb({**env, "REB_ON_WRITE_FAULT": mode})
        assert (type(done.exception), done.exception.exit_code) == (GitHubError, 10)
        assert done.output.count("::warning ") == 1
        assert outputs(tmp_path)["published"] == "false"


WRONG = {
    # what is wrong: the words of the refusal
    "key": ({"REB_KEY": "Bench_1"}, "--key is 'Bench_1'; use at most 40 of a-z, 0-9 and -"),
    "neither": ({"REB_PLAN": ""}, "give --plan and --artifacts of this run, or --run-id"),
    "token": ({"REB_TOKEN": ""}, "no token to write with"),
    "levels": ({"REB_LEVELS": "C9"}, 'there is no level "C9"; the levels are C0'),
    "no-level": ({"REB_LEVELS": ","}, "--levels is empty; the levels are C0"),
    "fail-on": ({"REB_FAIL_ON": "sometimes"}, "fail-on is 'sometimes'; use never, invalid"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_one_line_before_anything_is_asked(api, tmp_path, case):
    env, words = WRONG[case]
    done = reb(step(api, tmp_path, **env))
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith(words)
    assert api.seen == []


@pytest.mark.parametrize(
    "name", ["REB_COMMENT", "REB_CHECKS", "REB_ON_WRITE_FAULT", "REB_LEADERBOARD"]
)
def test_value_that_is_not_known_is_refused(api, tmp_path, name):
    done = reb(step(api, tmp_path, **{name: "sometimes"}))
    assert done.exit_code == 2
    assert "'sometimes' is not" in done.output
    assert api.seen == []


def test_token_is_in_nothing_that_is_printed(api, tmp_path):
    api.tokens["ghs_secret"] = Identity()
    without(api, "checks")
    done = reb(step(api, tmp_path, REB_TOKEN="ghs_secret"))
    assert "ghs_secret" not in done.output + json.dumps(outputs(tmp_path))
