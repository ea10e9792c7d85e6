"""The agent documented: each of its answers, from a whole trial in the local sandbox."""

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from reb_action import documents
from reb_action.cli.main import cli
from reb_action.judge import gate
from reb_action.judge.documented import find_failed_stage
from reb_action.model.manifest import Level, LogProof, Outcome, Stage
from reb_action.model.observation import ProofObservation, StageObservation
from reb_action.model.verdict import SetupAnswer, Verdict
from reb_action.render.remarks import list_remarks
from reb_action.session.layout import SessionLayout
from tests.support.evidence import MANIFEST, evidence, observations, run

MAIN = "import tool\nprint('loss', tool.loss())\n"
TOOL = "def loss():\n    return 0.25\n"
# What an older interpreter would accept: here it is the folder of the environment that says so.
OLD_TOOL = "import sys\nif '3.10' not in sys.prefix:\n    import imp_of_old\n" + TOOL
# The sandbox has one Python; another name for it stands for an older one.
OLDER = (
    "mkdir -p ~/.local/bin && printf '#!/bin/sh\\nexec /usr/bin/python3 \"$@\"\\n'"
    " > ~/.local/bin/python3.10 && chmod +x ~/.local/bin/python3.10"
)
SHOWN = {"log": "^loss 0.25"}


def write_repository(folder, *, setup, tool=TOOL, stage=None):
    """Commit a repository whose command is main.py, and its manifest."""
    (folder / "main.py").write_text(MAIN)
    (folder / "tool.py").write_text(tool)
    (folder / "later.py").write_text(stage or "print('3 passed')\n")
    entrypoint = {"argv": ["{python}", "main.py"], "decoy": "tool.py", "proofs": [SHOWN]}
    later = {"argv": ["{python}", "later.py"], "proofs": [{"log": "[1-9] passed"}]}
    manifest = {
        "repository": "owner/name",
        "commit": "self",
        "domain": "example",
        "frameworks": [],
        "setup": setup,
        "entrypoints": {"C1": entrypoint},
        "stages": {"tests": later},
        "not_applicable": dict.fromkeys(("C2", "C3", "C4"), "a program without a GPU"),
    }
    (folder / "researchenvbench.yaml").write_text(yaml.safe_dump(manifest, sort_keys=False))
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "-m", "one")):
        argv = ["git", "-C", str(folder), *identity, *words]
        subprocess.run(argv, env=environ, check=True, timeout=60)
    return folder / "researchenvbench.yaml"


def follow(tmp_path, **repository):
    """Run the trial and return its verdict."""
    place = tmp_path / "repository"
    place.mkdir()
    manifest = write_repository(place, **repository)
    words = ("--agent", "documented", "--sandbox", "local", "--levels", "C1", "--results")
    done = CliRunner().invoke(cli, ["run", str(manifest), *words, str(tmp_path / "trial")])
    layout = SessionLayout(folder=tmp_path / "trial")
    assert layout.verdict.exists(), done.output
    return documents.read(layout.verdict, Verdict, kind="verdict")


def closed(verdict, fail_on):
    return gate.decide(verdict, (Level.C1,), gate.parse_fail_on(fail_on)).closed


def test_instructions_that_work_pass(tmp_path):
    verdict = follow(tmp_path, setup=["python -c 'import venv'"])
    assert (verdict.setup.answer, verdict.setup.python) == (SetupAnswer.WORKS, "3.11")
    assert verdict.result(Level.C1).outcome is Outcome.PASSED
    assert closed(verdict, "setup") is None


def test_install_that_fails_names_the_line_and_the_message(tmp_path):
    setup = ["echo first", "pip install --no-index --find-links nowhere absent-of-all==9"]
    verdict = follow(tmp_path, setup=setup)
    assert verdict.setup.answer is SetupAnswer.INSTALL_FAILED
    assert "`pip install --no-index --find-links nowhere absent-of-all==9`" in verdict.setup.reason
    assert "No matching distribution found for absent-of-all==9" in verdict.setup.reason
    assert closed(verdict, "setup").startswith("the install fails: ")
    told = {remark.label: remark.items for remark in list_remarks(verdict)}
    assert told["The repository's own instructions"] == (closed(verdict, "setup"),)


def test_command_that_crashes_after_the_install_is_another_answer(tmp_path):
    verdict = follow(tmp_path, setup=["true"], tool="import einops\n" + TOOL)
    assert verdict.setup.answer is SetupAnswer.COMMAND_FAILED
    assert "No module named 'einops'" in verdict.setup.reason
    assert verdict.result(Level.C1).outcome is Outcome.FAILED


def test_stage_that_crashes_leaves_the_main_run_as_it_is(tmp_path):
    stage = "raise SystemExit('AssertionError: 1 failed')\n"
    verdict = follow(tmp_path, setup=["true"], stage=stage)
    assert verdict.setup.answer is SetupAnswer.STAGE_FAILED
    assert verdict.setup.reason == ("tests: it ended with exit code 1: AssertionError: 1 failed")
    assert verdict.result(Level.C1).outcome is Outcome.PASSED
    assert closed(verdict, "C1") is None
    assert closed(verdict, "C1,setup").startswith("the main run succeeds and a later stage fails")


def test_stage_that_skips_everything_is_no_proof():
    proof = LogProof(log="[1-9] passed")
    missing = ProofObservation(proof=proof, satisfied=False, detail="no line matches")
    seen = StageObservation(
        name="tests", exit_code=0, timed_out=False, seconds=1.0, proofs=(missing,)
    )
    manifest = replace(MANIFEST, stages={"tests": Stage(argv=("a",), proofs=(proof,))})

    def failed(*stages):
        ran = evidence(observations=observations(C1=run(stages=stages)))
        return find_failed_stage(replace(ran, trial=replace(ran.trial, manifest=manifest)))

    assert failed(seen) == "tests: exit code 0, but without proof: no line matches"
    assert failed() == "tests: it was not run"


def test_repository_that_works_only_on_an_older_python_says_so(tmp_path):
    verdict = follow(tmp_path, setup=[OLDER], tool=OLD_TOOL)
    assert (verdict.setup.answer, verdict.setup.python) == (SetupAnswer.OLDER_PYTHON, "3.10")
    assert "works on Python 3.10, not on 3.11" in verdict.setup.reason
    assert "No module named 'imp_of_old'" in verdict.setup.reason
    assert verdict.result(Level.C1).outcome is Outcome.PASSED
    assert closed(verdict, "setup").startswith("it works only on an older Python")


def test_manifest_without_setup_is_refused_before_anything_runs(tmp_path):
    place = tmp_path / "repository"
    place.mkdir()
    manifest = write_repository(place, setup=["true"])
    manifest.write_text(manifest.read_text().replace("setup:\n- 'true'\n", ""))
    words = ("--agent", "documented", "--sandbox", "local", "--levels", "C1", "--results")
    done = CliRunner().invoke(cli, ["run", str(manifest), *words, str(tmp_path / "trial")])
    assert "has no setup, which the agent documented follows" in str(done.exception)
    assert not (tmp_path / "trial").exists()


@pytest.mark.parametrize("agent", ["nop"])
def test_setup_is_asked_of_the_agent_documented_only(tmp_path, agent):
    place = tmp_path / "repository"
    place.mkdir()
    manifest = write_repository(place, setup=["true"])
    words = ("--agent", agent, "--sandbox", "local", "--levels", "C1", "--results")
    CliRunner().invoke(cli, ["run", str(manifest), *words, str(tmp_path / "trial")])
    verdict = documents.read(
        SessionLayout(folder=Path(tmp_path) / "trial").verdict, Verdict, kind="verdict"
    )
    assert verdict.setup is None
    assert "setup is the answer of the agent documented" in closed(verdict, "setup")
