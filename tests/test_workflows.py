"""What action.yml, the workflows, the command line and the documents say of each other."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from reb_action.cli import cli

ROOT = Path(__file__).parent.parent
ACTIONS = [ROOT / "action.yml", *sorted(ROOT.glob("*/action.yml"))]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXAMPLES = sorted((ROOT / "examples").glob("*.yml"))
INSTALLER = {"job-minutes"}
"""Inputs that the set-up step reads itself."""

SECRETS = {"model-key"}
"""Inputs that are no options: a command line can be read by every process of the machine."""

OWN = re.compile(r"(\$|\.|researchenvbench/researchenvbench)(/[\w./-]*)?(@v1)?")


def read(path):
    return yaml.safe_load(path.read_text())


def options(*commands):
    """Return every parameter with an envvar of these commands: the envvar, and its default."""
    found = [one for name in commands for one in cli.commands[name].params if one.envvar]
    return {one.envvar: one.default for one in found}


def named(inputs):
    return {f"REB_{name.upper().replace('-', '_')}" for name in inputs}


COMMANDS = {
    "action.yml": ("start",),
    "plan/action.yml": ("plan",),
    "batch/action.yml": ("batch",),
    "report/action.yml": ("report",),
}
INTERNAL = {"plan/action.yml": {"REB_PLAN"}, "batch/action.yml": {"REB_DEADLINE"}}
"""Options whose value one step gives another."""


@pytest.mark.parametrize("name", COMMANDS)
def test_inputs_are_options(name):
    inputs = set(read(ROOT / name)["inputs"])
    known = set(options(*COMMANDS[name])) - INTERNAL.get(name, set())
    assert named(inputs - INSTALLER - SECRETS) == known


def test_defaults_are_the_options_own():
    known = options("start")
    for name, one in read(ROOT / "action.yml")["inputs"].items():
        default = known.get(next(iter(named([name]))))
        told = "" if default is None or not isinstance(default, (str, int)) else str(default)
        told = told.lower() if isinstance(default, bool) else told
        assert one.get("default", "") == told or name in {"repository", *INSTALLER}, name


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_envvar_of_every_option_is_its_name(command):
    for one in cli.commands[command].params:
        if one.envvar and one.param_type_name == "option":
            assert one.envvar in named([opt.removeprefix("--") for opt in one.opts])


def test_only_the_step_of_the_agent_has_the_key():
    for name, step in (("action.yml", "agent"), ("batch/action.yml", "batch")):
        steps = read(ROOT / name)["runs"]["steps"]
        assert [one["id"] for one in steps if "inputs.model-key" in str(one)] == [step]
    jobs = read(ROOT / ".github" / "workflows" / "benchmark.yml")["jobs"]
    given = {
        (job, step["name"]): value
        for job in jobs
        for step in jobs[job]["steps"]
        for value in step.get("with", {}).values()
        if "secrets." in str(value)
    }
    assert given == {
        ("plan", "Plan"): "${{ secrets.model-key != '' }}",
        ("trial", "Trial"): "${{ secrets.model-key }}",
        ("trial", "Batch of trials"): "${{ secrets.model-key }}",
    }


@pytest.mark.parametrize("path", ACTIONS, ids=str)
def test_run_is_one_exec_without_expressions(path):
    for step in read(path)["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["run"].startswith("exec ")
        assert "\n" not in step["run"].strip()


@pytest.mark.parametrize("path", [*WORKFLOWS, *EXAMPLES], ids=str)
def test_no_run_of_a_workflow_has_an_expression(path):
    for job in read(path)["jobs"].values():
        assert not any("${{" in step.get("run", "") for step in job.get("steps", ()))


@pytest.mark.parametrize("path", [*ACTIONS, *WORKFLOWS, *EXAMPLES], ids=str)
def test_ids_that_are_used_are_defined(path):
    text = path.read_text()
    document = read(path)
    places = [document["runs"]] if "runs" in document else document["jobs"].values()
    ids = {step["id"] for place in places for step in place.get("steps", ()) if "id" in step}
    assert set(re.findall(r"steps\.([\w-]+)\.", text)) <= ids


@pytest.mark.parametrize("path", [*ACTIONS, *WORKFLOWS, *EXAMPLES], ids=str)
def test_every_use_is_pinned_by_hash_with_its_version(path):
    for line in path.read_text().splitlines():
        match = re.match(r"\s+(?:- )?uses: (\S+)(.*)", line)
        if match and not OWN.fullmatch(match[1]):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", match[1]), line
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", match[2]), line


def test_permissions_page_is_the_union_of_the_jobs():
    page = (ROOT / "docs" / "permissions.md").read_text()
    rows = re.findall(r"^\| (\w+) \| (?:`([\w: ]+)`|none) \|", page, re.MULTILINE)
    jobs = read(ROOT / ".github" / "workflows" / "benchmark.yml")["jobs"]
    asked = {
        name: ", ".join(f"{scope}: {access}" for scope, access in job["permissions"].items())
        for name, job in jobs.items()
    }
    assert dict(rows) == asked
    union = yaml.safe_load(re.search(r"```yaml\n(permissions:.*?)```", page, re.DOTALL)[1])
    assert {f"{k}: {v}" for k, v in union["permissions"].items()} == {*asked.values()} - {""}


@pytest.mark.parametrize("path", EXAMPLES, ids=str)
def test_examples_grant_what_the_workflow_asks_for_and_give_inputs_it_has(path):
    inputs = read(ROOT / ".github" / "workflows" / "benchmark.yml")[True]["workflow_call"]["inputs"]
    for job in read(path)["jobs"].values():
        if "benchmark.yml" in job.get("uses", ""):
            assert job["permissions"] == {"contents": "read"}
            assert set(job["with"]) <= set(inputs)


def test_workflow_and_its_variant_differ_in_nothing_but_own_references():
    script = [sys.executable, ROOT / ".github" / "pinned.py", "acme/reb@v1"]
    pinned = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    workflow = (ROOT / ".github" / "workflows" / "benchmark.yml").read_text()
    pairs = zip(workflow.splitlines(), pinned.splitlines(), strict=True)
    changed = [(old.strip(), new.strip()) for old, new in pairs if old != new]
    assert changed == [
        ("uses: $/plan", "uses: acme/reb/plan@v1"),
        ("uses: $/", "uses: acme/reb@v1"),
        ("uses: $/batch", "uses: acme/reb/batch@v1"),
        ("uses: $/report", "uses: acme/reb/report@v1"),
    ]


def test_page_of_the_action_is_up_to_date():
    check = [sys.executable, ROOT / "docs" / "generate.py", "--check"]
    assert subprocess.run(check, capture_output=True, text=True).stderr == ""


def test_environment_and_path_of_later_steps_are_never_written():
    sources = [*ACTIONS, *(ROOT / "reb_action").rglob("*.py")]
    texts = [path.read_text() for path in sources if "redteam" not in path.parts]
    assert not any("GITHUB_ENV" in text or "GITHUB_PATH" in text for text in texts)


def test_only_one_package_spells_github_variables():
    for path in (ROOT / "reb_action").rglob("*.py"):
        if path.parent.name != "github" and "redteam" not in path.parts:
            assert "GITHUB_" not in path.read_text(), path
