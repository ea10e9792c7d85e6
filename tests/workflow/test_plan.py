"""The plan: which trials, refused when, dealt out how."""

import json
import subprocess
from dataclasses import replace

import pytest

from reb_action.errors import UsageError
from reb_action.github.context import Context
from reb_action.model.plan import Wish
from reb_action.results import plan_file
from reb_action.workflow import inputs, safety
from reb_action.workflow.plan import Batching, Selection, make_plan

HOSTED = '"ubuntu-latest"'


def wish(name="a", agent="pip", **other):
    given = {"repository": f"o/{name}", "slug": f"o__{name}", "agent": agent, "contestant": agent}
    return Wish(**{**given, **other})


def plan(wishes, *, attempts=1, selection=None, batching=None):
    return make_plan(
        wishes,
        attempts=attempts,
        selection=selection or Selection(),
        batching=batching or Batching(),
    )


def ids(made):
    return [[trial.id for trial in entry.trials] for entry in made.entries]


def test_each_trial_is_an_entry_of_its_own_name():
    made = plan([wish("a"), wish("b", "uv")], attempts=2)
    assert [entry.name for entry in made.entries] == [
        "o__a.pip.1", "o__a.pip.2", "o__b.uv.1", "o__b.uv.2",
    ]  # fmt: skip


def test_only_and_without_take_patterns():
    selection = Selection(only=("o__a.*", "o__b.uv.1"), without=("*.2",))
    made = plan([wish("a"), wish("b", "uv"), wish("c")], attempts=2, selection=selection)
    assert ids(made) == [["o__a.pip.1"], ["o__b.uv.1"]]


def test_change_keeps_what_it_touches():
    wishes = [wish("a", files=("a.yaml",)), wish("b", files=("b.yaml", "bot.yaml"))]
    assert ids(plan(wishes, selection=Selection(changed=frozenset({"bot.yaml", "x.py"})))) == [
        ["o__b.pip.1"]
    ]
    assert plan(wishes, selection=Selection(changed=frozenset({"x.py"}))).entries == ()


@pytest.mark.parametrize(
    ("wishes", "selection", "message"),
    [
        ([], Selection(), "the plan has no trial"),
        ([wish()], Selection(only=("nothing",)), "the plan has no trial"),
        ([wish(), wish()], Selection(), "the trial o__a.pip.1 twice"),
        ([wish(), wish("A")], Selection(), "the trial o__a.pip.1 twice"),
        ([wish(slug="o__a:b")], Selection(), "cannot name a job"),
        ([wish(slug="o__" + "a" * 120)], Selection(), "cannot name a job"),
    ],
)
def test_refusals(wishes, selection, message):
    with pytest.raises(UsageError, match=message):
        plan(wishes, selection=selection)


@pytest.mark.parametrize(
    ("count", "jobs", "largest"), [(256, 256, 1), (257, 256, 2), (600, 256, 3)]
)
def test_more_trials_than_jobs_share_them(count, jobs, largest):
    made = plan([wish(f"r{number}") for number in range(count)])
    assert len(made.entries) == jobs
    assert max(len(entry.trials) for entry in made.entries) == largest
    assert len({trial.id for trial in made.trials}) == count


def test_batches_are_balanced_by_what_trials_took_before():
    durations = {"o__a.pip": 900, "o__b.pip": 500, "o__c.pip": 400, "o__d.pip": 100}
    wishes = [wish(name) for name in "abcd"]
    made = plan(wishes, batching=Batching(jobs=2, durations=durations))
    assert [entry.seconds for entry in made.entries] == [1000, 900]
    assert ids(made) == [["o__a.pip.1", "o__d.pip.1"], ["o__b.pip.1", "o__c.pip.1"]]


def test_entries_survive_the_way_through_a_matrix():
    made = plan([wish("a", argument='x "y" ${{ z }}\n')])
    (entry,) = json.loads(plan_file.entries_json(made))
    assert plan_file.parse_trials(json.dumps(entry["trials"])) == made.trials


def test_plan_document_comes_back_as_written(tmp_path):
    made = plan([wish("a"), wish("b")], batching=Batching(jobs=1))
    plan_file.write_plan(made, tmp_path / "plan.json")
    assert plan_file.read_plan(tmp_path / "plan.json") == made


def test_wishes_of_names_patterns_and_lines():
    made = inputs.read_wishes("DepthAnything/*", "nop\ncommand echo hello, world\n")
    assert {one.repository for one in made} == {"DepthAnything/Depth-Anything-V2"}
    assert [(one.agent, one.argument) for one in made] == [
        ("nop", None),
        ("command", "echo hello, world"),
    ]


FORK = Context(event="pull_request", fork=True)


@pytest.mark.parametrize("runs_on", [HOSTED, '["self-hosted", "gpu", "ephemeral"]'])
def test_fork_may_run_where_nothing_stays(runs_on):
    safety.demand_safe(FORK, runs_on)


@pytest.mark.parametrize(
    ("context", "runs_on", "message"),
    [
        (FORK, '["self-hosted", "gpu"]', "use hosted runners, or ephemeral ones"),
        (FORK, '"arc-gpu"', "use hosted runners, or ephemeral ones"),
        (Context(event="pull_request_target"), HOSTED, "use pull_request"),
        (Context(), "ubuntu-latest", "with its quotes"),
        (Context(), "[]", "one label or a list"),
    ],
)
def test_what_could_do_harm_is_refused(context, runs_on, message):
    with pytest.raises(UsageError, match=message):
        safety.demand_safe(context, runs_on)


def test_same_repository_may_use_any_runner():
    safety.demand_safe(replace(FORK, fork=False), '["self-hosted", "gpu"]')


def test_changed_paths_are_those_of_the_last_commit(tmp_path):
    def git(*arguments):
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)

    git("init", "-q")
    for name in ("old.yaml", "new file.yaml"):
        (tmp_path / name).write_text(name)
        git("add", ".")
        git("commit", "-q", "-m", name)
    assert inputs.list_changes(tmp_path, "HEAD^1") == {"new file.yaml"}
    assert inputs.list_changes(tmp_path, None) is None
    with pytest.raises(UsageError, match="is not a commit"):
        inputs.list_changes(tmp_path, "--output=x")
