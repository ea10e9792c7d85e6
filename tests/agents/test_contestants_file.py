"""The contestants file: the short and the long form, what is refused, the paper's example."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from reb_action import documents
from reb_action.agents.contestants_file import read_contestants
from reb_action.cli.main import cli
from reb_action.errors import DocumentError
from reb_action.model.contestant import ContestantEntry
from reb_action.model.plan import Plan

ROOT = Path(__file__).parents[2]


def written(folder, text):
    path = folder / "c.yaml"
    path.write_text(text)
    return path


def test_short_and_long_form(tmp_path):
    text = "contestants: [pip, {id: x, agent: codex, model: m, budget-usd: 2, direct-key: true}]"
    assert read_contestants(written(tmp_path, text)) == (
        ContestantEntry(agent="pip"),
        ContestantEntry(agent="codex", id="x", model="m", budget_usd=2, direct_key=True),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("contestants: []", "c.yaml: contestants"),
        ("contestants: [{model: m}]", "agent"),
        ("contestants: [{agent: a, key: sk-123}]", "c.yaml: contestants"),
        ("contestants: [{agent: a, id: a.b}]", "c.yaml: contestants"),
        ("contestants: [{agent: a, secret: x}]", "c.yaml: contestants"),
        ("other: 1", "c.yaml"),
    ],
)
def test_other_content_is_refused(tmp_path, text, message):
    with pytest.raises(DocumentError, match=message):
        read_contestants(written(tmp_path, text))


def plan(folder, *argv, env=None):
    path = folder / "plan.json"
    done = CliRunner().invoke(cli, ["plan", "--plan", str(path), *argv], env=env or {})
    return done, documents.read(path, Plan, kind="plan") if path.exists() else None


PAPER = ("--repositories", "all", "--contestants", str(ROOT / "examples/paper-contestants.yaml"))
KEYS = "zai,anthropic,openai,openrouter"


def test_papers_four_pairs_on_its_44_repositories(tmp_path):
    done, made = plan(tmp_path, *PAPER, "--keys", KEYS, "--gpus", "2", "--job-minutes", "360")
    assert done.exit_code == 0, done.output
    assert len(made.trials) == len(made.entries) == 176
    assert {(one.contestant.id, one.agent, one.model, one.key) for one in made.contestants} == {
        ("claude-code-glm", "claude-code", "glm-4.7", "zai"),
        ("claude-code-sonnet", "claude-code", "claude-sonnet-4-5-20250929", "anthropic"),
        ("codex-gpt", "codex", "gpt-5.1-codex", "openai"),
        ("nexau-nex-n1", "nexau-paper", "nex-agi/deepseek-v3.1-nex-n1", "openrouter"),
    }


def test_contestant_without_its_key_is_refused_by_name(tmp_path):
    done, made = plan(tmp_path, *PAPER, "--keys", "zai,anthropic,openai")
    assert made is None
    assert "nexau-nex-n1 needs a key that this run does not have" in str(done.exception)
    assert "openrouter-key" in str(done.exception)


def test_one_key_goes_to_one_vendor(tmp_path):
    argv = ("--repositories", "hustvl/Vim", "--agents", "claude-code,gemini-cli", "--model", "m")
    done, _ = plan(tmp_path, *argv)
    assert "the key 'model' would go to several vendors" in str(done.exception)


def test_one_id_is_one_contestant(tmp_path):
    path = written(tmp_path, "contestants: [nop, {id: NOP, agent: pip}]")
    done, _ = plan(tmp_path, "--repositories", "hustvl/Vim", "--contestants", str(path))
    assert "two contestants are called NOP" in str(done.exception)


@pytest.mark.parametrize(
    ("argv", "env", "message"),
    [
        ((), {"REB_LEVELS": ""}, "--levels is empty"),
        (("--levels", "C0", "--fail-on", "C1"), {}, "--fail-on names C1, and --levels is C0"),
    ],
)
@pytest.mark.parametrize("command", ["plan", "batch", "start"])
def test_levels_that_nobody_measures_are_refused_at_the_start(
    tmp_path, monkeypatch, command, argv, env, message
):
    monkeypatch.chdir(tmp_path)
    given = ["hustvl/Vim"] if command == "start" else ["--repositories", "hustvl/Vim"]
    given += ["--results", "r"] if command == "batch" else []
    given += ["--sandbox", "local", "--agent" if command == "start" else "--agents", "nop"]
    done = CliRunner().invoke(cli, [command, *given, *argv], env=env)
    assert message in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_example_is_a_document_of_the_schema():
    schema = json.loads((ROOT / "schemas/contestants.schema.json").read_text())
    fields = set(ContestantEntry.__dataclass_fields__)
    keys = schema["$defs"]["contestant"]["properties"]
    assert {key.replace("-", "_") for key in keys} == fields
