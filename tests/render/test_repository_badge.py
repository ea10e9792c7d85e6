"""The badge of one repository: each level with its mark, and nothing unseen as a pass."""

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from reb_action.model.manifest import Level, Outcome
from reb_action.render.html import site
from reb_action.render.html.site import BoardFacts, TrialFacts
from reb_action.render.repository_badge import badge_files, list_segments
from tests.support import scoreboards

P, F, B = Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED
N, X = Outcome.NOT_APPLICABLE, Outcome.INVALID
TICK, CROSS, DASH = "l3 3 5-6", "m1-3l6 6m0-6l-6 6", "h8"
GREEN, RED, AMBER, GREY = "17693f", "a8231b", "855300", "66645e"
OWN = "acme/own"


def board_of(*attempts, missing=()):
    """Return a board of one repository and contestant: the outcomes of C0, C1, … by attempt."""
    board = scoreboards.board()
    row = next(one for one in board.trials if one.agent == "uv")
    cell = row.cells[Level.C0]
    rows = tuple(
        replace(
            row,
            trial=f"acme__own.uv.{number}",
            repository=OWN,
            cells={
                level: replace(cell, outcome=outcome)
                for level, outcome in zip(Level, outcomes, strict=False)
            },
        )
        for number, outcomes in enumerate(attempts, start=1)
    )
    agents = tuple(score for score in board.agents if score.agent == "uv")
    absent = dict.fromkeys(missing, "lost")
    return replace(board, trials=rows, agents=agents, missing=absent, invalid={})


def badge(board):
    picture, numbers = badge_files(board, board.agents[0], OWN)
    return picture.decode(), json.loads(numbers)


MARKS = [
    # outcomes of a level in each attempt, missing trials: mark, word, colour
    ([P], 0, TICK, "passed", GREEN),
    ([P, P], 0, TICK, "passed", GREEN),
    ([F], 0, CROSS, "failed", RED),
    ([B], 0, CROSS, "failed", RED),
    ([F, X], 0, CROSS, "failed", RED),
    ([N], 0, DASH, "n/a", GREY),
    ([P, F], 0, "1/2", "1 of 2", AMBER),
    ([P, X], 0, "1/2", "1 of 1, 1 unseen", AMBER),
    ([P], 1, "1/2", "1 of 1, 1 unseen", AMBER),
    ([X], 0, "?", "not measured, 1 unseen", GREY),
    ([N], 1, "?", "not measured, 1 unseen", GREY),
]


@pytest.mark.parametrize(("outcomes", "absent", "mark", "word", "colour"), MARKS)
def test_mark_of_a_level(outcomes, absent, mark, word, colour):
    missing = [f"acme__own.uv.{9 + n}" for n in range(absent)]
    board = board_of(*[(one,) for one in outcomes], missing=missing)
    (segment,) = list_segments(board, board.agents[0], OWN)
    assert (segment.drawn or segment.text, segment.word, segment.colour) == (mark, word, colour)


def test_missing_trial_of_another_repository_or_contestant_does_not_count():
    board = board_of((P,), missing=["acme__other.uv.2", "acme__own.pip.2"])
    (segment,) = list_segments(board, board.agents[0], OWN)
    assert segment.word == "passed"


def test_levels_that_were_not_requested_are_left_out():
    board = board_of((P, F, N, P))
    segments = list_segments(board, board.agents[0], OWN)
    assert [(one.level, one.word) for one in segments] == [
        ("C0", "passed"),
        ("C1", "failed"),
        ("C2", "n/a"),
        ("C3", "passed"),
    ]
    assert [(one.x, one.end) for one in segments] == [(84, 123), (123, 162), (162, 201), (201, 240)]


def test_badge_in_full():
    title = "environment of acme/own, uv, strict scoring: C0 passed; C1 failed"
    assert badge(board_of((P, F)))[0] == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="162" height="20" role="img"'
        f' aria-label="{title}"><title>{title}</title>'
        '<rect width="162" height="20" rx="3" fill="#a8231b"></rect>'
        '<path d="M3 0H84V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0Z" fill="#4a4944"></path>'
        '<rect x="84" width="39" height="20" fill="#17693f"></rect>'
        '<g fill="none" stroke="#ffffff" stroke-width="2">'
        f'<path d="M109 10{TICK}"></path><path d="M148 10{CROSS}"></path>'
        '<path d="M123 0V20" stroke-width="1"></path></g>'
        '<g fill="#ffffff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        '<text x="6" y="14" textLength="72">environment</text>'
        '<text x="90" y="14" textLength="15">C0</text>'
        '<text x="129" y="14" textLength="15">C1</text></g></svg>\n'
    )


@pytest.mark.parametrize(
    ("outcomes", "colour"),
    [((P, P), GREEN), ((P, N), GREEN), ((P, X), GREY), ((P, F), RED), ((N, N), GREY)],
)
def test_endpoint_says_each_level_in_words_and_has_the_worst_colour(outcomes, colour):
    words = {P: "passed", N: "n/a", X: "not measured, 1 unseen", F: "failed"}
    assert badge(board_of(outcomes))[1] == {
        "schemaVersion": 1,
        "label": "environment",
        "message": f"C0 {words[outcomes[0]]}; C1 {words[outcomes[1]]}",
        "color": colour,
        "cacheSeconds": 3600,
    }


def test_repository_without_a_verdict_is_not_measured():
    picture, numbers = badge(board_of(missing=["acme__own.uv.1"]))
    assert (numbers["message"], numbers["color"]) == ("not measured", GREY)
    assert "not measured</text>" in picture


def test_hostile_name_is_only_text():
    board = board_of((P,))
    name = '<script>"&\N{RIGHT-TO-LEFT OVERRIDE}'
    board = replace(board, trials=(replace(board.trials[0], repository=name),))
    picture, _ = badge_files(board, board.agents[0], name)
    root = ET.fromstring(picture)
    assert root[0].text == 'environment of <script>"&, uv, strict scoring: C0 passed'
    assert "script" not in {one.tag.rpartition("}")[2] for one in root.iter()}


def test_site_has_it_only_for_a_repository_that_follows_its_checkout():
    board = board_of((P,))
    facts = BoardFacts(trials={"acme__own.uv.1": TrialFacts(follows_checkout=True)})
    paths = {"badges/uv/acme__own.svg", "badges/uv/acme__own.json"}
    own, pinned = (dict(site.front_files(board, facts=one)) for one in (facts, BoardFacts()))
    assert set(own) - set(pinned) == paths
    assert own["badges/uv/acme__own.svg"] == badge_files(board, board.agents[0], OWN)[0]
