"""The site in a real browser: sorted, filtered, read by keyboard, without a script, on a phone."""

import os

import pytest

from reb_action.corpus import paper
from reb_action.render.html import site
from tests.render.html.test_site import views
from tests.support import axe, chromium, scoreboards

PAGES = ("index.html", "trials.html", "trials/hustvl__Vim.codex.1.html")
REQUIRED = os.environ.get("REB_BROWSER") == "required"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        chromium.CHROMIUM is None and not REQUIRED,
        reason="chromium is not installed (Debian: apt-get install chromium)",
    ),
]

NAMES = "[...document.querySelectorAll('{} tbody tr:not([hidden]) th')].map(th => {})"
AGENTS = NAMES.format("#agents .board:first-of-type", "th.firstElementChild.textContent")
STATUS = "document.querySelector('{} [role=status]').textContent"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The site of the sample scoreboard, with a page for each trial."""
    place = tmp_path_factory.mktemp("site")
    board = scoreboards.board(published=paper.rows())
    for name, data in site.build_site(board, views(board)).items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    assert chromium.CHROMIUM, "REB_BROWSER=required, and chromium is not installed"
    with chromium.Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def browser(started, folder):
    """A browser that must end without a complaint and without a request for anything else."""
    yield started
    assert started.complaints == []
    assert {url.split("?")[0] for url in started.requests} <= {
        (folder / name).as_uri() for name in PAGES
    } | {url for url in started.requests if url.startswith("data:image/svg+xml,")}


@pytest.fixture(scope="module")
def checker():
    """axe-core; where CI demands the browser, its absence is a failure."""
    try:
        return axe.script()
    except Exception as error:
        if REQUIRED:
            raise
        pytest.skip(f"axe-core cannot be fetched: {error}")


def choose(browser, selector, value):
    browser.run(
        f"(() => {{ const field = document.querySelector({selector!r}); field.value = {value!r};"
        " field.dispatchEvent(new Event('input', {bubbles: true}));"
        " field.dispatchEvent(new Event('change', {bubbles: true})) })()"
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("page", PAGES)
def test_page_fits_is_seen_and_has_no_finding(browser, folder, checker, page, width, dark):
    browser.open(folder / page, width=width, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") == width
    assert len(browser.picture()) > 50_000
    browser.run(f"{checker};0")
    told = "violations.map(one => [one.id, one.impact, one.nodes.map(node => node.html)])"
    found, passed = browser.run(f"axe.run().then(did => [did.{told}, did.passes.length])")
    assert found == []
    assert passed > 30


def test_checker_finds_what_is_wrong(browser, folder, checker):
    browser.open(folder / "index.html")
    browser.run(f"{checker};document.querySelector('input').parentElement.replaceWith('x');0")
    browser.run(
        "document.querySelector('#agents .controls').append(document.createElement('input'))"
    )
    found = browser.run("axe.run().then(did => did.violations.map(one => one.id))")
    assert found == ["label"]


def test_head_sorts_by_value_and_again_the_other_way(browser, folder):
    browser.open(folder / "index.html")
    press = "document.querySelectorAll('#agents .board button')[{}].click()"
    order = "document.querySelectorAll('#agents .board th')[{}].ariaSort"
    assert browser.run(AGENTS) == ["claude-code", "codex", "uv"]
    browser.run(press.format(5))
    assert browser.run(AGENTS) == ["codex", "uv", "claude-code"]
    assert browser.run(order.format(5)) == "descending"
    browser.run(press.format(5))
    assert browser.run(AGENTS) == ["claude-code", "codex", "uv"]
    assert browser.run(order.format(5)) == "ascending"
    browser.run(press.format(0))
    assert browser.run(order.format(0)) == "ascending"
    assert browser.run(order.format(5)) is None


def test_unknown_is_last_whichever_way_it_is_sorted(browser, folder):
    browser.open(folder / "index.html")
    spent = NAMES.format("#resources", "th.firstChild.textContent")
    press = "document.querySelectorAll('#resources button')[3].click()"
    browser.run(press)
    assert browser.run(spent) == ["codex", "claude-code", "uv"]
    browser.run(press)
    assert browser.run(spent) == ["claude-code", "codex", "uv"]


def test_keyboard_alone_sorts_and_filters(browser, folder):
    browser.open(folder / "index.html")
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == "Skip to the results"
    browser.press("Tab", "Tab", "Tab", "Tab", "Tab")
    assert browser.run("document.activeElement.type") == "search"
    browser.press(*"uv")
    assert browser.run(AGENTS) == ["uv"]
    assert browser.run(STATUS.format("#agents")) == "2 of 10 rows shown"
    browser.press("Tab", "Tab", "Space")
    assert browser.run("document.querySelectorAll('#agents th')[1].ariaSort") == "descending"
    focus = "getComputedStyle(document.activeElement).outlineStyle"
    assert browser.run(focus) == "solid"


def test_filter_takes_text_as_text(browser, folder):
    browser.open(folder / "index.html")
    choose(browser, "#agents input", ".*")
    assert browser.run(AGENTS) == []
    choose(browser, "#agents input", " CODEX ")
    assert browser.run(AGENTS) == ["codex"]


def test_map_shows_the_agent_that_is_chosen(browser, folder):
    browser.open(folder / "index.html")
    shown = (
        "[...document.querySelectorAll('[data-section]')].filter(one => one.offsetHeight).length"
    )
    title = (
        "[...document.querySelectorAll('[data-section]')].find(one => one.offsetHeight).innerText"
    )
    assert browser.run(shown) == 1
    choose(browser, "#repositories select[data-filter=section]", "uv")
    assert browser.run(title).startswith("uv\n")
    assert browser.run(STATUS.format("#repositories")) == "6 of 6 rows shown"
    choose(browser, "#repositories input", "mamba")
    assert browser.run(STATUS.format("#repositories")) == "1 of 6 rows shown"
    choose(browser, "#repositories select[data-filter=section]", "")
    assert browser.run(shown) == 3
    assert browser.run(STATUS.format("#repositories")) == "3 of 18 rows shown"


def test_trials_are_found_by_agent_level_and_outcome(browser, folder):
    browser.open(folder / "trials.html")
    assert browser.run(STATUS.format("#trials")) == "35 of 35 rows shown"
    choose(browser, "[data-filter=agent]", "codex (gpt-5.1-codex)")
    assert browser.run(STATUS.format("#trials")) == "11 of 35 rows shown"
    choose(browser, "[data-filter=outcome]", "failed")
    choose(browser, "[data-filter=level]", "C4")
    assert browser.run(STATUS.format("#trials")) == "5 of 35 rows shown"
    choose(browser, "[data-filter=text]", "kvpress")
    assert browser.run(NAMES.format("#trials", "th.innerText.split('\\n')[0]")) == [
        "NVIDIA/kvpress"
    ]


def test_trial_leads_to_its_page_and_back(browser, folder):
    browser.open(folder / "trials.html")
    href = browser.run("document.querySelector('a[href*=\"Vim.codex\"]').href")
    browser.open(href)
    assert browser.run("document.querySelector('h1').textContent") == "hustvl/Vim"
    texts = browser.run("[...document.querySelectorAll('h2')].map(one => one.textContent)")
    assert texts[:2] == ["Levels", "Claims of the report"]
    back = browser.run("document.querySelector('nav a').href")
    browser.open(back)
    assert browser.run("document.querySelector('h1').textContent") == "Leaderboard"


def test_level_that_is_not_qualified_is_laid_out_as_the_others(browser, folder):
    browser.open(folder / PAGES[2])
    assert browser.run("document.body.innerText.includes('not qualified')")
    heights = "[...document.querySelectorAll('.level > header')].map(h => h.offsetHeight)"
    assert len(set(browser.run(heights))) == 1


def test_phone_sorts_cards_by_a_choice(browser, folder):
    browser.open(folder / "index.html", width=360)
    assert browser.run("document.querySelector('#agents thead').offsetHeight") == 0
    choose(browser, "#agents .sorter select", "5")
    assert browser.run(AGENTS) == ["codex", "uv", "claude-code"]


def test_without_a_script_everything_is_there(browser, folder):
    browser.open(folder / "index.html", script=False)
    seen = "[...document.querySelectorAll('{}')].filter(one => one.checkVisibility()).length"
    assert browser.run(seen.format("tbody tr")) == 10 + 18 + 3
    assert browser.run(seen.format("input, select, button")) == 0
    assert browser.run(seen.format("svg.pyramid")) == 3


def test_script_that_slipped_through_would_not_run(started, folder, tmp_path):
    page = tmp_path / "page.html"
    text = (folder / "index.html").read_text()
    page.write_text(text.replace("</main>", "<script>document.title = 'ran'</script></main>"))
    started.open(page)
    assert started.run("document.title") == "researchenvbench: leaderboard"
    assert len(started.complaints) == 1
    assert "Content Security Policy" in started.complaints[0]
