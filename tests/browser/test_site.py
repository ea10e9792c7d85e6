"""The site in a real browser: sorted, filtered, read by keyboard, without a script, on a phone."""

import os
import re

import pytest

from reb_action.corpus import paper
from reb_action.model.manifest import Level
from reb_action.model.verdict import Scoring
from reb_action.render.html import site
from reb_action.score.comparison import compare_contestants
from tests.render.html.test_site import views
from tests.support import axe, chromium, scoreboards

UV = "contestants/uv.html"
PAGES = (
    *site.FILES,
    UV,
    "trials/hustvl__Vim.codex.1.html",
)
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
AGENTS = NAMES.format("#agents .ranked", "th.querySelector('a').textContent")
STATUS = "document.querySelector('{} [role=status]').textContent"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The site of the sample scoreboard, with a page for each trial."""
    place = tmp_path_factory.mktemp("site")
    board = scoreboards.board(published=paper.rows())
    for name, data in site.build_site(board, views(board), facts=scoreboards.facts()).items():
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
    # Pictures in addresses: the icon of the page, and the browser's own of a date field.
    loaded = {url for url in started.requests if not url.startswith("data:image/svg+xml")}
    assert {re.split("[?#]", url)[0] for url in loaded} <= {
        (folder / name).as_uri() for name in PAGES
    }


@pytest.fixture(scope="module")
def checker():
    """axe-core; where CI demands the browser, its absence is a failure."""
    try:
        return axe.script()
    except Exception as error:
        if REQUIRED:
            raise
        pytest.skip(f"axe-core cannot be fetched: {error}")


BROKEN = """(() => {
  const cells = "thead th, #claims td b, #claims td small, .heat td:not(.why), .share b";
  const broken = [];
  for (const cell of document.querySelectorAll(cells)) {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walk.nextNode())
      for (const word of walk.currentNode.data.matchAll(/[^\\s-]+/g)) {
        const range = document.createRange();
        range.setStart(walk.currentNode, word.index);
        range.setEnd(walk.currentNode, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) broken.push(word[0]);
      }
  }
  return broken;
})()"""


def choose(browser, selector, value):
    browser.run(
        f"(() => {{ const field = document.querySelector({selector!r}); field.value = {value!r};"
        " field.dispatchEvent(new Event('input', {bubbles: true}));"
        " field.dispatchEvent(new Event('change', {bubbles: true})) })()"
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
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
    press = "document.querySelectorAll('#agents .ranked button')[{}].click()"
    order = "document.querySelectorAll('#agents .ranked th')[{}].ariaSort"
    assert browser.run(AGENTS) == ["codex", "claude-code", "uv"]
    browser.run(press.format(2))
    assert browser.run(AGENTS) == ["codex", "claude-code", "uv"]
    assert browser.run(order.format(2)) == "descending"
    browser.run(press.format(6))
    assert browser.run(AGENTS) == ["codex", "uv", "claude-code"]
    browser.run(press.format(6))
    assert browser.run(AGENTS) == ["claude-code", "codex", "uv"]
    assert browser.run(order.format(6)) == "ascending"
    browser.run(press.format(0))
    assert browser.run(AGENTS) == ["codex", "claude-code", "uv"]
    assert browser.run(order.format(0)) == "ascending"
    assert browser.run(order.format(6)) is None


@pytest.mark.parametrize(
    ("column", "first", "second"),
    [
        (8, ["codex", "claude-code", "uv"], ["claude-code", "codex", "uv"]),
        (9, ["uv", "codex", "claude-code"], ["claude-code", "codex", "uv"]),
        (10, ["uv", "codex", "claude-code"], ["claude-code", "codex", "uv"]),
    ],
    ids=["cost, unknown last", "time", "date"],
)
def test_leaderboard_is_sorted_by_cost_time_and_date(browser, folder, column, first, second):
    browser.open(folder / "index.html")
    press = f"document.querySelectorAll('#agents .ranked button')[{column}].click()"
    browser.run(press)
    assert browser.run(AGENTS) == first
    browser.run(press)
    assert browser.run(AGENTS) == second


def test_keyboard_alone_sorts_and_filters(browser, folder):
    browser.open(folder / "index.html")
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == "Skip to the results"
    while browser.run("document.activeElement.type") != "search":
        browser.press("Tab")
    browser.press(*"uv")
    assert browser.run(AGENTS) == ["uv"]
    assert browser.run(STATUS.format("#agents")) == (
        "1 of 3 contestants, 1 of 7 by the paper's scoring"
    )
    while browser.run("document.activeElement.tagName") != "BUTTON":
        browser.press("Tab")
    browser.press("Space")
    assert browser.run("document.querySelectorAll('#agents th')[0].ariaSort") == "ascending"
    focus = "getComputedStyle(document.activeElement).outlineStyle"
    assert browser.run(focus) == "solid"


def test_date_filters_contestants_and_not_the_published(browser, folder):
    browser.open(folder / "index.html")
    choose(browser, "#agents [data-filter=since]", "2026-11-02")
    assert browser.run(AGENTS) == ["codex", "uv"]
    assert browser.run(STATUS.format("#agents")) == (
        "2 of 3 contestants, 7 of 7 by the paper's scoring"
    )


def test_filter_takes_text_as_text(browser, folder):
    browser.open(folder / "index.html")
    choose(browser, "#agents input", ".*")
    assert browser.run(AGENTS) == []
    choose(browser, "#agents input", " CODEX ")
    assert browser.run(AGENTS) == ["codex"]


def test_map_of_a_contestant_is_filtered(browser, folder):
    browser.open(folder / UV)
    assert browser.run(STATUS.format("#repositories")) == "6 of 6 repositories"
    choose(browser, "#repositories input", "mamba")
    assert browser.run(STATUS.format("#repositories")) == "1 of 6 repositories"


TRIALS = NAMES.format("#trials", "th.innerText.split('\\n')[0]")


def test_trials_are_found_by_contestant_level_outcome_domain_and_date(browser, folder):
    browser.open(folder / "trials.html")
    shown = STATUS.format("#trials")
    groups = "[...document.querySelectorAll('.group')].filter(one => !one.hidden).length"
    assert browser.run(shown) == "35 of 35 trials"
    assert browser.run(groups) == 6
    choose(browser, "[data-filter=agent]", "codex (gpt-5.1-codex)")
    assert browser.run(shown) == "11 of 35 trials"
    choose(browser, "[data-filter=outcome]", "failed")
    choose(browser, "[data-filter=level]", "C4")
    assert browser.run(shown) == "5 of 35 trials"
    choose(browser, "[data-filter=text]", "kvpress")
    assert browser.run(TRIALS) == ["codex (gpt-5.1-codex), attempt 1"]
    assert browser.run(groups) == 1
    for field in ("agent", "outcome", "level", "text"):
        choose(browser, f"[data-filter={field}]", "")
    choose(browser, "[data-filter=family]", "perception")
    assert browser.run(shown) == "11 of 35 trials"
    choose(browser, "[data-filter=since]", "2026-11-03")
    assert browser.run(shown) == "4 of 35 trials"


def test_cause_leads_to_its_trials(browser, folder):
    browser.open(folder / "failures.html")
    link = browser.run("document.querySelector('#causes tbody a').href")
    assert link.endswith("trials.html#cause=native_extension_not_built")
    browser.open(link)
    assert browser.run(STATUS.format("#trials")) == "6 of 35 trials"


def test_trials_of_all_repositories_are_sorted_together(browser, folder):
    browser.open(folder / "trials.html")
    browser.run("document.querySelectorAll('.group')[3].querySelectorAll('button')[9].click()")
    costs = (
        "[...document.querySelectorAll('#trials td[data-label=cost]')]"
        ".map(td => td.dataset.value).filter(Boolean).map(Number)"
    )
    found = browser.run(costs)
    assert found == sorted(found)
    assert len(found) == 21
    assert browser.run("document.querySelectorAll('.group tbody tr').length") == 35
    assert browser.run("document.querySelectorAll('.group h3')[1].offsetHeight") == 0


RESULT = (
    "[...document.querySelectorAll('#result tbody')].map(body =>"
    " [...body.rows].map(row => [...row.cells].map(cell => cell.textContent.trim())))"
)


def open_pair(browser, folder, a, b):
    # From another page: a new mark alone would not load the page again.
    browser.open(folder / "index.html")
    browser.open(f"{(folder / 'compare.html').as_uri()}#a={a}&b={b}")


def test_any_two_contestants_are_compared_cell_by_cell(browser, folder):
    open_pair(browser, folder, "uv", "claude-code-sonnet-4-5")
    levels, cells = browser.run(RESULT)
    assert levels[1] == ["C1", "50 %", "60 %", "1", "0", "4", "1"]
    assert levels[4][:3] == ["C4", "20 %", "10 %"]
    assert cells[0] == COMPARED
    assert len(cells) == 6
    choose(browser, "#a", "codex-gpt-5-1-codex")
    assert browser.run("location.hash") == "#a=codex-gpt-5-1-codex&b=claude-code-sonnet-4-5"
    assert browser.run(RESULT) != [levels, cells]
    browser.run("document.querySelector('#differ').click()")
    rows = browser.run(RESULT)[1]
    assert 0 < len(rows) <= 6
    assert all(any("▲" in cell or "▼" in cell for cell in row) for row in rows)


def test_comparison_of_the_page_is_the_one_of_the_command(browser, folder):
    """The page counts in its script what `reb compare` counts: shares, directions and p."""
    board = scoreboards.board()
    names = ("codex-gpt-5-1-codex", "uv")
    made = compare_contestants(
        board, board, names=names, levels=tuple(Level), scoring=Scoring.STRICT
    )
    open_pair(browser, folder, *names)
    for row, level in zip(browser.run(RESULT)[0], made.levels, strict=True):
        p = "\N{EN DASH}" if level.adjusted is None else f"{level.adjusted:.2g}"
        equal = len(level.pairs) - level.higher - level.lower
        assert row == [
            level.level, f"{level.a * 100 + 1e-9:.0f} %", f"{level.b * 100 + 1e-9:.0f} %",
            str(level.higher), str(level.lower), str(equal), p,
        ]  # fmt: skip


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
    browser.open(folder / PAGES[-1])
    assert browser.run("document.body.innerText.includes('not qualified')")
    heights = "[...document.querySelectorAll('.level > header')].map(h => h.offsetHeight)"
    assert len(set(browser.run(heights))) == 1


def test_phone_sorts_cards_by_a_choice(browser, folder):
    browser.open(folder / "index.html", width=360)
    assert browser.run("document.querySelector('#agents thead').offsetHeight") == 0
    choose(browser, "#agents .sorter select", "6")
    assert browser.run(AGENTS) == ["codex", "uv", "claude-code"]


SEEN = "[...document.querySelectorAll('{}')].filter(one => one.checkVisibility()).length"


@pytest.mark.parametrize(
    ("page", "rows", "pictures"),
    [
        ("index.html", 3 + 7 + 3, 1 + 3),
        ("trials.html", 35, 0),
        ("domains.html", 6 * 3, 0),
        ("compare.html", 3, 0),
        (UV, 2 + 6 + 2, 2),
    ],
)
def test_without_a_script_everything_is_there(browser, folder, page, rows, pictures):
    browser.open(folder / page, script=False)
    assert browser.run(SEEN.format("tbody tr")) == rows
    assert browser.run(SEEN.format("main svg:not(.bar)")) == pictures
    assert browser.run(SEEN.format("input, select, button")) == 0
    said = "document.body.innerText.includes('reb compare scoreboard.json')"
    assert browser.run(said) is (page == "compare.html")


def test_no_word_is_broken_on_a_wide_screen(browser, folder):
    """Heads, claims and outcomes keep their words; only names and reasons may break anywhere."""
    for page in PAGES:
        browser.open(folder / page, width=1400)
        assert browser.run(BROKEN) == [], page


def test_script_that_slipped_through_would_not_run(started, folder, tmp_path):
    page = tmp_path / "page.html"
    text = (folder / "index.html").read_text()
    page.write_text(text.replace("</main>", "<script>document.title = 'ran'</script></main>"))
    started.open(page)
    assert started.run("document.title") == "researchenvbench: leaderboard"
    assert len(started.complaints) == 1
    assert "Content Security Policy" in started.complaints[0]


COMPARED = [
    "NVIDIA/kvpress", "1/2 =", "1/2 =", "0/2 → 1/2 ▲", "0/2 =", "0/2 =", "0/2 =",
]  # fmt: skip
