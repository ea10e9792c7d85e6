"""Records the live view: a real agent works for the scripted model, watched from three places.

    python docs/recordings/record.py IMAGE [AGENT]

Writes `terminal.cast` (asciinema, version 2; `asciinema play` shows it) and `terminal.txt`, its
text; `step-log.txt`, the log of a workflow's step, which is no terminal; and `watch.txt`, what
`reb watch` shows in a second terminal. It needs a Docker engine and an image of the sandbox.
"""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from reb_action.agents.catalogue import agent  # noqa: E402
from reb_action.demo import commit_repository  # noqa: E402
from tests.support.model_server import KEY, ModelServer  # noqa: E402
from tests.support.model_server.scenarios import REPORT  # noqa: E402

DEMO = ROOT / "tests" / "demo"
COLUMNS, ROWS = 110, 32
COMMANDS = (
    "ls && cat train.py | head -20",
    "python3 -m venv --without-pip ../venv",
    "sleep 5; ../venv/bin/python --version",
    REPORT,
)
PRICES = "models:\n  scripted-1: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}\n"
# Of a window's title and colours nothing is needed to read a text.
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


def main() -> None:
    """Record all three."""
    image, name = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "claude-code"
    with tempfile.TemporaryDirectory() as folder, ModelServer(commands=COMMANDS) as server:
        place = Path(folder)
        commit_repository(DEMO, place / "mirror")
        (place / "prices.yaml").write_text(PRICES, encoding="utf-8")
        url = server.url(agent(name).dialect, "multi", run="recorded")
        command = _command(name, image, url)
        watched = _start_watch(place)
        events = _record_terminal([*command, "--results", "trial"], place)
        _write("watch.txt", watched.communicate(timeout=120)[0], place)
        log = _run([*command, "--results", "second"], place, GITHUB_ACTIONS="true")
        _write("step-log.txt", log, place)
        header = {"version": 2, "width": COLUMNS, "height": ROWS, "title": f"reb run, {name}"}
        cast = "".join(f"{json.dumps(line)}\n" for line in (header, *events))
        _write("terminal.cast", cast, place)
        _write("terminal.txt", _last_shown("".join(text for _, _, text in events)), place)


def _write(name: str, text: str, place: Path) -> None:
    """Write a recording, without the name of the temporary folder."""
    (HERE / name).write_text(text.replace(str(place), "/home/you"), encoding="utf-8")


def _last_shown(text: str) -> str:
    """Return what stays on the screen: each line as it is after it was last erased."""
    lines = (line.rpartition("\x1b[2K")[2] for line in text.replace("\r\n", "\n").split("\n"))
    return "\n".join(CONTROL.sub("", line).rstrip() for line in lines)


def _command(name: str, image: str, url: str) -> list[str]:
    reb = [str(Path(sys.executable).with_name("reb")), "run", str(DEMO / "manifest.yaml")]
    options = {
        "agent": name, "image": image, "model": "scripted-1", "model-url": url, "mirror": "mirror",
        "network": "none", "levels": "C0,C5", "prices": "prices.yaml", "budget-usd": "5",
        "agent-seconds": "300",
    }  # fmt: skip
    return [*reb, *(word for key, value in options.items() for word in (f"--{key}", value))]


def _environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB")}
    return {**kept, "REB_MODEL_KEY": KEY, "TERM": "xterm-256color", **more}


def _run(command: list[str], place: Path, **more: str) -> str:
    done = subprocess.run(
        command, cwd=place, env=_environment(**more), check=False, text=True, timeout=600,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.stdout


def _start_watch(place: Path) -> subprocess.Popen[str]:
    """Follow the trial from a second process, as soon as it has a folder."""
    reb = str(Path(sys.executable).with_name("reb"))
    script = 'until test -s trial/session.json; do sleep 0.2; done; exec "$0" watch trial'
    return subprocess.Popen(
        ("sh", "-c", script, reb), cwd=place, env=_environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def _record_terminal(command: list[str], place: Path) -> list[tuple[float, str, str]]:
    """Run a command in a terminal of its own; return what it shows, and when."""
    began, events = time.monotonic(), list[tuple[float, str, str]]()
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(place)
        os.execve(command[0], command, _environment())  # noqa: S606 - the terminal's program
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        seconds = round(time.monotonic() - began, 3)
        events.append((seconds, "o", data.decode("utf-8", "replace")))
    os.waitpid(process, 0)
    return events


if __name__ == "__main__":
    main()
