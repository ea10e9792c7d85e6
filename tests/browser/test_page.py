"""The page of the demonstration's liar in a real browser: no complaint, and something to see."""

import os
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from reb_action.demo import commit_repository
from reb_action.render.html.page import trial_page
from reb_action.results import page as results_page
from reb_action.sandbox.protocol import Kind
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice
from reb_action.trial import options as trial_options
from reb_action.trial import run
from tests.support import page_samples

DEMO = Path(__file__).parents[1] / "demo"
CHROMIUM = shutil.which("chromium")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--enable-logging=stderr"),
)
DARK, LIGHT = 0, 1

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        CHROMIUM is None and os.environ.get("REB_BROWSER") != "required",
        reason="chromium is not installed (Debian: apt-get install chromium)",
    ),
]


@pytest.fixture(scope="module")
def liar(tmp_path_factory):
    """The page of a trial by the agent that only says it is done."""
    place = tmp_path_factory.mktemp("liar")
    layout = SessionLayout(folder=place / "results")
    options = trial_options.Options(
        manifest=commit_repository(DEMO, place / "mirror"),
        agent=AgentChoice(
            name="replay", argument=str(DEMO / "liar"), total_seconds=60, setup_seconds=60
        ),
        folder=layout.folder,
        kind=Kind.LOCAL,
        mirror=place / "mirror",
    )
    results_page.write_page(layout, run.run(options, environ={}, tell=lambda _: None))
    return layout.page


@pytest.fixture
def opened(tmp_path):
    """Open a page as wide as asked for; return the size of its picture and what it complains of."""

    def open_page(page, *, width=1280, scheme=LIGHT):
        assert CHROMIUM, "REB_BROWSER=required, and chromium is not installed"
        shot = tmp_path / "shot.png"
        options = (
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},2400",
            f"--blink-settings=preferredColorScheme={scheme}",
            f"--screenshot={shot}",
        )
        done = subprocess.run(
            [CHROMIUM, *FLAGS, *options, page.as_uri()], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        complaints = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
        return shot.read_bytes(), complaints

    return open_page


@pytest.mark.parametrize(("width", "scheme"), [(390, DARK), (1280, LIGHT)])
def test_page_of_the_liar_is_seen_and_silent(liar, opened, width, scheme):
    picture, complaints = opened(liar, width=width, scheme=scheme)
    assert complaints == []
    assert struct.unpack(">II", picture[16:24]) == (width, 2400)
    assert len(picture) > 50_000


def test_script_that_slipped_through_would_not_run(opened, tmp_path):
    page = tmp_path / "page.html"
    text = trial_page(page_samples.full())
    page.write_text(text.replace("</main>", "<script>console.error('ran')</script></main>"))
    _, complaints = opened(page)
    assert len(complaints) == 1
    assert "Content Security Policy" in complaints[0]
