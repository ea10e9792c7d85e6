"""A sabotage spoils an environment as it says."""

import subprocess
import sys

import pytest
from evidence import MANIFEST

from reb_action import qualify
from reb_action.model.manifest import Level, Oracle
from reb_action.session import AgentChoice
from reb_action.trial import Options

AGENT = AgentChoice(name="replay", argument=None, total_seconds=1, setup_seconds=1)


@pytest.fixture
def plan(tmp_path):
    """Return a plan whose entry point stands on a package `own`."""
    options = Options(manifest=MANIFEST, agent=AGENT, folder=tmp_path, levels=(Level.C1,))
    return qualify.Plan(
        options=options,
        levels=(Level.C1,),
        cache=tmp_path / "cache",
        date="2026-11-29",
        shadows=("own",),
    )


@pytest.fixture
def spoil(plan, tmp_path):
    """Spoil a search path of its own, and run code on it; return the end of what it says."""
    (tmp_path / "own.py").write_text("value = 1\n")

    def of(sabotage, code):
        line = qualify.script(plan, Oracle(), sabotage).splitlines()[-1]
        subprocess.run(["sh", "-c", line], env={"site": str(tmp_path)}, check=True, timeout=60)
        code = f"import site; site.addsitedir({str(tmp_path)!r}); {code}"
        argv = [sys.executable, "-I", "-c", code]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        return (done.stdout + done.stderr).splitlines()[-1]

    return of


def test_a_shadowed_package_has_nothing_in_it(spoil):
    said = spoil(qualify.Sabotage.PACKAGE_SHADOWED, "from own import value; print(value)")
    assert said == "ImportError: cannot import name 'value' from 'shadow' (unknown location)"


def test_hidden_devices_are_hidden(spoil):
    code = "import os; print(repr(os.environ['CUDA_VISIBLE_DEVICES']))"
    assert spoil(qualify.Sabotage.DEVICES_HIDDEN, code) == "''"


def test_a_repository_does_not_configure_the_tool_that_builds(plan, tmp_path):
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "uv.toml").write_text('required-version = "==0.0.1"\n')
    lines = qualify.script(plan, Oracle(), None).splitlines()
    settings = [line for line in lines if line.startswith(("PATH=", "export "))]
    argv = ["sh", "-ec", "\n".join((*settings, "uv cache dir"))]
    done = subprocess.run(argv, cwd=tmp_path / "repo", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, str(plan.cache))
