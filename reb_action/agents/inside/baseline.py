"""Sets a repository up without a model: `baseline.py pip|uv`, in the repository's folder.

It runs the commands that a newcomer tries first, each once: install the project (`-e .`, else `.`),
then each requirement file. It does not guess or repair anything, so an agent's lead over it is the
agent's own work. At 80 % of the time it stops and reports its measurements.

Standard library only, Python 3.8 syntax: it runs inside a sandbox, in the system's Python.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

UV = "uv==0.13.9"
MEASURE = """
import json, platform, sys
seen = {"python_version": platform.python_version()}
try:
    import torch
    seen["torch_version"] = str(torch.__version__)
    seen["cuda_available"] = bool(torch.cuda.is_available())
    seen["gpu_count"] = int(torch.cuda.device_count())
except Exception as error:
    seen["error"] = "%s: %s" % (type(error).__name__, error)
print("\\n" + json.dumps(seen))
"""
NOTES_LIMIT = 20000
PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
# Requirement files for something else than running the code as released.
OTHER_PURPOSE = re.compile(
    r"(^|[-_.])(dev|develop|tests?|testing|ci|lint|docs?|mypy|format|build|release|notebooks?"
    r"|rocm|amd|hip|xpu|npu|tpu|hpu|neuron|ascend|mac|macos|mps|windows|win|cpu|arm64)([-_.]|$)"
)


class Bench:
    """The environment under construction: its files, the commands so far, the time left."""

    def __init__(self, tool: str, environ: dict[str, str]) -> None:
        self.tool = tool
        self.repo = Path(environ["REB_REPOSITORY"])
        self.report = Path(environ["REB_REPORT"])
        self.home = Path(environ["HOME"])
        self.venv = self.home / "venv"
        self.python = self.venv / "bin" / "python"
        self.uv = "uv"
        self.journal: list[str] = []
        seconds = float(environ["REB_DEADLINE_SECONDS"])
        self.stop_installing = time.monotonic() + 0.8 * seconds
        self.stop_measuring = time.monotonic() + 0.95 * seconds

    def say(self, line: str) -> None:
        """Write a line into the log and the notes of the report."""
        self.journal.append(line)
        sys.stdout.write(f"baseline: {line}\n")
        sys.stdout.flush()

    def run(self, *argv: str) -> bool:
        """Run a command within the time that is left, and record its result."""
        left = self.stop_installing - time.monotonic()
        shown = " ".join(argv).replace(str(self.home), "~")
        if left < 1:
            self.say(f"no time left: {shown}")
            return False
        code = _ended(argv, cwd=self.repo, seconds=left)
        outcome = {0: "ok", None: "no time left"}.get(code, f"failed ({code})")
        self.say(f"{outcome}: {shown}")
        return code == 0

    def install(self, *arguments: str) -> bool:
        """Run one install into the environment."""
        if self.tool == "uv":
            return self.run(self.uv, "pip", "install", "--python", str(self.python), *arguments)
        return self.run(str(self.python), "-m", "pip", "install", *arguments)


def main() -> int:
    """Build the environment as far as possible; a report is written in any case."""
    bench = Bench(sys.argv[1], dict(os.environ))
    if make_environment(bench):
        write_report(bench)
        install_all(bench)
        restore(bench)
    write_report(bench)
    return 0


def make_environment(bench: Bench) -> bool:
    """Make an empty environment outside the repository."""
    if bench.tool != "uv":
        return bench.run(sys.executable, "-m", "venv", str(bench.venv))
    if not bench.run("uv", "--version"):
        tools = bench.home / "uv"
        bench.run(sys.executable, "-m", "venv", str(tools))
        bench.run(str(tools / "bin" / "python"), "-m", "pip", "install", UV)
        bench.uv = str(tools / "bin" / "uv")
    # uv itself chooses an interpreter that the project's requires-python admits.
    make = (bench.uv, "venv", "--no-python-downloads", str(bench.venv))
    return bench.run(*make) or bench.run(*make, "--no-project", "--python", sys.executable)


def install_all(bench: Bench) -> None:
    """Install the project and its requirement files."""
    if any((bench.repo / name).is_file() for name in PROJECT_FILES):
        any(bench.install(*target) for target in (("-e", "."), (".",)))
    for path in requirement_files(bench.repo):
        bench.install("-r", str(path.relative_to(bench.repo)))


def requirement_files(repo: Path) -> list[Path]:
    """Return the requirement files for running the code, the main one first."""
    paths = [*repo.glob("requirements*.txt"), *repo.glob("requirements/*.txt")]
    wanted = [path for path in paths if path.is_file() and not _has_other_purpose(path)]
    return sorted(
        wanted, key=lambda path: (len(path.parts), path.stem != "requirements", path.name)
    )


def _has_other_purpose(path: Path) -> bool:
    return OTHER_PURPOSE.search(path.stem.lower()) is not None


def restore(bench: Bench) -> None:
    """Undo what builds did to tracked files."""
    git = ("git", "-c", "safe.directory=*")
    if (bench.repo / ".git").exists() and not bench.run(*git, "diff", "--quiet", "HEAD"):
        bench.run(*git, "checkout", "--quiet", "HEAD", "--", ".")


def write_report(bench: Bench) -> None:
    """Write the report from the answers of the environment's own interpreter."""
    exists = bench.python.exists()
    python = str(bench.python) if exists else sys.executable
    seen = measure(python, seconds=bench.stop_measuring - time.monotonic())
    report = {
        "python_path": python,
        "python_version": seen.get("python_version"),
        "torch_version": seen.get("torch_version"),
        "cuda_available": seen.get("cuda_available"),
        "gpu_count": seen.get("gpu_count"),
        "ddp_expected_ok": None,
        "env_tool": {"pip": "venv", "uv": "uv"}[bench.tool] if exists else "none",
        "env_name": bench.venv.name if exists else None,
        "notes": "\n".join([*bench.journal, str(seen.get("error", ""))])[-NOTES_LIMIT:].strip(),
    }
    part = bench.report.with_name(bench.report.name + ".part")
    part.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    part.replace(bench.report)


def measure(python: str, *, seconds: float) -> dict[str, object]:
    """Return the versions and devices that an interpreter reports; missing answers are left out."""
    try:
        done = subprocess.run(
            [python, "-c", MEASURE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=max(seconds, 1),
            check=True,
        )
        return json.loads(done.stdout.decode("utf-8", "replace").strip().split("\n")[-1])
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return {"error": f"the interpreter did not answer: {error}"}


def _ended(argv: tuple[str, ...], *, cwd: Path, seconds: float) -> int | None:
    """Run to the end or the deadline, when everything that the command started is ended too."""
    try:
        process = subprocess.Popen(
            argv, cwd=str(cwd), stdin=subprocess.DEVNULL, start_new_session=True
        )
    except OSError:
        return 127
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


if __name__ == "__main__":
    sys.exit(main())
