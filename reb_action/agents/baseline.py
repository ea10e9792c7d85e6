"""Sets a repository up without a model: `baseline.py pip|uv`, in the repository's folder.

In a fixed order, with nothing guessed: the project itself; requirement files; the pip section of a
conda environment; where the project could not be installed, its requirements one by one; torch, if
the code imports it and nothing brought it; at last the project again, without its requirements and
without build isolation. What cannot be installed whole is installed line by line, so that one bad
pin does not lose all. At 80 % of the time it stops and reports what it has measured.

Standard library only, Python 3.8 syntax: it runs inside a sandbox, in the system's Python.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import declared

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


class Bench:
    """The environment in the making: what it is made of, what was done, what time is left."""

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
        """Run a command within the time that is left, and note what came of it."""
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

    def install_each(self, lines: list[str], *options: str) -> None:
        """Install all at once or, if that fails, one by one."""
        if not lines or self.install(*options, *(word for line in lines for word in _words(line))):
            return
        for line in lines if len(lines) > 1 else ():
            self.install(*options, *_words(line))


def main() -> int:
    """Build what can be built; a report is written in any case."""
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
    make = (bench.uv, "venv", "--no-python-downloads", str(bench.venv), "--python")
    wanted = declared.requires_python(bench.repo)
    return bool(wanted and bench.run(*make, wanted)) or bench.run(*make, sys.executable)


def install_all(bench: Bench) -> None:
    """Install all that the repository declares."""
    project = declared.project_file(bench.repo)
    bench.say(f"the project is declared in {project or 'no file'}")
    installed = project is None or _first(bench, [["-e", "."], ["."]])
    for path in declared.requirement_files(bench.repo):
        install_file(bench, path)
    bench.install_each(declared.conda_requirements(bench.repo))
    if not installed:
        bench.install_each(declared.dependencies(bench.repo))
    install_torch(bench)
    if not installed:
        bench.install_each(declared.build_requirements(bench.repo))
        bare = ["--no-deps", "--no-build-isolation"]
        _first(bench, [["--no-deps", "-e", "."], [*bare, "-e", "."], [*bare, "."]])


def install_file(bench: Bench, path: Path) -> None:
    """Install a requirement file whole or, if that fails, line by line."""
    if not bench.install("-r", str(path.relative_to(bench.repo))):
        options, lines = declared.requirement_lines(path)
        for line in lines:
            bench.install(*options, *_words(line))


def install_torch(bench: Bench) -> None:
    """Install torch if the code imports it and nothing that was installed brought it."""
    if not declared.imports_torch(bench.repo):
        return
    find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    if _ended((str(bench.python), "-c", find), cwd=bench.home, seconds=60) != 0:
        bench.say("the code imports torch, and nothing brought it")
        bench.install("torch")


def restore(bench: Bench) -> None:
    """Undo what builds did to tracked files."""
    git = ("git", "-c", "safe.directory=*")
    if (bench.repo / ".git").exists() and not bench.run(*git, "diff", "--quiet", "HEAD"):
        bench.run(*git, "checkout", "--quiet", "HEAD", "--", ".")


def write_report(bench: Bench) -> None:
    """Write the report from what the environment's own interpreter says of itself."""
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
    """Return what an interpreter says of itself; what it does not answer is left out."""
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


def _first(bench: Bench, ways: list[list[str]]) -> bool:
    return any(bench.install(*way) for way in ways)


def _words(line: str) -> list[str]:
    """Return a line of a requirement file as arguments, without options such as hashes."""
    return line.split(None, 1) if line.startswith("-") else [line.partition(" --")[0].strip()]


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
