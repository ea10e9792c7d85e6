"""Badges: exact words and colours, the worst case where something is unseen, text as text."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action.model.manifest import Level
from reb_action.model.scoreboard import AgentScore, Share, Spent
from reb_action.model.verdict import Scoring
from reb_action.render.badge import Badge, badge_of, endpoint, svg

SVG = "{http://www.w3.org/2000/svg}"


def scored(agent="codex", **shares):
    levels = {Scoring(name): {Level.C3: share} for name, share in shares.items()}
    return AgentScore(
        agent=agent,
        model=None,
        versions=(),
        planned=1,
        judged=1,
        levels=levels,
        imports={},
        hallucinations={},
        endings={},
        spent=Spent(),
    )


def share(passed, counted, unseen=0):
    return Share(passed=passed, counted=counted, unseen=unseen)


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize(
    ("found", "message", "colour"),
    [
        (share(43, 43), "43 of 43", "17693f"),
        (share(8, 10), "8 of 10", "17693f"),
        (share(6, 10), "6 of 10", "4a6b1e"),
        (share(4, 10), "4 of 10", "855300"),
        (share(2, 10), "2 of 10", "9c4414"),
        (share(0, 10), "0 of 10", "a8231b"),
        (share(8, 8, unseen=2), "8 of 8, 2 unseen", "17693f"),
        (share(8, 8, unseen=3), "8 of 8, 3 unseen", "4a6b1e"),
        (share(0, 0), "not measured", "66645e"),
        (share(0, 0, unseen=4), "not measured, 4 unseen", "66645e"),
    ],
)
def test_message_counts_and_colour_takes_the_worst_case(found, message, colour):
    badge = badge_of(scored(strict=found), Level.C3)
    assert (badge.message, badge.colour) == (message, colour)
    assert 1.05 / (luminance(colour) + 0.05) >= 4.5


def test_scorings_are_never_mixed():
    score = scored(strict=share(1, 2), paper=share(2, 2))
    told = [badge_of(score, Level.C3, scoring=one) for one in Scoring]
    assert [(one.label, one.message) for one in told] == [
        ("codex C3", "1 of 2"),
        ("codex C3 paper", "2 of 2"),
    ]
    assert badge_of(score, Level.C1).message == "not measured"


def test_endpoint_is_what_shields_reads():
    assert endpoint(badge_of(scored(strict=share(21, 43)), Level.C3)).decode() == (
        '{\n  "cacheSeconds": 3600,\n  "color": "855300",\n  "label": "codex C3",\n'
        '  "message": "21 of 43",\n  "schemaVersion": 1\n}\n'
    )


def test_svg_in_full():
    assert svg(badge_of(scored(strict=share(21, 43)), Level.C3)).decode() == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="121" height="20" role="img"'
        ' aria-label="codex, C3 single-GPU run, strict scoring: 21 of 43">'
        "<title>codex, C3 single-GPU run, strict scoring: 21 of 43</title>"
        '<rect width="121" height="20" rx="3" fill="#855300"></rect>'
        '<path d="M3 0H64V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0Z" fill="#4a4944"></path>'
        '<g fill="#ffffff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        '<text x="6" y="14" textLength="52">codex C3</text>'
        '<text x="70" y="14" textLength="45">21 of 43</text></g></svg>\n'
    )


@given(text=st.text())
def test_any_name_is_well_formed_and_only_text(text):
    badge = badge_of(scored(text, strict=share(1, 2)), Level.C3)
    root = ET.fromstring(svg(badge))
    assert [one.tag for one in root.iter()] == [
        f"{SVG}{name}" for name in ("svg", "title", "rect", "path", "g", "text", "text")
    ]
    assert root[3][0].text == badge.label
    assert len(badge.label) <= 63


def test_width_grows_with_the_text():
    narrow, wide = (
        int(
            ET.fromstring(svg(Badge(label=text, message="1", colour="000000", title="t")))[1].get(
                "width"
            )
        )
        for text in ("iiii", "WWWW")
    )
    assert (narrow, wide) == (12 + 12 + 12 + 7, 12 + 44 + 12 + 7)
