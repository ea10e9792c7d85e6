"""A year of nightly runs on one board: how large the branch is, and how long the last push takes.

REB_YEAR=8 .venv/bin/pytest -s -n 0 -m slow tests/publish/test_year.py
"""

import os
import random
import subprocess
import time
from dataclasses import replace

import pytest

from reb_action.github import event
from reb_action.model.github import RunOrder
from reb_action.model.manifest import Level, Outcome
from reb_action.publish import leaderboard, run
from reb_action.publish.board_pages import render_pages
from reb_action.publish.board_state import Leaderboard
from reb_action.publish.git_branch import Remote
from reb_action.results.records import name_page
from tests.support.runs import environ, made
from tests.support.scoreboards import AGENTS, REPOSITORIES, slug

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.skipif("REB_YEAR" not in os.environ, reason="takes ten minutes: REB_YEAR=8"),
]
NIGHTS = 365
ATTEMPTS = int(os.environ.get("REB_YEAR", "8"))
"""With 3 agents and 6 repositories and REB_YEAR=8: 144 trials, each with a page."""


def night(records, pages, number, chance):
    """Return the records and pages of another night: a tenth of the outcomes differ."""
    stamp = replace(records[0].run, order=RunOrder(run_id=100 + number, attempt=1))
    made_now = [replace(record, run=stamp, row=flipped(record.row, chance)) for record in records]
    return tuple(made_now), {
        name_page(new): pages[name_page(old)] + b"<!-- %016x -->" % chance.getrandbits(64)
        for old, new in zip(records, made_now, strict=True)
    }


def flipped(row, chance):
    cells = {
        level: replace(cell, outcome=Outcome.PASSED) if chance.random() < 0.1 else cell
        for level, cell in row.cells.items()
    }
    return replace(row, cells=cells)


def test_a_year_of_nightly_runs(api, tmp_path):
    names = [
        f"{slug(repository)}.{agent}.{attempt}"
        for repository in REPOSITORIES
        for agent in AGENTS
        for attempt in range(1, ATTEMPTS + 1)
    ]
    made(tmp_path, names)
    occasion = event.read_current_run(environ(api, tmp_path / "env"))
    results = run.read_this_run(
        tmp_path / "plan.json", tmp_path / "artifacts", occasion, levels=tuple(Level)
    )
    records = leaderboard.make_run_records(results, now=1_796_083_200)
    pages = dict(render_pages(records, results))
    bare = tmp_path / "remote.git"
    subprocess.run(("git", "init", "-q", "--bare", str(bare)), check=True)
    chance = random.Random(17)
    for number in range(NIGHTS):
        board = Leaderboard(
            remote=Remote(url=f"file://{bare}"),
            branch="reb-leaderboard",
            url="page",
            git_dir=tmp_path / f"fetched-{number}.git",
        )
        began = time.monotonic()
        leaderboard.publish_records(board, *night(records, pages, number, chance))
        seconds = time.monotonic() - began
        subprocess.run(("rm", "-rf", str(board.git_dir)), check=True)
        if number in (0, 1, 7, 30, 90, 180, NIGHTS - 1):
            report(bare, tmp_path, number, seconds)
    assert size_of_clone(bare, tmp_path) < 20_000_000
    assert seconds < 60


def size_of_clone(bare, folder):
    """Return the bytes of git's objects in a clone of the branch with all of its history."""
    clone = folder / "clone.git"
    subprocess.run(("rm", "-rf", str(clone)), check=True)
    argv = ("git", "clone", "-q", "--bare", "--no-local", f"file://{bare}", str(clone))
    subprocess.run(argv, check=True)
    return sum(path.stat().st_size for path in (clone / "objects").rglob("*") if path.is_file())


def report(bare, folder, number, seconds):
    listed = subprocess.run(
        ("git", f"--git-dir={bare}", "ls-tree", "-r", "-l", "reb-leaderboard"),
        capture_output=True,
        check=True,
    ).stdout.split(b"\n")[:-1]
    total = sum(int(line.split()[3]) for line in listed)
    print(  # noqa: T201
        f"night {number + 1}: {len(listed)} files, {total / 1e6:.1f} MB,"
        f" clone {size_of_clone(bare, folder) / 1e6:.2f} MB, push {seconds:.1f} s",
        flush=True,
    )
