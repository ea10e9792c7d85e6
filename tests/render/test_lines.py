"""A verdict in words: plain lines, tables for a terminal, and progress."""

import io
import os
import pty
import re
import subprocess
import sys

import page_samples
import pytest
from rich.console import Console

from reb_action.model.manifest import Level
from reb_action.render.lines import (
    quote_agent,
    short_lines,
    summarise_findings,
    verdict_lines,
)
from reb_action.render.outcomes import UNQUALIFIED_NOTE
from reb_action.render.terminal.verdict import short_table, verdict_tables

FULL, SMALL = page_samples.full(), page_samples.small()

SMALL_LINES = """\
research__vision-mamba.nop.1: 0 of 3 levels passed
C0 static integrity BLOCKED  there is no report.json
C1 CPU run          BLOCKED  there is no report.json
C2 CUDA alignment   n/a      no code for C2
C3 single-GPU run   n/a      no code for C3
C4 distributed run  n/a      no code for C4
C5 honest report    FAILED   there is no report.json"""

SHORT = """\
codex said:  “Everything is installed. The model trains on all GPUs.”
      found: 3 not installed: causal_conv1d, mamba_ssm, yaml (C0); torch does not compute on GPU 1:\
 CUDA error: device busy (C2); the entry point ended with exit code 1 (C3); 2 of 5 claims\
 contradicted (C5)."""


def printed(renderable, *, width, **how):
    stream = io.StringIO()
    Console(file=stream, width=width, **how).print(renderable)
    return stream.getvalue()


def test_lines_of_a_trial_without_a_report():
    assert "\n".join(verdict_lines(SMALL.verdict)) == SMALL_LINES


def test_a_level_that_is_not_qualified_is_marked():
    lines = list(verdict_lines(SMALL.verdict, {Level.C1}))
    assert lines[2] == "C1 CPU run          BLOCKED\N{DAGGER} there is no report.json"
    assert lines[7] == UNQUALIFIED_NOTE
    assert [*lines[:2], *lines[3:7]] == [*SMALL_LINES.split("\n")[:2], *SMALL_LINES.split("\n")[3:]]


def test_tables_mark_both_outcomes_of_a_level_that_is_not_qualified():
    plain = printed(verdict_tables(FULL.verdict, {Level.C3}), width=100)
    assert re.search(r"C3 single-GPU run +FAILED\N{DAGGER} +FAILED\N{DAGGER}", plain)
    assert plain.count("\N{DAGGER}") == 3
    assert UNQUALIFIED_NOTE in plain


def test_short_lines_put_what_was_said_above_what_was_found():
    assert "\n".join(short_lines(FULL.verdict, FULL.evidence.report.notes)) == SHORT


def test_a_reason_that_levels_share_is_told_once():
    assert summarise_findings(SMALL.verdict) == "there is no report.json (C0, C1, C5)."
    assert quote_agent(SMALL.verdict, None) == "no usable report: there is no report.json."


def test_an_agent_without_notes_is_quoted_by_its_claims():
    assert quote_agent(FULL.verdict, None) == "no notes; it made 5 claims."
    assert quote_agent(FULL.verdict, "\u200b\x1b[31m") == quote_agent(FULL.verdict, None)


def test_levels_not_measured_are_named():
    view = page_samples.unmeasured()
    assert summarise_findings(view.verdict).endswith("; not measured: C2, C3, C4.")


@pytest.mark.parametrize("width", [72, 80, 132])
def test_tables_fit_the_terminal(width):
    for made in (verdict_tables(FULL.verdict), short_table(FULL.verdict, "All is well. " * 30)):
        assert all(len(line) <= width for line in printed(made, width=width).splitlines())


def test_tables_say_without_colour_what_they_say_with_it():
    made = verdict_tables(FULL.verdict)
    plain = printed(made, width=80)
    coloured = printed(made, width=80, force_terminal=True, color_system="standard")
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert re.search(r"C3 single-GPU run +FAILED +FAILED", plain)
    assert re.search(r"cuda_available +false +true +UNDER-CLAIM", plain)


PROGRAM = """
from reb_action.console import telling
import time
with telling(quiet=False) as tell:
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


LINES = ["[00:00] one [bold]is[/] being observed", f"[00:00] two {'x' * 200}"]


def test_progress_in_a_log_is_plain_lines():
    for environ in ({}, {"FORCE_COLOR": "1"}):
        assert run(terminal=False, **environ).splitlines() == LINES


def test_progress_in_a_dumb_terminal_is_plain_lines():
    assert run(terminal=True, TERM="dumb").splitlines() == LINES


def test_progress_in_a_terminal_is_alive_and_leaves_the_same_lines():
    text = run(terminal=True)
    assert "00:00\x1b[0m one [bold]is[/] being observed" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1
    assert screen(text) == LINES


def test_progress_that_is_interrupted_keeps_its_last_line():
    text = run(terminal=True, program=f"{PROGRAM}    raise SystemExit(3)\n", status=3)
    assert screen(text) == LINES
    assert text.count("\x1b[?25h") == 1


def test_progress_honours_no_colour():
    assert "\x1b[3" not in run(terminal=True, NO_COLOR="1")
