"""The plan: which trials, refused when, dealt out how."""

import json
import subprocess
from dataclasses import replace

import pytest

from reb_action.agents.contestants_file import parse_agents
from reb_action.errors import UsageError
from reb_action.github.context import Context
from reb_action.model.plan import Wish
from reb_action.results import plan_file
from reb_action.workflow import inputs, platform_limits, safety
from reb_action.workflow.matrix import Batching
from reb_action.workflow.plan import Selection, make_plan
from reb_action.workflow.platform_limits import Runners

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


def test_attempts_of_a_sequential_run_share_a_job():
    made = plan([wish("a"), wish("b", "uv")], attempts=2, batching=Batching(together=True))
    assert [entry.name for entry in made.entries] == ["o__a.pip", "o__b.uv"]
    assert ids(made) == [["o__a.pip.1", "o__a.pip.2"], ["o__b.uv.1", "o__b.uv.2"]]
    one = plan([wish("a"), wish("b")], attempts=2, batching=Batching(jobs=1, together=True))
    assert [entry.name for entry in one.entries] == ["batch-001"]
    assert len(one.trials) == 4
    single = plan([wish("a")], batching=Batching(together=True))
    assert [entry.name for entry in single.entries] == ["o__a.pip.1"]


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
        ([wish(slug="o__" + "a" * 150)], Selection(), "cannot name a job"),
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
    # A quarter more than before, and 300 s.
    assert [entry.seconds for entry in made.entries] == [1850, 1725]
    assert ids(made) == [["o__a.pip.1", "o__d.pip.1"], ["o__b.pip.1", "o__c.pip.1"]]


def test_batches_have_one_key_each_and_the_jobs_follow_the_load():
    wishes = [wish(f"r{n}", agent=key, key=key) for n in range(9) for key in ("zai", "openai")]
    wishes += [wish("r9", agent="zai", key="zai")]
    made = plan(wishes, batching=Batching(jobs=5))
    assert [(entry.key, len(entry.trials)) for entry in made.entries] == [
        ("openai", 5), ("openai", 4), ("zai", 4), ("zai", 3), ("zai", 3),
    ]  # fmt: skip
    assert all(trial.contestant == entry.key for entry in made.entries for trial in entry.trials)


def begun_in_time(made, seconds, longest):
    """Return how many trials begin late enough to be refused, if each takes its longest time."""
    return sum(
        number * longest + longest + 120 > seconds
        for entry in made.entries
        for number in range(len(entry.trials))
    )


@pytest.mark.parametrize("minutes", [45, 60, 90])
def test_no_trial_of_a_batch_is_left_without_time(minutes):
    wishes = [wish(f"r{n}", longest_seconds=minutes * 60) for n in range(44)]
    batching = Batching(job_seconds=360 * 60)
    made = plan(wishes, attempts=17, batching=batching)
    assert len(made.trials) == 748
    assert begun_in_time(made, 360 * 60, minutes * 60) == 0


def test_what_does_not_fit_is_refused_with_figures():
    wishes = [wish(f"r{n}", longest_seconds=5400) for n in range(44)]
    with pytest.raises(UsageError, match=r"1,320 trials need \d+ jobs of 360 minutes"):
        plan(wishes, attempts=30, batching=Batching(job_seconds=360 * 60))
    with pytest.raises(UsageError, match=r"o__r0.pip.1 may take 92 minutes, and a job has 60"):
        plan(wishes, batching=Batching(job_seconds=3600))


def test_entries_survive_the_way_through_a_matrix():
    made = plan([wish("a", argument='x "y" ${{ z }}\n')])
    (entry,) = json.loads(plan_file.entries_json(made))
    assert entry == {
        "name": "o__a.pip.1", "count": 1, "key": "model", "repository": "o/a", "agent": "pip",
        "argument": 'x "y" ${{ z }}\n', "contestant": "pip", "attempt": 1,
    }  # fmt: skip
    (batch,) = json.loads(plan_file.entries_json(plan([wish("a"), wish("b")], batching=ONE)))
    assert batch == {
        "name": "batch-001", "count": 2, "key": "model", "trials": "o__a.pip.1 o__b.pip.1",
    }  # fmt: skip


ONE = Batching(jobs=1)


OWN = {"labels": '["self-hosted", "gpu"]'}
LIMITS = [
    (20_000, Batching(), {}, "job output has .* bytes in UTF-16, and GitHub allows 1,000,000"),
    (5_000, ONE, {}, "one job has .* bytes, and one environment variable may have 131,072"),
    (1, ONE, {"job_minutes": 361}, "job-minutes is 361, and GitHub ends a job .* after 360"),
    (1, ONE, {"job_minutes": 7201, **OWN}, "job-minutes is 7,201, .* after 7,200"),
    (256, Batching(), {"count": 4, **OWN}, "256 jobs at once on 4 runners would queue for 63 h"),
    (256, Batching(), {"count": 1, "max_parallel": 1, **OWN}, None),
    (256, Batching(), {"count": None, **OWN}, None),
    (1_320, ONE, {}, None),
]


@pytest.mark.parametrize(("count", "batching", "runners", "message"), LIMITS)
def test_limits_of_the_platform_are_met_before_anything_runs(count, batching, runners, message):
    names = (wish(f"a-repository-with-a-long-name-{n}") for n in range(count))
    made = plan(names, batching=batching)
    given = Runners(**{"labels": HOSTED, **runners})
    if message is None:
        platform_limits.demand_fit(made, given)
    else:
        with pytest.raises(UsageError, match=message):
            platform_limits.demand_fit(made, given)


def test_run_of_more_than_35_days_is_refused():
    made = plan([wish(f"r{n}", longest_seconds=4 * 86400) for n in range(10)])
    with pytest.raises(UsageError, match="10 jobs on 1 runner take 40 days"):
        platform_limits.demand_fit(made, Runners(count=1, max_parallel=1, **OWN))


def test_plan_document_comes_back_as_written(tmp_path):
    made = plan([wish("a"), wish("b")], batching=Batching(jobs=1))
    plan_file.write_plan(made, tmp_path / "plan.json")
    assert plan_file.read_plan(tmp_path / "plan.json") == made


def test_repositories_of_names_and_patterns():
    made = [name for name, _ in inputs.read_repositories("DepthAnything/*, hustvl/Vim, hustvl/*")]
    assert made == ["DepthAnything/Depth-Anything-V2", "hustvl/Vim"]


def test_agents_of_lines_have_their_arguments():
    made = parse_agents("nop\ncommand echo hello, world\n")
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
