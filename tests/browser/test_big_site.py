"""A site of 20 contestants on 44 repositories, three attempts each, in a real browser."""

import os

import pytest

from reb_action.results import board_site
from reb_action.results import records as records_of
from tests.browser.test_site import STATUS, pytestmark
from tests.support import axe, big_board, chromium

__all__ = ["pytestmark"]

CONTESTANT = "contestants/claude-code--gpt-5.1-codex.html"
PAGES = ("index.html", "trials.html", "domains.html", "failures.html", "compare.html", CONTESTANT)
SECONDS = float(os.environ.get("REB_LOAD_SECONDS", "10"))
"""Limit on the load of a page: 1 s on a quiet machine; CI's is busy."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("big")
    records = big_board.records()
    pages = {records_of.name_page(record) for record in records}
    for name, data in board_site.render_board(records, pages, big_board.history()):
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    assert chromium.CHROMIUM, "REB_BROWSER=required, and chromium is not installed"
    with chromium.Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.mark.parametrize("page", PAGES)
def test_page_loads_in_time_fits_and_has_no_finding(browser, folder, page):
    checker = axe.script()
    for width in (1400, 390):
        for dark in (False, True):
            browser.open(folder / page, width=width, dark=dark)
            load = "performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"
            assert browser.run(load) < SECONDS
            assert browser.run("document.documentElement.scrollWidth") == width
            assert browser.complaints == []
        browser.run(f"{checker};0")
        told = "violations.map(one => [one.id, one.nodes.map(node => node.html)])"
        # Of the tables of trials the first two: the checker takes minutes for all 26,000 cells. It
        # takes what is laid out when it scrolls for something above the foot, which all pages have.
        part = "{exclude: [['.group:nth-of-type(n + 4)'], ['footer']]}"
        part = part if page == "trials.html" else ""
        assert browser.run(f"axe.run({part}).then(did => did.{told})") == []


def test_thousands_of_trials_are_filtered_and_sorted(browser, folder):
    browser.open(folder / "trials.html")
    browser.run(
        "(() => { const field = document.querySelector('[data-filter=family]');"
        " field.value = 'audio'; field.dispatchEvent(new Event('input')) })()"
    )
    assert browser.run(STATUS.format("#trials")) == "420 of 2640 trials"
    browser.run("document.querySelectorAll('.group')[0].querySelectorAll('button')[9].click()")
    assert browser.run(STATUS.format("#trials")) == "420 of 2640 trials"
    shown = (
        "[...document.querySelectorAll('#trials tbody tr:not([hidden]) td[data-label=cost]')]"
        ".map(td => td.dataset.value).filter(Boolean).map(Number)"
    )
    costs = browser.run(shown)
    assert costs == sorted(costs)
    assert len(costs) == 18 * 7 * 3
