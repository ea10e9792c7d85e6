"""The board remembers: runs out of order, at once and repaired, against a real git remote."""

import json
import threading
from dataclasses import replace

import pytest
from click.testing import CliRunner

from reb_action import documents
from reb_action.cli.main import cli
from reb_action.corpus import manifests
from reb_action.errors import GitHubError, UsageError
from reb_action.github import event
from reb_action.model.github import RunOrder
from reb_action.model.manifest import Level
from reb_action.model.record import History, Record
from reb_action.model.scoreboard import Scoreboard
from reb_action.publish import leaderboard, run
from reb_action.publish.board_state import Leaderboard, read_state
from reb_action.publish.git_branch import Remote
from reb_action.publish.publish import write_base
from reb_action.results import records as records_of
from reb_action.results.early_stop import make_stop, write_stop
from reb_action.results.editions import edition_of
from reb_action.score.records import make_generations
from tests.support import runs
from tests.support.runs import environ, made
from tests.support.scoreboards import AGENTS, REPOSITORIES, slug

VISION = "kyegomez/VisionMamba"
BRANCH = "reb-leaderboard"
USERS = {"CNAME": b"bench.example.org\n", "README.md": b"# Ours\n", "data/own.csv": b"1,2\n"}


def names_of(agent, *, repositories=REPOSITORIES[:3], attempts=(1, 2)):
    return [f"{slug(one)}.{agent}.{attempt}" for one in repositories for attempt in attempts]


def results(api, folder, run_id, names, *, attempt=1, lost=()):
    """Return what a run measured; each run has a folder of its own."""
    place = folder / f"run-{run_id}-{attempt}"
    made(place, names, lost=lost)
    more = {"GITHUB_RUN_ID": str(run_id), "GITHUB_RUN_ATTEMPT": str(attempt)}
    occasion = event.read_current_run(environ(api, place / "env", **more))
    return run.read_this_run(
        place / "plan.json", place / "artifacts", occasion, levels=tuple(Level)
    )


def board_of(api, folder, name="board", **more):
    _ = api.git.path
    return Leaderboard(
        remote=Remote(url=f"{api.git.url}/{api.world.repository}.git", token="token"),
        branch=BRANCH,
        url="page",
        git_dir=folder / f"{name}.git",
        clock=runs.api_clock,
        sleep=runs.no_sleep,
        **more,
    )


def publish(api, folder, results, name="board"):
    return leaderboard.publish_run(board_of(api, folder, name), results).effect


def counting(api):
    """Return the run of each record that counts, by the trial's id on the board."""
    records = records_of.read_records(api.git.files(BRANCH))
    (generation,) = make_generations(records)
    return {
        trial: (one.run.order.run_id, one.run.order.attempt)
        for trial, one in generation.records.items()
    }


def rows(api):
    """Return the trials of the published scoreboard."""
    board = json.loads(api.git.files(BRANCH)["scoreboard.json"])["value"]
    return [row["trial"] for row in board["trials"]] + list(board["missing"])


def test_three_workflows_out_of_order_two_at_once_one_repaired(api, tmp_path):
    """At every step the board has each trial of all runs once, and the files of others."""
    trials = {agent: names_of(agent) for agent in AGENTS}
    first, second, third = AGENTS
    steps = []

    def check(*agents):
        expected = sorted(name for agent in agents for name in trials[agent])
        assert sorted(rows(api)) == sorted(counting(api)) == expected
        steps.append(counting(api))

    # Run 12 of the second workflow is there before run 11 of the first.
    assert publish(api, tmp_path, results(api, tmp_path, 12, trials[second])) == "created"
    check(second)
    api.git.add_commit(BRANCH, USERS)
    lost = trials[first][:2]
    broken = results(api, tmp_path, 11, trials[first], lost=lost)
    assert publish(api, tmp_path, broken) == "updated"
    check(first, second)
    # The third workflow and a new run of the second publish at the same moment.
    both = [results(api, tmp_path, 13, trials[third]), results(api, tmp_path, 14, trials[second])]
    together = threading.Barrier(2)
    effects = []

    def publish_at_once(number):
        together.wait()
        effects.append(publish(api, tmp_path, both[number], f"board-{number}"))

    threads = [threading.Thread(target=publish_at_once, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert effects == ["updated", "updated"]
    check(*AGENTS)
    # Run 11 is repaired by a second attempt, after all the others.
    repaired = results(api, tmp_path, 11, trials[first], attempt=2)
    assert publish(api, tmp_path, repaired) == "updated"
    check(*AGENTS)
    files = api.git.files(BRANCH)
    assert {path: files[path] for path in USERS} == USERS
    history = documents.decode(files["history.json"], History, kind="history", name="history")
    orders = [(one.run.order.run_id, one.run.order.attempt) for one in history.entries]
    assert orders[:2] == [(12, 1), (11, 1)]
    assert sorted(orders[2:4]) == [(13, 1), (14, 1)]
    assert orders[4:] == [(11, 2)]
    assert {steps[-1][name] for name in trials[second]} == {(14, 1)}
    assert {steps[-1][name] for name in lost} == {(11, 2)}
    # One commit: the branch is as large as its files.
    assert api.git.commits(BRANCH) == 1


@pytest.mark.parametrize("moment", ["before_advert", "before_push"])
def test_a_faster_push_is_merged_and_not_overwritten(api, tmp_path, moment):
    """Another push moves the branch before git reads it again, or before the commit arrives."""
    publish(api, tmp_path, results(api, tmp_path, 5, names_of("uv")))
    other = results(api, tmp_path, 6, names_of("codex"))
    meanwhile = lambda: publish(api, tmp_path, other, "other")  # noqa: E731
    getattr(api.git, moment).append(meanwhile)
    assert publish(api, tmp_path, results(api, tmp_path, 7, names_of("claude-code"))) == "updated"
    assert len(counting(api)) == 18


def test_a_branch_that_moves_for_ever_is_a_fault(api, tmp_path):
    publish(api, tmp_path, results(api, tmp_path, 5, names_of("uv")))
    numbers = iter(range(99))
    move = lambda: api.git.add_commit(BRANCH, {"n": b"%d" % next(numbers)})  # noqa: E731
    api.git.before_push += [move] * leaderboard.ATTEMPTS
    with pytest.raises(GitHubError, match="changed concurrently 12 times; run the job again"):
        publish(api, tmp_path, results(api, tmp_path, 6, names_of("codex")))
    assert len(counting(api)) == 6


def test_the_same_run_again_writes_nothing(api, tmp_path):
    again = results(api, tmp_path, 5, names_of("uv"))
    assert publish(api, tmp_path, again) == "created"
    assert publish(api, tmp_path, again) == "unchanged"


def test_an_unfinished_trial_replaces_no_finished_one(api, tmp_path):
    names = names_of("codex", attempts=(1,))
    publish(api, tmp_path, results(api, tmp_path, 5, names))
    publish(api, tmp_path, results(api, tmp_path, 6, names, lost=names[:1]))
    assert counting(api) == {names[0]: (5, 1), names[1]: (6, 1), names[2]: (6, 1)}


def test_an_unrelated_branch_of_that_name_is_refused(api, tmp_path):
    api.git.add_commit(BRANCH, {"index.html": b"mine", "trials/thesis.tex": b"mine"})
    before = api.git.files(BRANCH)
    why = "exists and is not a leaderboard of reb"
    with pytest.raises(GitHubError, match=why):
        publish(api, tmp_path, results(api, tmp_path, 5, names_of("uv")))
    assert api.git.files(BRANCH) == before


def test_a_removed_trial_goes_and_does_not_come_back(api, tmp_path):
    names = names_of("uv") + names_of("codex")
    publish(api, tmp_path, results(api, tmp_path, 5, names))
    lines = b"# leaked\n*.uv.*\nhustvl__Vim.codex.1 4\nNVIDIA__kvpress.codex.2 5\n"
    api.git.add_commit(BRANCH, {"removed.txt": lines})
    publish(api, tmp_path, results(api, tmp_path, 5, names))
    expected = sorted(set(names_of("codex")) - {"NVIDIA__kvpress.codex.2"})
    assert sorted(counting(api)) == sorted(rows(api)) == expected
    files = api.git.files(BRANCH)
    assert files["removed.txt"] == lines
    assert [path for path in files if ".uv." in path or path.startswith("badges/uv")] == []


def old_board(api, folder):
    """Put a board there as reb wrote it before there were records."""
    publish(api, folder, results(api, folder, 3, names_of("uv")))
    files = api.git.files(BRANCH)
    old = {
        "scoreboard.json": files["scoreboard.json"],
        "index.html": files["index.html"],
        "commit.txt": b"c" * 40 + b"\n",
        ".researchenvbench-run": b"3 1\n",
        "badges/uv/C0.svg": b"<svg/>",
        **{f"trials/{name}.html": b"<p>old" for name in names_of("uv")},
    }
    api.git.add_commit(BRANCH, old, removed=set(files) - set(old))


def test_an_old_board_is_migrated_and_kept_separate(api, tmp_path):
    old_board(api, tmp_path)
    assert publish(api, tmp_path, results(api, tmp_path, 4, names_of("codex"))) == "updated"
    files = api.git.files(BRANCH)
    new, old = make_generations(records_of.read_records(files))
    assert sorted(new.records) == sorted(names_of("codex"))
    assert sorted(old.records) == sorted(names_of("uv"))
    assert {one.edition.scoring for one in old.records.values()} == {0}
    assert {one.run.commit for one in old.records.values()} == {"c" * 40}
    assert {one.run.order for one in old.records.values()} == {RunOrder(run_id=3, attempt=1)}
    assert {path for path in files if path.startswith("trials/") and ".uv." in path} == {
        f"trials/{name}.html" for name in names_of("uv")
    }
    page = files["earlier/0-0/index.html"].decode()
    assert "This is an earlier board." in page
    name = names_of("uv")[0]
    trials = files["earlier/0-0/trials.html"].decode()
    assert f'href="../../trials/{name}.html"' in trials
    contestant = files["earlier/0-0/contestants/uv.html"].decode()
    assert f'href="../../../trials/{name}.html"' in contestant
    assert 'href="../../../index.html"' in contestant
    assert "badges/" not in contestant
    assert 'href="earlier/0-0/index.html"' in files["index.html"].decode()
    assert ".researchenvbench-run" not in files


def test_another_manifest_is_another_board(api, tmp_path):
    names = names_of("uv", repositories=REPOSITORIES[:2], attempts=(1,))
    older = results(api, tmp_path, 5, names)
    publish(api, tmp_path, older)
    files = api.git.files(BRANCH)
    path = f"records/{names[0]}/5.1.json"
    record = documents.decode(files[path], Record, kind="record", name=path)
    edition = replace(record.edition, commit="d" * 40, manifest="e" * 64)
    order = RunOrder(run_id=6, attempt=1)
    changed = replace(record, edition=edition, run=replace(record.run, order=order))
    data = documents.encode(changed, kind="record")
    api.git.add_commit(BRANCH, {f"records/{names[0]}/6.1.json": data})
    newest, before = make_generations(read_state(board_of(api, tmp_path)).records)
    assert {trial: one.run.order.run_id for trial, one in newest.records.items()} == {
        names[0]: 6,
        names[1]: 5,
    }
    assert {trial: one.run.order.run_id for trial, one in before.records.items()} == {names[0]: 5}


def test_attempt_2_is_compared_with_the_run_before_and_not_with_itself(api, tmp_path):
    names = names_of("uv", attempts=(1,))
    publish(api, tmp_path, results(api, tmp_path, 4, names))
    publish(api, tmp_path, results(api, tmp_path, 5, names))
    board = board_of(api, tmp_path)
    base = leaderboard.read_base(board, results(api, tmp_path, 5, names, attempt=2))
    assert {row.trial for row in base.board.trials} == set(names)
    alone = results(api, tmp_path, 5, names_of("codex"), attempt=2)
    assert leaderboard.read_base(board, alone).board.trials == base.board.trials


def use_corpus_manifests(api, run_id, names):
    """Give records the manifests that a plan names; those of sample trials are others."""
    files = api.git.files(BRANCH)
    changed = {}
    for name in names:
        path = f"records/{name}/{run_id}.1.json"
        record = documents.decode(files[path], Record, kind="record", name=path)
        edition = edition_of(manifests.find(record.repository))
        changed[path] = documents.encode(replace(record, edition=edition), kind="record")
    api.git.add_commit(BRANCH, changed)


def test_plan_writes_the_leaderboard_as_the_base_of_a_sequential_run(api, tmp_path):
    names = names_of("codex", repositories=(VISION,), attempts=(1,))
    plan = made(tmp_path / "next", names, lost=names) / "plan.json"
    of_run = runs.job(environ(api, tmp_path / "env"), fail_on="broken")
    with pytest.raises(UsageError, match="there is no base to compare with: there is no leaderb"):
        write_base(of_run, plan, levels=tuple(Level), sequential=True)
    publish(api, tmp_path, results(api, tmp_path, 4, names))
    with pytest.raises(UsageError, match="no record of the leaderboard has this scoring version"):
        write_base(of_run, plan, levels=tuple(Level), sequential=True)
    use_corpus_manifests(api, 4, names)
    base = write_base(of_run, plan, levels=tuple(Level), sequential=True)
    board = documents.read(base, Scoreboard, kind="scoreboard")
    assert [row.trial for row in board.trials] == names


def test_a_repository_whose_trials_were_all_left_out_stays_in_the_base(api, tmp_path):
    names = names_of("uv", repositories=REPOSITORIES[:2], attempts=(1,))
    publish(api, tmp_path, results(api, tmp_path, 4, names))
    use_corpus_manifests(api, 4, names[1:])
    shortened = tmp_path / "run-5-1" / "artifacts" / "job"
    write_stop(shortened, make_stop("fail-on: broken passes", (names[1],), ()))
    run = results(api, tmp_path, 5, names, lost=(names[1],))
    assert set(run.collected.found) == {names[0]}
    base = leaderboard.read_base(board_of(api, tmp_path), run)
    assert {row.trial for row in base.board.trials} == set(names)


REFUSED = [
    # what the token lacks: the words that say so
    ("none", "read the branch 'reb-leaderboard': fatal: "),
    ("read", "push to the branch 'reb-leaderboard': fatal: "),
]


@pytest.mark.parametrize(("level", "words"), REFUSED)
def test_a_missing_permission_is_told_without_the_token(api, tmp_path, level, words):
    api.tokens["token"].permissions["contents"] = level
    with pytest.raises(GitHubError) as caught:
        publish(api, tmp_path, results(api, tmp_path, 5, names_of("uv")))
    assert str(caught.value).startswith(words)
    assert "the token lacks `contents: write`" in str(caught.value)
    assert "eC1hY2Nlc3MtdG9rZW46dG9rZW4" not in str(caught.value)


def test_reb_site_builds_the_pages_of_a_checkout(api, tmp_path):
    publish(api, tmp_path, results(api, tmp_path, 5, names_of("uv")))
    files = api.git.files(BRANCH)
    for path, data in files.items():
        (tmp_path / "checkout" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout" / path).write_bytes(data)
    out = tmp_path / "site"
    argv = ["site", str(tmp_path / "checkout"), "--out", str(out)]
    assert CliRunner().invoke(cli, argv, catch_exceptions=False).exit_code == 0
    written = [path for path in out.rglob("*") if path.is_file()]
    site = {path.relative_to(out).as_posix(): path.read_bytes() for path in written}
    assert {path for path in site if path.startswith("trials/")} == {
        path for path in files if path.startswith("trials/")
    }
    assert site["index.html"] == files["index.html"]
