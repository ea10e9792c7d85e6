"""What action.yml, the workflows, the command line and the documents say of each other."""

import ast
import json
import re
import subprocess
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from reb_action.cli.main import cli
from reb_action.github.api.faults import Need
from reb_action.model.contestant import KEY_NAMES

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
    "action.yml": ("start", "agent", "gate"),
    "plan/action.yml": ("plan",),
    "batch/action.yml": ("batch",),
    "report/action.yml": ("report", "publish"),
    "publish/action.yml": ("publish",),
}
INTERNAL = {
    "plan/action.yml": {"REB_PLAN"},
    "action.yml": {"REB_DEADLINE"},
    "batch/action.yml": {"REB_DEADLINE"},
    "report/action.yml": {"REB_RUN_ID"},
    "publish/action.yml": {"REB_PLAN", "REB_ARTIFACTS", "REB_LEVELS"},
}
"""Options whose value one step gives another."""


@pytest.mark.parametrize("name", COMMANDS)
def test_inputs_are_options(name):
    inputs = set(read(ROOT / name)["inputs"])
    known = set(options(*COMMANDS[name])) - INTERNAL.get(name, set())
    assert named(inputs - SECRETS) - (named(INSTALLER) - known) == known


def test_defaults_are_the_options_own():
    known = options("start", "agent", "gate")
    for name, one in read(ROOT / "action.yml")["inputs"].items():
        default = known.get(next(iter(named([name]))))
        told = "" if default is None or not isinstance(default, (str, int)) else str(default)
        told = told.lower() if isinstance(default, bool) else told
        assert one.get("default", "") == told or name in {"repository", *INSTALLER}, name


WORKFLOW_WORDS = {
    *("contestants", "job-minutes", "jobs", "max-parallel", "mirror", "prices", "repositories"),
}
"""Inputs of the reusable workflow that mean its caller's repository, or all jobs of the run."""


def test_inputs_of_the_reusable_workflow_are_described_as_those_of_the_actions():
    names = ("report/action.yml", "batch/action.yml", "plan/action.yml", "action.yml")
    known = {key: one for name in names for key, one in read(ROOT / name)["inputs"].items()}
    workflow = read(ROOT / ".github/workflows/benchmark.yml")
    for key, one in workflow.get("on", workflow.get(True))["workflow_call"]["inputs"].items():
        if key in known and key not in WORKFLOW_WORDS:
            assert one["description"] == known[key]["description"], key


OWN_WORDS = {"model", "repository", "results", "token", *INSTALLER, *SECRETS}
"""Inputs whose description differs from the help of the option."""


@pytest.mark.parametrize("name", COMMANDS)
def test_descriptions_are_the_help_of_the_options(name):
    params = [one for command in COMMANDS[name] for one in cli.commands[command].params]
    helps = {one.envvar: one.help for one in params if getattr(one, "help", None)}
    for key, one in read(ROOT / name)["inputs"].items():
        if key not in OWN_WORDS and named([key]) <= set(helps):
            (envvar,) = named([key])
            assert one["description"] == helps[envvar].replace(" --", " "), key


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
    names = KEY_NAMES
    own = " || ".join(f"matrix.entry.key == '{name}' && secrets.{name}-key" for name in names)
    known = "\n".join(f"${{{{ secrets.{name}-key != '' && '{name}' || '' }}}}" for name in names)
    assert {place: value.split("\n") for place, value in given.items()} == {
        ("plan", "Plan"): [" ".join(known.split("\n"))],
        ("trial", "Trial"): [f"${{{{ {own} || '' }}}}"],
        ("trial", "Batch of trials"): [f"${{{{ {own} || '' }}}}"],
    }


def test_workflow_has_a_secret_for_each_key_of_contestants():
    workflow = read(ROOT / ".github" / "workflows" / "benchmark.yml")
    # YAML 1.1 reads the key `on` as true.
    assert set(workflow[True]["workflow_call"]["secrets"]) == {f"{name}-key" for name in KEY_NAMES}
    schema = json.loads((ROOT / "schemas" / "contestants.schema.json").read_text())
    assert schema["$defs"]["contestant"]["properties"]["key"]["enum"] == list(KEY_NAMES)


@pytest.mark.parametrize("path", ACTIONS, ids=str)
def test_run_is_one_exec_without_expressions(path):
    for step in read(path)["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["run"].startswith("exec ")
        assert "\n" not in step["run"].strip()


@pytest.mark.parametrize("path", ACTIONS, ids=str)
def test_set_up_runs_a_file_that_exists(path):
    commands = [step["run"] for step in read(path)["runs"]["steps"]]
    files = [name for run in commands for name in re.findall(r'"\$GITHUB_ACTION_PATH/(.*?)"', run)]
    assert [(path.parent / name).is_file() for name in files] == [True]


@pytest.mark.parametrize("path", [*WORKFLOWS, *EXAMPLES], ids=str)
def test_no_run_of_a_workflow_has_an_expression(path):
    for job in read(path)["jobs"].values():
        assert not any("${{" in step.get("run", "") for step in job.get("steps", ()))


@pytest.mark.parametrize("path", [*ACTIONS, *WORKFLOWS, *EXAMPLES], ids=str)
def test_no_expression_takes_the_other_value_for_an_empty_one(path):
    """`b == '' && b || c` gives `c`, because an empty text is false."""
    expressions = re.findall(r"\$\{\{(.*?)\}\}", path.read_text("utf-8"), re.DOTALL)
    wrong = [
        text
        for text in expressions
        for value in re.findall(r"&& *([a-z]+\.[\w.-]+) *\|\|", text)
        if re.search(rf"\b{re.escape(value)} *== *''", text)
    ]
    assert wrong == []


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


def test_only_the_report_can_sign():
    """A job that names its permissions has no others; a trial's names none that writes."""
    jobs = read(ROOT / ".github" / "workflows" / "benchmark.yml")["jobs"]
    users = [name for name in jobs if "actions/attest@" in str(jobs[name])]
    assert users == ["report"]
    others = {name: job["permissions"] for name, job in jobs.items() if name != "report"}
    assert set(others) == {"plan", "trial"}
    assert all(access == {"contents": "read"} for access in others.values())


REUSABLE = ("benchmark.yml", "publish.yml")
GRANTS = {
    # what an input asks of the calling job
    ("checks", "off"): {"checks": "write", "contents": "read"},
    ("comment", "off"): {"pull-requests": "write", "contents": "read"},
    ("leaderboard", False): {"contents": "write"},
    ("attest", False): {"id-token": "write", "attestations": "write", "contents": "read"},
}


def test_permissions_page_is_the_union_of_the_jobs():
    page = (ROOT / "docs" / "permissions.md").read_text()
    table = re.search(r"<!-- permissions of benchmark.yml -->(.*?)<!--", page, re.DOTALL)[1]
    rows = re.findall(r"^\| (\w+) \| (?:`([\w: ]+)`|what you grant) \|", table, re.MULTILINE)
    jobs = read(ROOT / ".github" / "workflows" / "benchmark.yml")["jobs"]
    asked = {
        name: ", ".join(
            f"{scope}: {access}" for scope, access in job.get("permissions", {}).items()
        )
        for name, job in jobs.items()
    }
    assert dict(rows) == asked
    assert "permissions" not in jobs["report"]
    union = yaml.safe_load(re.search(r"```yaml\n(permissions:.*?)```", page, re.DOTALL)[1])
    assert {f"{k}: {v}" for k, v in union["permissions"].items()} == {*asked.values()} - {""}


def test_permissions_page_names_what_each_input_needs():
    page = (ROOT / "docs" / "permissions.md").read_text()
    table = re.search(r"<!-- permissions of inputs -->(.*?)<!--", page, re.DOTALL)[1]
    rows = re.findall(r"^\| .*?`?(\w+)[:`.].*? \| `([\w-]+: \w+)` \|", table, re.MULTILINE)
    assert rows == [
        ("checks", Need.CHECKS_WRITE),
        ("comment", Need.PULLS_WRITE),
        ("leaderboard", Need.CONTENTS_WRITE),
        ("attest", "id-token: write"),
        ("attest", "attestations: write"),
        ("checks", Need.CONTENTS_READ),
        ("publish", Need.ACTIONS_READ),
    ]


def granted(inputs, wanted):
    """Return the permissions that a job with these inputs needs of its caller."""
    needed = {"actions": "read"} if "run-id" in inputs else {"contents": "read"}
    for (name, off), scopes in GRANTS.items():
        if name in inputs and wanted.get(name, inputs[name]["default"]) != off:
            needed |= {
                scope: max(access, needed.get(scope, "")) for scope, access in scopes.items()
            }
    return needed


@pytest.mark.parametrize("path", EXAMPLES, ids=str)
def test_examples_grant_what_the_workflow_asks_for_and_give_inputs_it_has(path):
    for job in read(path)["jobs"].values():
        name = job.get("uses", "").split("@")[0].rpartition("/")[2]
        if name in REUSABLE:
            called = read(ROOT / ".github" / "workflows" / name)[True]["workflow_call"]
            assert job["permissions"] == granted(called["inputs"], job["with"])
            assert set(job["with"]) <= set(called["inputs"])


@pytest.mark.parametrize("name", REUSABLE)
def test_inputs_of_a_reusable_workflow_are_what_it_passes_on(name):
    document = read(ROOT / ".github" / "workflows" / name)
    text = (ROOT / ".github" / "workflows" / name).read_text()
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(document[True]["workflow_call"]["inputs"])


def test_publishing_checks_nothing_out_and_runs_one_step():
    """What was downloaded is read by one process and executed by none."""
    (job,) = read(ROOT / ".github" / "workflows" / "publish.yml")["jobs"].values()
    assert [step["uses"] for step in job["steps"]] == ["$/publish"]
    names = [step["run"] for step in read(ROOT / "publish" / "action.yml")["runs"]["steps"]]
    assert names[1:] == ['exec "$REB" publish']


def test_publishing_takes_a_run_id_and_no_other_word_of_the_run():
    inputs = set(read(ROOT / "publish" / "action.yml")["inputs"])
    assert inputs == {
        *("run-id", "fail-on", "scoring", "comment", "checks", "leaderboard", "key"),
        *("base", "on-write-fault", "token"),
    }


PINNED = {
    "benchmark": [
        ("uses: $/plan", "uses: acme/reb/plan@v1"),
        ("uses: $/", "uses: acme/reb@v1"),
        ("uses: $/batch", "uses: acme/reb/batch@v1"),
        ("uses: $/report", "uses: acme/reb/report@v1"),
    ],
    "publish": [("uses: $/publish", "uses: acme/reb/publish@v1")],
}


@pytest.mark.parametrize("name", PINNED)
def test_workflow_and_its_variant_differ_in_nothing_but_own_references(name):
    script = [sys.executable, ROOT / ".github" / "pinned.py", "acme/reb@v1", name]
    pinned = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    workflow = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()
    kept = re.sub(
        r"    concurrency:\n      group: .*\n      cancel.*\n      queue: max\n", "", workflow
    )
    pairs = zip(kept.splitlines(), pinned.splitlines(), strict=True)
    changed = [(old.strip(), new.strip()) for old, new in pairs if old != new]
    assert changed == PINNED[name]


def test_page_of_the_action_is_up_to_date():
    check = [sys.executable, ROOT / "docs" / "generate.py", "--check"]
    assert subprocess.run(check, capture_output=True, text=True).stderr == ""


HERE_DOCUMENT = re.compile(r"python3? - <<'END'\n(.*?)^ *END$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_programs_in_workflows_import_what_exists(path):
    for program in HERE_DOCUMENT.findall(path.read_text()):
        tree = ast.parse(textwrap.dedent(program))
        for node in (one for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)):
            module = import_module(node.module)
            assert [one.name for one in node.names if not hasattr(module, one.name)] == []


def test_programs_in_workflows_are_found():
    ci = ROOT / ".github" / "workflows" / "ci.yml"
    assert "commit_repository" in HERE_DOCUMENT.findall(ci.read_text())[0]


def test_environment_and_path_of_later_steps_are_never_written():
    sources = [*ACTIONS, *(ROOT / "reb_action").rglob("*.py")]
    texts = [path.read_text() for path in sources if "redteam" not in path.parts]
    assert not any("GITHUB_ENV" in text or "GITHUB_PATH" in text for text in texts)


def test_only_one_package_spells_github_variables():
    for path in (ROOT / "reb_action").rglob("*.py"):
        if "github" not in path.parts and "redteam" not in path.parts:
            assert "GITHUB_" not in path.read_text(), path
