"""The baselines set tiny repositories up without a network, and tell the truth about it."""

import base64
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from reb_action.agents.inside import baseline

BASELINE = Path(baseline.__file__)

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


def add_native_sdist(folder: Path, name: str) -> None:
    """Add a source release whose build needs a torch that the build environment lacks."""
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "pyproject.toml": PYPROJECT.format(dependencies="").replace('"tiny"', f'"{name}"'),
        "backend.py": "def get_requires_for_build_wheel(config=None):\n    import torch\n",
    }
    with tarfile.open(folder / f"{name}-1.0.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-1.0/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


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


@pytest.mark.slow
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
    (repo / "requirements.txt").write_text("torch\n")
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


def test_each_command_runs_once_and_a_failure_is_noted(repo: Path, wheels: Path) -> None:
    project(repo, "good", "nosuch==9.9")
    (repo / "requirements.txt").write_text("better>=0.5\n")
    report = play(repo, wheels)
    assert modules(report, "tiny", "good", "better") == ["better"]
    assert notes(report)[-4:-1] == [
        "failed (1): install -e .",
        "failed (1): install .",
        "ok: install -r requirements.txt",
    ]


@pytest.mark.parametrize("tool", ["pip", "uv"])
def test_build_that_fails_is_named_once_and_the_rest_is_installed(
    repo: Path, wheels: Path, tool: str
) -> None:
    add_native_sdist(wheels, "native_attn")
    project(repo, "good", "native-attn")
    (repo / "requirements.txt").write_text("better\nnative_attn>=1.0  # kernels\n")
    report = play(repo, wheels, tool)
    assert modules(report, "tiny", "good", "better", "native_attn") == ["tiny", "good", "better"]
    named = [line for line in notes(report) if "the build of" in line]
    assert len(named) == 1
    assert baseline.normalize(named[0].split()[3]) == "native-attn"
    assert named[0].endswith("failed: ModuleNotFoundError: No module named 'torch'")
    assert [line.split(":")[0] for line in notes(report) if ": install" in line] == [
        "failed (1)",
        "ok",
        "ok",
        "ok",
    ]
    assert not list(repo.rglob(".baseline-rest.txt"))


@pytest.mark.parametrize(
    ("lines", "stopped", "found"),
    [
        (
            [
                "Collecting flash-attn==2.6.3 (from -r requirements.txt (line 3))",
                "  error: subprocess-exited-with-error",
                "      RuntimeError: FlashAttention needs CUDA 11.7",
                "error: metadata-generation-failed",
            ],
            False,
            ("flash-attn", "RuntimeError: FlashAttention needs CUDA 11.7"),
        ),
        (
            [
                "  a.cu:3: error: no operator matches",
                "  ERROR: Failed building wheel for apex",
                "ERROR: Failed to build installable wheels for some projects (apex)",
            ],
            False,
            ("apex", "a.cu:3: error: no operator matches"),
        ),
        (["Building wheel for deepspeed (setup.py): started"], True, ("deepspeed", "it took")),
        (["Downloading torch-2.1.whl (700 MB)"], True, None),
        (["ERROR: No matching distribution found for nosuch==9.9"], False, None),
    ],
)
def test_failed_build_is_found_in_an_installers_output(
    lines: list[str], stopped: bool, found: tuple[str, str] | None
) -> None:
    build = baseline.find_failed_build(lines, stopped=stopped)
    assert (build and build[0]) == (found and found[0])
    assert build is None or found is None or build[1].startswith(found[1])


@pytest.mark.parametrize(
    ("line", "is_of"),
    [
        ("flash_attn==2.6", True),
        ("Flash-Attn @ https://example.org/a.whl", True),
        ("git+https://example.org/flash-attn.git", True),
        ("flash-attn-stub", False),
        ("torch>=2  # before flash-attn", False),
        ("# flash-attn", False),
        ("", False),
    ],
)
def test_line_of_a_failed_package_is_recognised(line: str, is_of: bool) -> None:
    assert baseline.is_of(line, {"flash-attn": "why"}) is is_of


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
    found = [str(path.relative_to(repo)) for path in baseline.requirement_files(repo)]
    assert found == ["requirements.txt", "requirements_gpu.txt", "requirements/cuda.txt"]
