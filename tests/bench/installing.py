"""How long the action's set-up takes, against pip and uv from the same lock.

    python -m tests.bench.installing

Everything is fetched anew but for uv's second time; one round, since the network sets the pace.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
BIN = Path(sys.executable).parent
LOCK = ROOT / "requirements.lock"


def timed(*argv: object, **env: str) -> float:
    """Return how many seconds a command takes."""
    began = time.monotonic()
    subprocess.run(
        [str(word) for word in argv], check=True, capture_output=True, env={**os.environ, **env}
    )
    return time.monotonic() - began


def rows(place: Path) -> dict[str, float]:
    """Return the seconds of each way."""
    runner = {
        "RUNNER_TEMP": str(place / "temp"),
        "RUNNER_TOOL_CACHE": str(place / "cache"),
        "GITHUB_OUTPUT": os.devnull,
    }
    (place / "temp").mkdir()
    script = ROOT / "reb_action" / "github" / "setup.py"
    hashed = ("install", "--quiet", "--require-hashes", "--no-cache-dir", "-r", LOCK)
    found = {"action, cold": timed(sys.executable, "-I", script, **runner)}
    warm = [timed(sys.executable, "-I", script, **runner) for _ in range(5)]
    found["action, warm (median of 5)"] = sorted(warm)[2]
    found["python -m venv, pip"] = timed(sys.executable, "-m", "venv", place / "v")
    found["python -m venv, pip"] += timed(place / "v" / "bin" / "pip", *hashed)
    uv = {"UV_CACHE_DIR": str(place / "uv")}
    for name in ("uv, cold", "uv, cache filled"):
        shutil.rmtree(place / "u", ignore_errors=True)
        found[name] = timed(BIN / "uv", "venv", "-q", "--python", sys.executable, place / "u", **uv)
        sync = ("pip", "sync", "-q", "--require-hashes", "--python", place / "u" / "bin" / "python")
        found[name] += timed(BIN / "uv", *sync, LOCK, **uv)
    return found


def main() -> None:
    """Print seconds, and ratios to pip's."""
    with tempfile.TemporaryDirectory() as folder:
        found = rows(Path(folder))
    base = found["python -m venv, pip"]
    for name, seconds in found.items():
        sys.stdout.write(f"{name:28} {seconds:7.2f} s  {seconds / base:6.3f} of pip\n")


if __name__ == "__main__":
    main()
