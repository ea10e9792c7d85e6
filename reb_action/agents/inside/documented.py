"""Follows the repository's own instructions: `documented.py`, with `setup.json` in its folder.

It runs the lines of `setup.json` in a fresh environment, then the documented command once. If
either fails, it does the same with older versions of Python, which tells instructions that are
broken from instructions that are only old. It repairs nothing. The environment that worked is
reported, else the first one; the last line of the notes records each attempt.

Standard library only, Python 3.8 syntax: it runs inside a sandbox, in the system's Python.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from documented_bench import Attempt, Bench, decisive, ended, fill, within

RECORD = "setup-record: "
OWN = f"3.{sys.version_info[1]}"
OLDEST = 8
LEAST_SECONDS = 30
MEASURED = ("python_version", "torch_version", "cuda_available", "gpu_count")
MEASURE = """
import json, platform
from importlib import metadata
found = {str(one.metadata["Name"]).lower(): one.version for one in metadata.distributions()}
seen = {"python_version": platform.python_version(), "packages": found}
try:
    import torch
    seen["torch_version"] = str(torch.__version__)
    seen["cuda_available"] = bool(torch.cuda.is_available())
    seen["gpu_count"] = int(torch.cuda.device_count())
except Exception:
    # A torch that is absent or broken leaves its fields out of the report; the probes say why.
    pass
print("\\n" + json.dumps(seen))
"""
NOTES_LIMIT = 40000
PACKAGES_LIMIT = 500
CONDA = ("micromamba", "mamba", "conda")


def main() -> int:
    """Follow the instructions; a report is written in any case."""
    job = json.loads(Path(__file__).with_name("setup.json").read_text(encoding="utf-8"))
    bench = Bench(job, dict(os.environ))
    for note in job["skipped"]:
        bench.say(f"left out: {note}")
    attempt(bench, job["python"] or OWN)
    if bench.attempts[0].stage in ("install", "command") and not bench.conda:
        try_older(bench)
    best = next((one for one in bench.attempts if one.stage == "done"), bench.attempts[0])
    best.reported = True
    restore(bench)
    write_report(bench, best)
    return 0


def try_older(bench: Bench) -> None:
    """Repeat with older versions of Python until one works or the time is over."""
    minor = int(bench.attempts[0].python.split(".")[1])
    for older in range(minor - 1, OLDEST - 1, -1):
        version = f"3.{older}"
        if bench.left < LEAST_SECONDS:
            bench.say("no time left for an older Python")
            return
        if find_python(bench, version) is None:
            bench.say(f"Python {version} is not here")
            continue
        clean(bench)
        attempt(bench, version)
        if bench.attempts[-1].stage == "done":
            return


def attempt(bench: Bench, version: str) -> None:
    """Set up and run once with one version of Python, and record how far it came."""
    venv = bench.home / ("venv" if not bench.attempts else f"venv-{version}")
    tried = Attempt(version)
    bench.attempts.append(tried)
    begun = time.monotonic()
    if make_environment(bench, venv, tried) and install(bench, venv, tried):
        run_command(bench, venv, tried)
    tried.seconds = round(time.monotonic() - begun, 1)
    bench.say(f"Python {version}: {tried.stage} {tried.step} {tried.line}".strip())


def make_environment(bench: Bench, venv: Path, tried: Attempt) -> bool:
    """Make an empty environment outside the repository; conda's is made by the instructions."""
    tried.path = str(venv / "bin" / "python")
    if bench.conda:
        tool = find_conda()
        tried.line = "" if tool else "the sandbox has no conda, mamba or micromamba"
        return tool is not None
    python = find_python(bench, tried.python)
    if python is None:
        tried.line = f"the sandbox has no Python {tried.python} and cannot fetch it"
        return False
    code, text = ended(bench, [python, "-m", "venv", str(venv)], bench.environ)
    tried.code, tried.line = code, decisive(text) if code else ""
    return code == 0


def find_conda() -> str | None:
    """Return the first of conda's programs that the sandbox has."""
    return next((tool for tool in CONDA if shutil.which(tool)), None)


def find_python(bench: Bench, version: str) -> str | None:
    """Return an interpreter of a version: one on PATH that runs, else one that uv can get."""
    if version == OWN:
        return sys.executable
    found = shutil.which(f"python{version}")
    if found and ended(bench, [found, "--version"], bench.environ, quiet=True)[0] == 0:
        return found
    uv = shutil.which("uv")
    if uv is None:
        return None
    ended(bench, [uv, "python", "install", "--quiet", version], bench.environ)
    code, text = ended(bench, [uv, "python", "find", version], bench.environ, quiet=True)
    return text.strip().split("\n")[-1] if code == 0 else None


def install(bench: Bench, venv: Path, tried: Attempt) -> bool:
    """Run the lines in one shell, which ends at the first that fails."""
    names = {"prefix": str(venv), "conda": find_conda() or ""}
    lines = [fill(line, names) if bench.conda else line for line in bench.job["lines"]]
    state = bench.home / ".documented-state"
    state.write_text("", encoding="utf-8")
    report = f'printf "%s\\n%s" "$REB_LINE" "$(command -v python)" > "{state}"'
    script = ["set -eo pipefail", f"trap '{report}' EXIT"]
    for number, line in enumerate(lines, 1):
        script += [f"REB_LINE={number}", line]
    code, text = ended(bench, ["bash", "-c", "\n".join(script)], within(bench, venv))
    number, _, python = state.read_text(encoding="utf-8").strip().partition("\n")
    if code != 0:
        step = lines[int(number) - 1] if number.isdigit() else ""
        tried.end("install", code, step, text)
        return False
    if python.startswith("/") and not bench.conda:
        # The instructions may make an environment of their own, and leave it active.
        tried.path = python
    tried.stage = "done"
    return True


def run_command(bench: Bench, venv: Path, tried: Attempt) -> None:
    """Run the documented command once; only its exit code counts here, not what it proves."""
    command = bench.job["command"]
    if command is None:
        return
    folder = bench.home / f"run-{venv.name}"
    for name in ("out", "files"):
        (folder / name).mkdir(parents=True)
    for name, text in command["files"].items():
        (folder / "files" / name).write_text(text, encoding="utf-8")
    names = {
        "python": tried.path,
        "repo": str(bench.repo),
        "out": str(folder / "out"),
        "files": str(folder / "files"),
        "ranks": "1",
    }
    environ = within(bench, venv)
    environ.update({key: fill(text, names) for key, text in command["env"].items()})
    argv = [fill(word, names) for word in command["argv"]]
    cwd, seconds = fill(command["cwd"], names), float(command["timeout_seconds"])
    code, text = ended(bench, argv, environ, cwd=cwd, seconds=seconds)
    if code != 0:
        tried.end("command", code, " ".join(command["argv"]), text)


def clean(bench: Bench) -> None:
    """Remove what builds left in the checkout: another Python must not find it."""
    restore(bench)
    git = ["git", "-c", "safe.directory=*", "clean", "-ffdxq"]
    ended(bench, git, bench.environ, quiet=True)


def restore(bench: Bench) -> None:
    """Undo what builds and the command did to tracked files."""
    git = ["git", "-c", "safe.directory=*", "checkout", "--quiet", "HEAD", "--", "."]
    ended(bench, git, bench.environ, quiet=True, seconds=60)


def write_report(bench: Bench, best: Attempt) -> None:
    """Write the report from the answers of the environment's own interpreter."""
    python = best.path if Path(best.path).exists() else sys.executable
    code, text = ended(bench, [python, "-c", MEASURE], bench.environ, quiet=True, seconds=120)
    try:
        seen: dict[str, Any] = json.loads(text.strip().split("\n")[-1]) if code == 0 else {}
    except ValueError:
        seen = {}
    packages = dict(sorted(seen.get("packages", {}).items())[:PACKAGES_LIMIT])
    attempts = [vars(one) for one in bench.attempts]
    record = RECORD + json.dumps({"attempts": attempts, "packages": packages})
    report: dict[str, object] = {name: seen.get(name) for name in MEASURED}
    report.update(
        python_path=python,
        ddp_expected_ok=None,
        env_tool="conda" if bench.conda else "venv",
        env_name=None,
        notes="\n".join(bench.journal)[: max(NOTES_LIMIT - len(record), 0)] + "\n" + record,
    )
    path = Path(bench.environ["REB_REPORT"])
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    part.replace(path)


if __name__ == "__main__":
    sys.exit(main())
