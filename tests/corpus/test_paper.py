"""The paper's rows, against its published figures."""

import pytest

from reb_action.corpus.paper import rows
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import Imports

# C1 of 29, C2 of 44, C3 of 43, C4 of 32: counts, and percent as printed.
SHARES = {
    "glm-4.7": ((16, 55.2), (40, 90.9), (21, 48.8), (12, 37.5)),
    "sonnet-4.5": ((15, 51.7), (41, 93.2), (18, 41.9), (12, 37.5)),
    "gpt-5.1-codex": ((17, 58.6), (35, 79.5), (19, 44.2), (11, 34.4)),
    "deepseek-v3.1-nex-n1": ((16, 55.2), (41, 93.2), (21, 48.8), (11, 34.4)),
}
IMPORTS = {"glm-4.7": 26.6, "sonnet-4.5": 25.5, "gpt-5.1-codex": 23.6, "deepseek-v3.1-nex-n1": 25.3}
COUNTED = {Level.C1: 29, Level.C2: 44, Level.C3: 43, Level.C4: 32}
ROWS = {row.model: row for row in rows()}


def test_four_agents_of_one_run_each():
    assert [(row.agent, row.model, row.runs) for row in rows()] == [
        ("claude-code", "glm-4.7", 1),
        ("claude-code", "sonnet-4.5", 1),
        ("codex", "gpt-5.1-codex", 1),
        ("nexau", "deepseek-v3.1-nex-n1", 1),
    ]


@pytest.mark.parametrize("model", SHARES)
def test_shares_are_the_printed_ones(model):
    levels = ROWS[model].levels
    assert {level: one.counted for level, one in levels.items()} == COUNTED
    told = tuple((levels[level].passed, round(100 * levels[level].share, 1)) for level in COUNTED)
    assert told == SHARES[model]


@pytest.mark.parametrize("model", IMPORTS)
def test_both_ends_of_the_missing_imports_give_the_printed_percent(model):
    one = ROWS[model].imports
    assert one.total == 2858
    ends = {one.missing, one.missing if one.most is None else one.most}
    assert {round(100 * end / one.total, 1) for end in ends} == {IMPORTS[model]}


def test_range_is_as_wide_as_what_is_known():
    assert ROWS["glm-4.7"].imports == Imports(missing=759, total=2858, most=761)
    assert ROWS["gpt-5.1-codex"].imports == Imports(missing=675, total=2858)


def test_hallucinations_and_what_is_unknown_of_them():
    told = {row.model: (row.hallucinations, row.capability) for row in rows()}
    assert told == {
        "glm-4.7": (18, 17),
        "sonnet-4.5": (20, 20),
        "gpt-5.1-codex": (4, None),
        "deepseek-v3.1-nex-n1": (16, 14),
    }


def test_interval_of_the_best_distributed_run_is_wide():
    low, high = ROWS["glm-4.7"].levels[Level.C4].interval
    assert (round(low, 3), round(high, 3)) == (0.229, 0.547)
