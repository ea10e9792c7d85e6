"""Sets a repository up without a model: `baseline.py pip|uv`, in the repository's folder.

It runs the commands that a newcomer tries first, each once: install the project (`-e .`, else `.`),
then each requirement file. A package whose build fails is named, with the line that says why, and
is not tried again: the rest is installed without it. It does not guess or repair anything else, so
an agent's lead over it is the agent's own work. At 80 % of the time it stops and reports its
measurements.

Standard library only, Python 3.8 syntax: it runs inside a sandbox, in the system's Python.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
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
# The requirements of the project that pip or uv installed from this folder, one a line.
REQUIREMENTS = """
import sys
from importlib.metadata import distributions
for found in distributions():
    if sys.argv[1] in (found.read_text("direct_url.json") or ""):
        print(*(line for line in found.requires or () if "extra ==" not in line), sep="\\n")
"""
KEPT_LINES = 5000
# What a single command may use of the time left, so that a long build leaves some for the others.
SHARE = 0.6
BUILD_FAILED = re.compile(
    r"Failed (?:building (?:wheel|editable) for|to build|to download and build)"
    r" [`'\"]?(?!installable)([A-Za-z0-9][\w.-]*)"
)
BUILDER_FAILED = re.compile(
    "subprocess-exited-with-error|metadata-generation-failed|BackendUnavailable"
)
BEGUN = re.compile(
    r"^ *(?:Collecting|Building wheel for|Building editable for) ([A-Za-z0-9][\w.-]*)"
)
# A release's file or a folder of the repository.
FILE_BEGUN = re.compile(
    r"^ *Processing (?:\S*/)?([A-Za-z0-9][\w.-]*?)(?:-\d[^/\s]*)?/?(?: \(from .*)?$"
)
ERROR = re.compile(r"^[ \u2502|]*((?:[\w.]*(?:Error|Exception)|fatal error|[^ ]+: error): ?.*)")
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
        # Packages whose build failed, each with the line that says why.
        self.failed: dict[str, str] = {}
        seconds = float(environ["REB_DEADLINE_SECONDS"])
        self.stop_installing = time.monotonic() + 0.8 * seconds
        self.stop_measuring = time.monotonic() + 0.95 * seconds

    def say(self, line: str) -> None:
        """Write a line into the log and the notes of the report."""
        self.journal.append(line)
        sys.stdout.write(f"baseline: {line}\n")
        sys.stdout.flush()

    def run(self, *argv: str, share: float = 1.0) -> bool:
        """Run a command within a share of the time that is left, and record its result."""
        left = share * (self.stop_installing - time.monotonic())
        shown = " ".join(argv).replace(str(self.home), "~")
        if left < 1:
            self.say(f"no time left: {shown}")
            return False
        code, lines = _ended(argv, cwd=self.repo, seconds=left)
        outcome = {0: "ok", None: "no time left"}.get(code, f"failed ({code})")
        self.say(f"{outcome}: {shown}")
        if code != 0 and share < 1:
            self.remember(find_failed_build(lines, stopped=code is None))
        return code == 0

    def remember(self, build: tuple[str, str] | None) -> None:
        """Name a build that failed and the line that says why; it is not tried again."""
        if build is not None and build[0] not in self.failed:
            self.failed[build[0]] = build[1]
            self.say(f"the build of {build[0]} failed: {build[1]}")

    def install(self, *arguments: str) -> bool:
        """Run one install into the environment."""
        if self.tool == "uv":
            argv = (self.uv, "pip", "install", "--python", str(self.python), *arguments)
        else:
            argv = (str(self.python), "-m", "pip", "install", *arguments)
        return self.run(*argv, share=SHARE)


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
        install_project(bench)
    for path in requirement_files(bench.repo):
        if not bench.failed and bench.install("-r", str(path.relative_to(bench.repo))):
            continue
        if bench.failed:
            text = path.read_text(encoding="utf-8", errors="replace")
            install_rest(bench, text.splitlines(), folder=path.parent)


def install_project(bench: Bench) -> None:
    """Install the project; if a dependency of it cannot be built, install it without that one."""
    if bench.install("-e", "."):
        return
    own = own_name(bench.repo)
    dependencies = {name for name in bench.failed if normalize(name) != own}
    if not dependencies:
        bench.install(".")
    elif bench.install("--no-deps", "-e", "."):
        code, lines = _ended(
            (str(bench.python), "-c", REQUIREMENTS, str(bench.repo)), cwd=bench.repo, seconds=60
        )
        install_rest(bench, lines if code == 0 else [], folder=bench.home)


def install_rest(bench: Bench, lines: list[str], *, folder: Path) -> None:
    """Install requirements without those whose build failed, until no other build fails."""
    rest = folder / ".baseline-rest.txt"
    try:
        while True:
            kept = [line for line in lines if not is_of(line, bench.failed)]
            known = len(bench.failed)
            rest.write_text("\n".join(kept) + "\n", encoding="utf-8")
            if bench.install("-r", str(rest)) or len(bench.failed) == known:
                return
    finally:
        rest.unlink()


def is_of(line: str, names: dict[str, str]) -> bool:
    """Return whether a line of a requirement file asks for one of these packages."""
    asked = line.strip()
    if "/" in asked and " @ " not in asked:
        return any(normalize(name) in normalize(asked) for name in names)
    found = re.match(r"[A-Za-z0-9][\w.-]*", asked)
    return found is not None and normalize(found[0]) in {normalize(name) for name in names}


def normalize(name: str) -> str:
    """Return a package's name in the form in which two spellings of it are equal."""
    return re.sub(r"[-_.]+", "-", name).lower()


def own_name(repo: Path) -> str:
    """Return the project's own name as its files state it; empty if they do not."""
    for name in PROJECT_FILES:
        text = (repo / name).read_text("utf-8", "replace") if (repo / name).is_file() else ""
        found = re.search(r"""(?m)^\s*name\s*=\s*['"]?([A-Za-z0-9][\w.-]*)""", text)
        if found:
            return normalize(found[1])
    return ""


def find_failed_build(lines: list[str], *, stopped: bool) -> tuple[str, str] | None:
    """Return the package whose build failed and the decisive line, from an installer's output."""
    named = [found[1] for line in lines for found in [BUILD_FAILED.search(line)] if found]
    begun = [
        found[1]
        for line in lines
        for found in [BEGUN.match(line) or FILE_BEGUN.match(line)]
        if found
    ]
    if stopped:
        last = lines[-1] if lines else ""
        building = BEGUN.match(last) if "Building" in last else None
        return (building[1], "it took too long") if building else None
    if not named and any(BUILDER_FAILED.search(line) for line in lines):
        named = begun[-1:]
    if not named:
        return None
    errors = [found[1] for line in lines for found in [ERROR.match(line)] if found]
    return named[0], errors[-1].strip()[:300] if errors else "its output has no error line"


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


def _ended(argv: tuple[str, ...], *, cwd: Path, seconds: float) -> tuple[int | None, list[str]]:
    """Run to the end or the deadline, when everything that the command started is ended too.

    Returns the exit code, None at the deadline, and the last lines of the output.
    """
    lines: deque[str] = deque(maxlen=KEPT_LINES)
    try:
        process = subprocess.Popen(
            argv,
            cwd=str(cwd),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError:
        return 127, []
    reader = threading.Thread(target=_repeat, args=(process, lines), daemon=True)
    reader.start()
    try:
        code = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        code = None
    # A process that left the group may hold the output open for longer.
    reader.join(timeout=5)
    return code, list(lines)


def _repeat(process: subprocess.Popen[bytes], lines: deque[str]) -> None:
    """Repeat a command's output in the log as it comes, and keep its last lines."""
    for raw in process.stdout or ():
        line = raw.decode("utf-8", "replace")
        sys.stdout.write(line)
        sys.stdout.flush()
        lines.append(line.rstrip())


if __name__ == "__main__":
    sys.exit(main())
