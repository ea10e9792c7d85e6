"""Progress: a live line in a terminal, plain lines in a log."""

import os
import pty
import re
import subprocess
import sys

PROGRAM = """
from reb_action.cli.console import show_progress
import time
with show_progress(quiet=False) as tell:
    tell("one \\x1b[2J[bold]is[/] being observed")
    time.sleep(0.5)
    tell("two " + "x" * 200)
"""


def run(*, terminal, program=PROGRAM, status=0, **environ):
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm", "COLUMNS": "80", **environ}
    stream = theirs if terminal else subprocess.PIPE
    process = subprocess.Popen([sys.executable, "-c", program], stderr=stream, env=environment)
    os.close(theirs)
    text = _drained(ours) if terminal else process.stderr.read()
    os.close(ours)
    if not terminal:
        process.stderr.close()
    assert process.wait(timeout=60) == status
    return text.decode()


def _drained(handle):
    parts = []
    while True:
        try:
            part = os.read(handle, 65536)
        except OSError:
            return b"".join(parts)
        parts.append(part)


def screen(text):
    """Return what a terminal shows at the end: enough of one for a single live line."""
    rows, row, column = [""], 0, 0
    for token in re.findall(r"\x1b\[[0-9;?]*[a-zA-Z]|\r|\n|[^\x1b\r\n]+", text):
        if token == "\r":
            column = 0
        elif token == "\n":
            row, rows = row + 1, [*rows, ""] if row + 1 == len(rows) else rows
        elif re.fullmatch(r"\x1b\[\d*A", token):
            row -= int(token[2:-1] or 1)
        elif token == "\x1b[2K":
            rows[row] = ""
        elif not token.startswith("\x1b"):
            kept = rows[row].ljust(column)
            rows[row] = kept[:column] + token + kept[column + len(token) :]
            column += len(token)
    return [one.rstrip() for one in rows if one.strip()]


def without_seconds(lines):
    """Return lines with the stamp [00:00]: on a loaded machine a second may pass."""
    return [re.sub(r"^\[00:0\d\]", "[00:00]", line) for line in lines]


LINES = ["[00:00] one [bold]is[/] being observed", f"[00:00] two {'x' * 200}"]


def test_progress_in_a_log_is_plain_lines():
    for environ in ({}, {"FORCE_COLOR": "1"}):
        assert without_seconds(run(terminal=False, **environ).splitlines()) == LINES


def test_progress_in_a_dumb_terminal_is_plain_lines():
    assert without_seconds(run(terminal=True, TERM="dumb").splitlines()) == LINES


def test_progress_in_a_terminal_is_alive_and_leaves_the_same_lines():
    text = run(terminal=True)
    assert "00:00\x1b[0m one [bold]is[/] being observed" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1
    assert without_seconds(screen(text)) == LINES


def test_progress_that_is_interrupted_keeps_its_last_line():
    text = run(terminal=True, program=f"{PROGRAM}    raise SystemExit(3)\n", status=3)
    assert without_seconds(screen(text)) == LINES
    assert text.count("\x1b[?25h") == 1


def test_progress_honours_no_colour():
    assert "\x1b[3" not in run(terminal=True, NO_COLOR="1")


def test_pipe_waits_neither_for_rich_nor_for_docker():
    program = (
        "import sys; from reb_action.cli.console import show_progress\n"
        "with show_progress(quiet=False) as tell: tell('x')\n"
        "sys.exit(not {'docker', 'rich'}.isdisjoint(sys.modules))"
    )
    assert run(terminal=False, program=program) == "[00:00] x\n"
