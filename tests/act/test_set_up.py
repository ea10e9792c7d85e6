"""The set-up step: built once, whoever asks, and never half."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.act.act_consumer import PRODUCT

SCRIPT = Path("reb_action", "github", "setup.py")
PACKAGES = SCRIPT.with_name("packages.py")

LOCK = (PRODUCT / "requirements.lock").read_text()
UV = re.search(r"^uv==\S+ .*?(?<!\\)$", LOCK, re.MULTILINE | re.DOTALL)[0]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """A folder with the one wheel that the shortest lock names."""
    folder = tmp_path_factory.mktemp("wheels")
    pin = UV.split()[0]
    argv = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--dest", folder, pin]
    subprocess.run(argv, check=True)
    return folder


@pytest.fixture
def action(tmp_path, wheels):
    """An action whose lock names uv alone, which lies in a folder of wheels."""
    place = tmp_path / "the action's folder"
    (place / SCRIPT).parent.mkdir(parents=True)
    for path in (SCRIPT, PACKAGES):
        shutil.copy(PRODUCT / path, place / path)
    (place / "requirements.lock").write_text(f"{UV}\n")
    (tmp_path / "wheels").symlink_to(wheels)
    (place / "reb_action" / "__main__.py").write_text("import sys; print(sys.argv[1:])")
    (tmp_path / "temp").mkdir()
    return place


def begin(action, python=sys.executable, **env):
    place = action.parent
    given = {
        "PATH": "/usr/bin:/bin",
        "RUNNER_TEMP": str(place / "temp"),
        "RUNNER_TOOL_CACHE": str(place / "cache"),
        "GITHUB_OUTPUT": str(place / "output"),
        "PIP_FIND_LINKS": str(place / "wheels"),
        "PIP_NO_INDEX": "1",
    }
    return subprocess.Popen(
        [python, "-I", action / SCRIPT],
        env={**given, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def outputs(action):
    lines = (action.parent / "output").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_cold_then_warm_then_launched(action):
    first, _ = begin(action).communicate()
    second, _ = begin(action).communicate()
    assert first.startswith("reb is installed after")
    assert second.startswith("reb is found in the tool cache after")
    told = subprocess.run([outputs(action)["reb"], "a b"], capture_output=True, text=True)
    assert told.stdout == "['a b']\n"


def test_many_at_once_build_one(action):
    begun = [begin(action) for _ in range(4)]
    said = [one.communicate()[0] for one in begun]
    assert sum("reb is installed" in text for text in said) == 1
    assert [one.returncode for one in begun] == [0] * 4


def test_what_a_killed_builder_left_is_built_again(action):
    begin(action).communicate()
    (made,) = (action.parent / "cache").rglob("pyvenv.cfg")
    half = made.parent.rename(made.parent.with_suffix(".part"))
    shutil.rmtree(half / "bin")
    assert begin(action).communicate()[0].startswith("reb is installed")
    assert not half.exists()


def test_cache_that_cannot_be_written_is_replaced_by_the_temporary_folder(action):
    (action.parent / "cache").write_text("a file where a folder should be")
    assert begin(action).communicate()[0].startswith("reb is installed")
    assert str(action.parent / "temp") in (Path(outputs(action)["reb"]).read_text())


@pytest.mark.parametrize("minutes", ["soon", "0", "-1", "1.5", "99999", "²", "9" * 5000])
def test_minutes_that_are_none_are_refused_by_name(action, minutes):
    step = begin(action, REB_JOB_MINUTES=minutes)
    assert "::error title=researchenvbench::job-minutes is" in step.communicate()[0]
    assert step.returncode == 2


def test_package_that_is_not_what_the_lock_says_is_refused(action):
    (action / "requirements.lock").write_text(f"{UV}\ntiny==1 --hash=sha256:{'0' * 64}\n")
    step = begin(action)
    assert "could not install the locked packages" in step.communicate()[0]
    assert step.returncode == 6
    assert not [
        path for path in (action.parent / "cache").rglob("pyvenv.cfg") if "part" not in str(path)
    ]


def test_uv_that_is_not_what_the_lock_says_is_refused(action):
    wrong = re.sub("sha256:[0-9a-f]{64}", f"sha256:{'0' * 64}", UV)
    (action / "requirements.lock").write_text(f"{wrong}\n")
    step = begin(action)
    assert "could not install uv" in step.communicate()[0]
    assert step.returncode == 6


def test_lock_without_uv_is_refused(action):
    (action / "requirements.lock").write_text("")
    step = begin(action)
    assert "requirements.lock does not pin uv" in step.communicate()[0]
    assert step.returncode == 6


def test_python_without_pip_of_its_own_gets_one(action, tmp_path):
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    said = begin(action, python=bare / "bin" / "python").communicate()[0]
    assert said.startswith("reb is installed")


def test_caller_cannot_shadow_modules_or_settings(action, tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')")
    (tmp_path / "hashlib.py").write_text("raise SystemExit('shadowed')")
    hostile = {"PYTHONPATH": str(tmp_path), "PIP_TARGET": str(tmp_path / "t"), "PIP_USER": "1"}
    hostile |= {"UV_TARGET": str(tmp_path / "t"), "UV_INDEX_URL": "http://127.0.0.1:9/"}
    assert begin(action, **hostile).communicate()[0].startswith("reb is installed")
    assert not (tmp_path / "t").exists()
    assert [path.name for path in (tmp_path / "temp").iterdir()] == ["researchenvbench"]
