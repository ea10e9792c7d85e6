"""`reb site` over folders of artifacts: its files, its pages, and what it refuses."""

import pytest
from click.testing import CliRunner

from reb_action import documents
from reb_action.cli.main import cli
from reb_action.errors import UsageError
from reb_action.model.plan import Entry, Plan, PlannedTrial
from reb_action.results import plan_file, scoreboard
from tests.support.scoreboards import evidence_of
from tests.support.trial_folders import put

VIM, AIM, LOST = "hustvl__Vim.codex.1", "apple__ml-aim.claude-code.1", "hustvl__Vim.codex.2"


@pytest.fixture
def artifacts(tmp_path):
    for name in (VIM, AIM):
        slug, agent, attempt = name.rsplit(".", 2)
        evidence = evidence_of(slug.replace("__", "/"), agent, int(attempt))
        folder = tmp_path / "artifacts" / f"reb-{name}.a1"
        put(folder, evidence)
        (folder / "agent.log").write_text(f"the log of {name}\n")
        (folder / "verdict.json").unlink()
        CliRunner().invoke(cli, ["verdict", str(folder)], catch_exceptions=False)
    return tmp_path / "artifacts"


def run(*argv):
    return CliRunner().invoke(cli, ["site", *map(str, argv)], catch_exceptions=True)


def test_site_has_a_page_for_each_trial_with_its_log(artifacts, tmp_path):
    out = tmp_path / "site"
    done = run(artifacts, "--out", out)
    assert (done.exit_code, done.stdout) == (0, f"59 files: {out / 'index.html'}\n")
    assert sorted(path.name for path in (out / "trials").iterdir()) == [
        f"{AIM}.html",
        f"{VIM}.html",
    ]
    assert f"the log of {VIM}" in (out / "trials" / f"{VIM}.html").read_text()
    assert f'href="trials/{VIM}.html"' in (out / "trials.html").read_text()
    numbers = documents.encode(
        scoreboard.score_folders((artifacts,), None, tell=lambda _: None), kind="scoreboard"
    )
    assert (out / "scoreboard.json").read_bytes() == numbers


def test_planned_trial_that_did_not_come_back_is_named(artifacts, tmp_path):
    trials = tuple(
        PlannedTrial(id=name, repository="hustvl/Vim", agent="codex", argument=None, attempt=1)
        for name in (VIM, LOST)
    )
    plan = tmp_path / "plan.json"
    documents.write(plan, Plan(entries=(Entry(name="reb", trials=trials, seconds=1),)), kind="plan")
    assert plan_file.read_plan(plan).trials == trials
    assert run(artifacts, "--plan", plan, "--out", tmp_path / "site").exit_code == 0
    text = (tmp_path / "site" / "index.html").read_text()
    assert f"<code>{LOST}</code>: no artifact of this trial was found" in text
    assert AIM not in text


def test_folder_with_something_in_it_is_refused(artifacts, tmp_path):
    out = tmp_path / "site"
    out.mkdir()
    (out / "thesis.txt").write_text("mine")
    done = run(artifacts, "--out", out)
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == f"{out} is not empty; choose a new folder, or empty it"
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


def test_folder_without_a_trial_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    done = run(tmp_path / "in", "--out", tmp_path / "site")
    assert isinstance(done.exception, UsageError)
    assert not (tmp_path / "site").exists()
