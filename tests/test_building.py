"""A sabotage spoils an environment as it says, and touches nothing else."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action import building
from reb_action.building import Building, Sabotage
from reb_action.model.manifest import Framework, Oracle

NCCL = Path("nvidia/nccl/lib/libnccl.so.2")
TORCH = Path("torch/lib/libtorch_cpu.so")


@pytest.fixture
def built(tmp_path):
    """Return what an environment is built of, whose entry point stands on a package `own`."""
    return Building(
        oracle=Oracle(),
        frameworks=(Framework.TORCH,),
        cache=tmp_path / "cache",
        shadows=("own",),
    )


def shell(text, **env):
    argv = ["sh", "-ec", text]
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def spoil(built, tmp_path):
    """Spoil a search path of its own, and run code on it; return the end of what it says."""
    (tmp_path / "own.py").write_text("value = 1\n")

    def of(sabotage, code):
        line = building.script(built, sabotage).splitlines()[-1]
        assert shell(line, site=str(tmp_path)).returncode == 0
        code = f"import site; site.addsitedir({str(tmp_path)!r}); {code}"
        argv = [sys.executable, "-I", "-c", code]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
        return (done.stdout + done.stderr).splitlines()[-1]

    return of


def test_a_shadowed_package_has_nothing_in_it(spoil):
    said = spoil(Sabotage.PACKAGE_SHADOWED, "from own import value; print(value)")
    assert said == "ImportError: cannot import name 'value' from 'shadow' (unknown location)"


@pytest.mark.parametrize(
    ("sabotage", "left"), [(Sabotage.DEVICES_HIDDEN, "''"), (Sabotage.ONE_DEVICE_ONLY, "'0'")]
)
def test_hidden_devices_are_hidden(spoil, sabotage, left):
    code = "import os; print(repr(os.environ['CUDA_VISIBLE_DEVICES']))"
    assert spoil(sabotage, code) == left


@pytest.fixture
def packages(tmp_path):
    """Make packages with the two libraries, and one more."""
    place = tmp_path / "packages"
    for path in (NCCL, TORCH, Path("other/__init__.py")):
        (place / path).parent.mkdir(parents=True)
        (place / path).write_text("right")
    return place


SPOILED = [(Sabotage.FRAMEWORK_BROKEN, TORCH, NCCL), (Sabotage.NCCL_REMOVED, NCCL, TORCH)]


def last_lines(built, sabotage):
    """Return what the script of a sabotage does after that of the right environment."""
    right = building.script(built, None)
    script = building.script(built, sabotage)
    assert script.startswith(right)
    return script.removeprefix(right)


@pytest.mark.parametrize(("sabotage", "gone", "kept"), SPOILED)
def test_a_library_is_taken_out_of_the_environment(built, packages, sabotage, gone, kept):
    text = last_lines(built, sabotage)
    assert shell(text, site=str(packages)).returncode == 0
    assert ((packages / gone).exists(), (packages / kept).exists()) == (False, True)
    assert shell(text, site=str(packages)).returncode != 0, "it was not there to be taken out"


@pytest.mark.parametrize(("sabotage", "gone", "kept"), SPOILED)
def test_a_library_is_taken_out_of_a_copy_of_a_base(
    built, packages, tmp_path, sabotage, gone, kept
):
    site = tmp_path / "site"
    site.mkdir()
    text = last_lines(replace(built, base=Path(sys.executable)), sabotage)
    done = shell(text, HOME=str(tmp_path), base=str(packages), site=str(site))
    assert (done.returncode, done.stderr) == (0, "")
    copy = Path((site / "zz.pth").read_text().strip())
    assert copy != packages
    assert ((copy / gone).exists(), (copy / kept).read_text()) == (False, "right")
    assert (copy / "other/__init__.py").read_text() == "right"
    assert (packages / gone).read_text() == "right"


def test_only_what_is_there_is_spoiled(built):
    nothing = replace(built, frameworks=(), shadows=())
    assert Sabotage.NCCL_REMOVED in building.sabotages(built)
    assert building.sabotages(nothing) == (
        *(Sabotage.BARE, Sabotage.DEVICES_HIDDEN, Sabotage.ONE_DEVICE_ONLY),
    )


def test_a_repository_does_not_configure_the_tool_that_builds(built, tmp_path):
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "uv.toml").write_text('required-version = "==0.0.1"\n')
    lines = building.script(built, None).splitlines()
    settings = [line for line in lines if line.startswith(("PATH=", "export "))]
    argv = ["sh", "-ec", "\n".join((*settings, "uv cache dir"))]
    done = subprocess.run(argv, cwd=tmp_path / "repo", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, str(built.cache))
