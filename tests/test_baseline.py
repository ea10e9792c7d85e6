"""The baselines set tiny repositories up without a network, and tell the truth about it."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from reb_action.agents import declared

BASELINE = Path(declared.__file__).with_name("baseline.py")

# A build backend inside the repository: building needs nothing from an index.
BACKEND = """
import zipfile
def _wheel(folder, files):
    name = "tiny-1.0-py3-none-any.whl"
    meta = "tiny-1.0.dist-info/"
    files[meta + "METADATA"] = "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n" + REQUIRES
    files[meta + "WHEEL"] = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[meta + "RECORD"] = ""
    with zipfile.ZipFile(folder + "/" + name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
def build_wheel(folder, config=None, metadata=None):
    return _wheel(folder, {"tiny.py": open("tiny.py").read()})
def build_editable(folder, config=None, metadata=None):
    import os
    return _wheel(folder, {"tiny.pth": os.getcwd() + "\\n"})
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "tiny"
version = "1.0"
dependencies = [{dependencies}]
"""


def add_wheel(folder: Path, name: str, *, version: str = "1.0", code: str = "") -> None:
    meta = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": code,
        f"{meta}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{meta}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},{_digest(text)},{len(text)}\n" for path, text in files.items())
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in {**files, f"{meta}/RECORD": record}.items():
            archive.writestr(path, text)


def _digest(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    add_wheel(folder, "good")
    add_wheel(folder, "better")
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace" / "repo"
    folder.mkdir(parents=True)
    return folder


def project(repo: Path, *dependencies: str) -> None:
    requires = "".join(f"Requires-Dist: {line}\n" for line in dependencies)
    (repo / "backend.py").write_text(BACKEND.replace("REQUIRES", repr(requires)))
    listed = ", ".join(f'"{line}"' for line in dependencies)
    (repo / "pyproject.toml").write_text(PYPROJECT.format(dependencies=listed))
    (repo / "tiny.py").write_text("VALUE = 1\n")


def play(repo: Path, wheels: Path, tool: str = "uv", *, seconds: int = 300) -> dict[str, Any]:
    """Run a baseline as a sandbox would and return its report."""
    home = repo.parent.parent / "home"
    home.mkdir(exist_ok=True)
    tools = f"{Path(sys.executable).parent}:" if tool == "uv" else ""
    report = repo.parent / "report.json"
    env = {
        "PATH": f"{tools}/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "REB_REPOSITORY": str(repo),
        "REB_REPORT": str(report),
        "REB_DEADLINE_SECONDS": str(seconds),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_CONFIG_FILE": os.devnull,
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(wheels),
        "UV_OFFLINE": "1",
    }
    argv = ["python3", str(BASELINE), tool]
    done = subprocess.run(argv, cwd=repo, env=env, timeout=280, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(report.read_text())


def modules(report: dict[str, Any], *names: str) -> list[str]:
    """Return which of these modules the reported interpreter can import."""
    code = "import importlib.util as i, sys; print(*filter(i.find_spec, sys.argv[1:]))"
    argv = [report["python_path"], "-c", code, *names]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60).stdout.split()


def notes(report: dict[str, Any]) -> list[str]:
    """Return the journal with installs in one form, whichever the tool."""
    pattern = r"(~/venv/bin/python -m pip|uv pip) install( --python ~/venv/bin/python)?"
    return [re.sub(pattern, "install", line) for line in report["notes"].splitlines()]


@pytest.mark.parametrize(("tool", "env_tool"), [("pip", "venv"), ("uv", "uv")])
def test_project_and_requirements_are_installed(
    repo: Path, wheels: Path, tool: str, env_tool: str
) -> None:
    project(repo, "good")
    (repo / "requirements.txt").write_text("better\n")
    report = play(repo, wheels, tool)
    assert modules(report, "tiny", "good", "better") == ["tiny", "good", "better"]
    assert report["env_tool"] == env_tool
    assert notes(report)[-3:] == [
        "ok: install -e .",
        "ok: install -r requirements.txt",
        "ModuleNotFoundError: No module named 'torch'",
    ]


def test_report_says_what_the_interpreter_says(repo: Path, wheels: Path) -> None:
    torch = 'import types\n__version__ = "2.9.9+cpu"\ncuda = types.SimpleNamespace('
    torch += "is_available=lambda: False, device_count=lambda: 0)\n"
    add_wheel(wheels, "torch", code=torch)
    (repo / "train.py").write_text("import torch\n")
    report = play(repo, wheels)
    version = subprocess.run(
        [report["python_path"], "-c", "import platform; print(platform.python_version())"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert {**report, "notes": "", "python_path": ""} == {
        "python_path": "",
        "python_version": version.stdout.strip(),
        "torch_version": "2.9.9+cpu",
        "cuda_available": False,
        "gpu_count": 0,
        "ddp_expected_ok": None,
        "env_tool": "uv",
        "env_name": "venv",
        "notes": "",
    }


def test_one_bad_pin_does_not_lose_the_other_requirements(repo: Path, wheels: Path) -> None:
    (repo / "requirements.txt").write_text("good\nnosuch==9.9  # gone\n\nbetter>=0.5\n")
    report = play(repo, wheels)
    assert modules(report, "good", "better") == ["good", "better"]
    assert "failed (1): install nosuch==9.9" in notes(report)
    assert report["torch_version"] is None


def test_bad_pin_of_the_project_costs_only_that_requirement(repo: Path, wheels: Path) -> None:
    project(repo, "good", "nosuch==9.9")
    report = play(repo, wheels)
    assert modules(report, "tiny", "good") == ["tiny", "good"]
    assert notes(report)[-2:-1] == ["ok: install --no-deps -e ."]


def test_tracked_files_are_as_before(repo: Path, wheels: Path) -> None:
    project(repo)
    backend = repo / "backend.py"
    backend.write_text(backend.read_text() + "\nopen('tiny.py', 'a').write('# built')\n")
    for argv in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "all"]):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *argv], cwd=repo, check=True, timeout=60)
    report = play(repo, wheels)
    assert (repo / "tiny.py").read_text() == "VALUE = 1\n"
    assert "ok: git -c safe.directory=* checkout --quiet HEAD -- ." in notes(report)


def test_report_is_written_when_there_is_no_time(repo: Path, wheels: Path) -> None:
    report = play(repo, wheels, "pip", seconds=1)
    assert report["env_tool"] == "none"
    assert report["python_version"] is not None
    assert notes(report) == [
        f"no time left: {report['python_path']} -m venv ~/venv",
        "ModuleNotFoundError: No module named 'torch'",
    ]


@pytest.mark.slow
def test_baseline_reaches_the_package_index(repo: Path, tmp_path: Path) -> None:
    (repo / "requirements.txt").write_text("six==1.17.0\n")
    passed = {name: text for name, text in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    env = {
        **passed,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "REB_REPOSITORY": str(repo),
        "REB_REPORT": str(tmp_path / "report.json"),
        "REB_DEADLINE_SECONDS": "250",
    }
    subprocess.run(["python3", str(BASELINE), "pip"], cwd=repo, env=env, timeout=280, check=True)
    report = json.loads((tmp_path / "report.json").read_text())
    assert modules(report, "six") == ["six"]


def test_requirement_files_for_other_purposes_are_left_out(repo: Path) -> None:
    (repo / "requirements").mkdir()
    names = (
        "requirements-dev.txt",
        "requirements_gpu.txt",
        "requirements.txt",
        "requirements/ci.txt",
    )
    for name in (*names, "requirements/cuda.txt", "requirements-cpu.txt", "requirements_docs.txt"):
        (repo / name).touch()
    found = [str(path.relative_to(repo)) for path in declared.requirement_files(repo)]
    assert found == ["requirements.txt", "requirements_gpu.txt", "requirements/cuda.txt"]


def test_requirement_lines_follow_includes_and_keep_options(repo: Path) -> None:
    (repo / "base.txt").write_text("--extra-index-url=https://example.org/simple\nnumpy\n")
    text = "-r base.txt\n# nothing\n-e .\ntorch>=2 ; \\\n python_version>'3'\n"
    (repo / "requirements.txt").write_text(text + "-e git+https://x/y#egg=y\n")
    assert declared.requirement_lines(repo / "requirements.txt") == (
        ["--extra-index-url", "https://example.org/simple"],
        ["numpy", "torch>=2 ;   python_version>'3'", "-e git+https://x/y#egg=y"],
    )


def test_requirements_file_that_includes_itself_ends(repo: Path) -> None:
    (repo / "requirements.txt").write_text("-r requirements.txt\nnumpy\n")
    assert set(declared.requirement_lines(repo / "requirements.txt")[1]) == {"numpy"}


def test_pip_section_of_a_conda_environment_is_read(repo: Path) -> None:
    text = "dependencies:\n  - python=3.10\n  - pip:\n    - numpy==1.26  # old\n    - 'scipy'\n"
    (repo / "environment.yml").write_text(f"name: x\n{text}  - cudatoolkit\nprefix: /x\n")
    assert declared.conda_requirements(repo) == ["numpy==1.26", "scipy"]


def test_dependencies_of_a_poetry_project_are_translated(repo: Path) -> None:
    (repo / "pyproject.toml").write_text(
        '[tool.poetry.dependencies]\npython = "^3.9"\nnumpy = "^1.26"\nscipy = "*"\nplain = "1.2"\n'
        'rich = {version = "~13.0", extras = ["jupyter"]}\n'
        'extra = {version = "1", optional = true}\n'
        'own = {git = "https://example.org/own", rev = "abc"}\n'
    )
    assert declared.project_file(repo) == "pyproject.toml"
    assert declared.dependencies(repo) == [
        "numpy>=1.26",
        "scipy",
        "plain==1.2",
        "rich[jupyter]>=13.0",
        "own @ git+https://example.org/own@abc",
    ]


def test_dependencies_of_setup_files_are_read_without_running_them(repo: Path) -> None:
    (repo / "setup.cfg").write_text(
        "[options]\npython_requires = >=3.8\ninstall_requires =\n  numpy\n"
    )
    (repo / "setup.py").write_text("deps = ['scipy']\n1 / 0\nsetup(install_requires=deps)\n")
    assert declared.project_file(repo) == "setup.py"
    assert declared.requires_python(repo) == ">=3.8"
    assert declared.dependencies(repo) == ["numpy", "scipy"]


@pytest.mark.parametrize(
    ("code", "wanted"),
    [("import torch.nn\n", True), ("    from torch import x\n", True), ("import torchx\n", False)],
)
def test_torch_is_wanted_when_code_imports_it(repo: Path, code: str, wanted: bool) -> None:
    (repo / "model.py").write_text(code)
    assert declared.imports_torch(repo) is wanted


def test_files_that_cannot_be_read_declare_nothing(repo: Path) -> None:
    for name in ("pyproject.toml", "setup.cfg", "requirements.txt", "environment.yml"):
        (repo / name).write_bytes(b"[\xff\x00")
    (repo / "setup.py").write_bytes(b"def (\x00")
    (repo / "model.py").mkdir()
    assert declared.dependencies(repo) == []
    assert declared.requires_python(repo) is None
    assert declared.conda_requirements(repo) == []
    assert declared.imports_torch(repo) is False
