"""A pull request from a fork: GitHub gives its run no secret, and the plan says so."""

import json
import re
from pathlib import Path

import yaml

from tests.act.act_consumer import make_consumer, make_mirror
from tests.act.act_runner import act, pinned

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXAMPLES = sorted((ROOT / "examples").glob("*.yml"))
EVENT = {
    "pull_request": {
        "number": 7,
        "head": {"sha": "1" * 40, "repo": {"full_name": "stranger/bench", "fork": True}},
        "base": {"sha": "2" * 40, "repo": {"full_name": "acme/bench", "fork": False}},
    },
    "repository": {"full_name": "acme/bench"},
}
CALL = """\
on: pull_request
permissions:
  contents: read
jobs:
  bench:
    uses: ./.github/workflows/benchmark.yml
    with:
      repositories: tiny.yaml
      agents: {agents}
      model: claude-sonnet-4-5
      sandbox: local
      disposable: true
      levels: C1
      mirror: {mirror}
    secrets:
      model-key: ${{{{ secrets.MODEL_KEY }}}}
"""


def run_fork(product, place, agents):
    """Run the workflow on the event of a fork; as GitHub does, give it no secret."""
    call = CALL.format(agents=agents, mirror=place / "mirror")
    workflows = {"benchmark.yml": pinned(product), "fork.yml": call}
    consumer = make_consumer(place / "c", make_mirror(place), workflows)
    event = place / "event.json"
    event.write_text(json.dumps(EVENT))
    env = {"ARTIFACTS": str(place / "artifacts")}
    where = ("-W", ".github/workflows/fork.yml", "-e", str(event))
    return act(product, consumer, place, "pull_request", *where, env=env)


def test_fork_cannot_run_an_agent_with_a_model(product, tmp_path):
    run = run_fork(product, tmp_path, "claude-code")
    assert run.code == 1
    assert run.jobs == {"plan"}
    assert "needs a key that this run does not have" in run.log
    assert "(pull requests from forks have no secrets)" in run.log


def test_fork_runs_agents_without_a_model_and_no_step_has_a_key(product, tmp_path):
    run = run_fork(product, tmp_path, "nop")
    assert run.of("trial").outputs("trial")["outcome"] == "failed"
    given = re.findall(r"(?:REB_[A-Z]*KEY|model-key)[=:] *(\S+)", json.dumps(run.records))
    assert [value for value in given if value.strip("\"',}") not in ("", "model")] == []


def test_no_workflow_gives_a_fork_the_secrets_of_the_repository():
    for path in (*WORKFLOWS, *EXAMPLES):
        text = path.read_text()
        # In YAML `on` is the truth value.
        triggers = yaml.safe_load(text).get(True) or {}
        assert "pull_request_target" not in triggers, path
        assert "secrets: inherit" not in text, path


def test_workflow_that_a_fork_can_start_elsewhere_has_no_key():
    """What runs after a fork's run, with the rights of the repository, knows no vendor's key."""
    text = (ROOT / ".github" / "workflows" / "publish.yml").read_text()
    assert re.findall(r"secrets\.[a-z-]*key", text) == []
