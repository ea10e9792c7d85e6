"""A sabotage spoils an environment as it says, and touches nothing else."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.model.manifest import Framework, Oracle
from reb_action.qualify import oracle, other_cards
from reb_action.qualify.oracle import Building, Sabotage

NCCL = Path("nvidia/nccl/lib/libnccl.so.2")
TORCH = Path("torch/lib/libtorch_cpu.so")
PYTHON = '"$HOME/venv/bin/python"'


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
    argv, env = ["sh", "-ec", text], {**os.environ, **{name: str(env[name]) for name in env}}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def spoil(built, tmp_path):
    """Spoil a search path of its own, and run code on it; return the end of what it says."""
    (tmp_path / "own.py").write_text("value = 1\n")

    def of(sabotage, code):
        line = oracle.script(built, sabotage).splitlines()[-1]
        assert shell(line, site=tmp_path).returncode == 0
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


def test_hidden_devices_stay_hidden_whatever_the_entry_point_sets(spoil):
    code = (
        "import os; os.environ['CUDA_VISIBLE_DEVICES'] = '1'; os.environ['OTHER'] = '2'; "
        "os.environ.update(CUDA_VISIBLE_DEVICES='3'); os.environ.pop('CUDA_VISIBLE_DEVICES'); "
        "print(os.environ['CUDA_VISIBLE_DEVICES'], os.environ.pop('OTHER'), 'OTHER' in os.environ)"
    )
    assert spoil(Sabotage.ONE_DEVICE_ONLY, code) == "0 2 False"


@pytest.fixture
def packages(tmp_path):
    """Make packages with the two libraries, and one more."""
    place = tmp_path / "packages"
    for path in (NCCL, TORCH, Path("other/__init__.py")):
        (place / path).parent.mkdir(parents=True)
        (place / path).write_bytes(RIGHT)
    return place


def fat_binary(architecture):
    """Return a library with two kernels for an architecture."""
    kernel = other_cards.ENTRY.pack(2, 1, 64, 8, 0, 0, 0, 0, architecture).ljust(64 + 8, b"k")
    return b"ELF" + other_cards.HEADER.pack(other_cards.MAGIC, 1, 16, 2 * len(kernel)) + 2 * kernel


RIGHT = fat_binary(90)


def spoiled(text, home, **env):
    """Run the end of a script with an interpreter where it would have built one."""
    (home / "venv" / "bin").mkdir(parents=True)
    (home / "venv" / "bin" / "python").symlink_to(sys.executable)
    return shell(text, HOME=home, **env).returncode


def last_lines(built, sabotage):
    """Return what the script of a sabotage does after that of the right environment."""
    right = oracle.script(built, None)
    script = oracle.script(built, sabotage)
    assert script.startswith(right)
    return script.removeprefix(right)


BROKEN = (Sabotage.FRAMEWORK_BROKEN, TORCH, None)
MISMATCHED = (Sabotage.NCCL_MISMATCHED, NCCL, fat_binary(other_cards.NO_CARD))
SPOILED = pytest.mark.parametrize(("sabotage", "path", "left"), [BROKEN, MISMATCHED])


def files(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@SPOILED
def test_a_library_of_the_environment_is_spoiled(built, packages, tmp_path, sabotage, path, left):
    text, before = last_lines(built, sabotage), files(packages)
    assert spoiled(text, tmp_path, site=packages) == 0
    after = files(packages)
    assert after.pop(path, None) == left
    assert before == {path: RIGHT, **after}


@pytest.mark.parametrize(("sabotage", "path"), [BROKEN[:2], MISMATCHED[:2]])
def test_a_library_that_is_not_there_fails_the_script(built, packages, tmp_path, sabotage, path):
    (packages / path).unlink()
    assert spoiled(last_lines(built, sabotage), tmp_path, site=packages) != 0


@SPOILED
def test_a_library_of_a_base_is_spoiled_in_links_to_it(
    built, packages, tmp_path, sabotage, path, left
):
    (site := tmp_path / "site").mkdir()
    before = files(packages)
    text = last_lines(replace(built, base=Path(sys.executable)), sabotage)
    assert spoiled(text, tmp_path, site=site, base=packages) == 0
    links = Path((site / "zz.pth").read_text().strip())
    found = {path: (links / path).read_bytes() for path in before if (links / path).exists()}
    assert found.pop(path, None) == left
    assert before == {path: RIGHT, **found}
    assert files(packages) == before


TRAINER = """
class Optimizer:
    def __init__(self):
        if not getattr(type(self).step, "hooked", None):
            type(self).step = self.profile_hook_step(type(self).step)
            type(self).step.hooked = True

    @staticmethod
    def profile_hook_step(step):
        return lambda self, closure=None: step(self, closure)


class SGD(Optimizer):
    weight = 1.0

    def step(self, closure=None):
        self.weight -= closure() if closure else 0.5


"""
# How torch.optim is made: each optimiser has its step wrapped as the first one is made.


def test_an_optimiser_that_is_stalled_steps_no_more_and_still_asks_for_the_loss(tmp_path, spoil):
    (tmp_path / "torch/optim").mkdir(parents=True)
    (tmp_path / "torch/optim/optimizer.py").write_text(TRAINER)
    code = (
        "from torch.optim.optimizer import SGD; one = SGD(); calls = []; one.step(); "
        "first = one.weight; one.step(lambda: calls.append(0) or 0.25); "
        "print(first, one.weight, len(calls))"
    )
    assert spoil(Sabotage.OPTIMISER_STALLED, code) == "1.0 1.0 1"
    assert (tmp_path / "torch/optim/optimizer.py").read_text() == TRAINER


def test_only_what_trains_has_its_optimiser_stalled(built):
    assert Sabotage.OPTIMISER_STALLED not in oracle.sabotages(built)
    assert Sabotage.OPTIMISER_STALLED in oracle.sabotages(replace(built, trains=True))


def test_only_what_is_there_is_spoiled(built):
    nothing = replace(built, frameworks=(), shadows=())
    assert Sabotage.NCCL_MISMATCHED in oracle.sabotages(built)
    assert oracle.sabotages(nothing) == (
        *(Sabotage.BARE, Sabotage.DEVICES_HIDDEN, Sabotage.ONE_DEVICE_ONLY),
    )


def test_a_repository_does_not_configure_the_tool_that_builds(built, tmp_path):
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "uv.toml").write_text('required-version = "==0.0.1"\n')
    lines = oracle.script(built, None).splitlines()
    settings = [line for line in lines if line.startswith(("PATH=", "export "))]
    argv = ["sh", "-ec", "\n".join((*settings, "uv cache dir"))]
    done = subprocess.run(argv, cwd=tmp_path / "repo", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, str(built.cache))


def test_what_only_c0_asks_for_comes_without_dependencies_and_kernels(built):
    built = replace(built, imports=("einops==0.8.2", "flash-attn==2.8.3"))
    *_, first, second = oracle.script(built, None).splitlines()
    assert first.endswith("uv pip install --quiet --no-deps --python " + PYTHON + " einops==0.8.2")
    assert "FLASH_ATTENTION_SKIP_CUDA_BUILD=TRUE" in second
    assert second.endswith("--no-build-isolation --python " + PYTHON + " flash-attn==2.8.3")


def test_without_what_only_c0_asks_for_nothing_is_installed_for_it(built):
    assert "--no-deps" not in oracle.script(built, None)


def test_another_version_for_c0_takes_the_place_of_a_package():
    packages = ("torch==2.5.1", "fairseq2[arrow]==0.3.0rc1", "Ruamel.Yaml==1", "polars==1.16.0")
    imports = ("fairseq2 @ git+https://example.org/f@0", "ruamel_yaml==2", "einops==0.8.2")
    assert oracle.not_replaced(packages, imports) == ("torch==2.5.1", "polars==1.16.0")


def installed(folder, name, module):
    """Put a distribution with one module into a folder, as an installer leaves it."""
    place = folder / f"{name}-1.0.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (place / "RECORD").write_text(f"{module}.py,,\n")
    (folder / f"{module}.py").write_text("")


@pytest.mark.parametrize("key", ["HyperPyYAML", "hyperpyyaml", "hyper-pyyaml"])
def test_a_key_is_found_in_whatever_way_its_distribution_is_spelled(built, tmp_path, key):
    installed(tmp_path / "site", "Hyper_PyYAML" if "-" in key else "HyperPyYAML", "hyperpyyaml")
    run = without(built, tmp_path, key)
    assert (run.returncode, (tmp_path / "site" / "spoiled.pth").read_text()) == (
        0,
        "import sys; sys.modules.update({'hyperpyyaml': None})\n",
    )


def test_a_key_that_is_not_installed_fails_the_script(built, tmp_path):
    installed(tmp_path / "site", "HyperPyYAML", "hyperpyyaml")
    run = without(built, tmp_path, "deepcache")
    assert (run.returncode, run.stderr.strip()) == (1, "deepcache has no module here")


def without(built, tmp_path, key):
    """Remove a key from an environment that is built on another one."""
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    wanted = replace(built, oracle=Oracle(key=key), base=Path(sys.executable))
    lines = "\n".join(oracle._spoiled(wanted, Sabotage.KEY_REMOVED))
    return shell(lines, HOME=tmp_path, site=tmp_path / "site", PYTHONPATH=tmp_path / "site")
