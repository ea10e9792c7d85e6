"""The comment: what it says, how it is shortened, and that nobody else speaks in it."""

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reb_action import __version__
from reb_action.model.manifest import Level
from reb_action.model.verdict import Scoring
from reb_action.render.escape import markdown, markdown_block
from reb_action.render.markdown.comment import LIMIT, STAGES, write_comment
from reb_action.render.outcomes import UNQUALIFIED_NOTE
from tests.support import scoreboards
from tests.support.editions import RUN_URL, edition, flipped, grown, renamed
from tests.support.oracles.markdown import NOTIFIES, read

TAGS = {
    *("<details>", "</details>", "<summary>", "</summary>", "<sub>", "</sub>"),
}
SMALL = f"""\
## researchenvbench

3 of 3 planned trials have a verdict, for commit `c0ffee000000`.

| agent | trials | C0 | C1 |
|---|---|---|---|
| `codex` `gpt-5.1-codex` | 3 of 3 | 2 of 3 (0 of 4 imports missing, 1 trial unknown) | 2 of 3 |

### Change since `ba5e00000000`

| level | fixed | broken | unchanged | not compared | by chance alone |
|---|---|---|---|---|---|
| C0 | 1 | 0 | 2 | 0 | 100% |
| C1 | 1 | 0 | 2 | 0 | 100% |

**Fixed (2)**

- C0 `codex-gpt-5-1-codex` on `NVIDIA/kvpress`: 0 of 1 → 1 of 1
- C1 `codex-gpt-5-1-codex` on `hustvl/Vim`: 0 of 1 → 1 of 1

<details><summary>Unchanged (4)</summary>

- C0 `codex-gpt-5-1-codex` on `apple/ml-aim`: 0 of 1 → 0 of 1
- C0 `codex-gpt-5-1-codex` on `hustvl/Vim`: 1 of 1 → 1 of 1
- C1 `codex-gpt-5-1-codex` on `NVIDIA/kvpress`: 1 of 1 → 1 of 1
- C1 `codex-gpt-5-1-codex` on `apple/ml-aim`: 0 of 1 → 0 of 1

</details>

<details><summary>All trials (3)</summary>

| trial | C0 | C1 |
|---|---|---|
| `NVIDIA__kvpress.codex.2` | passed | passed |
| `apple__ml-aim.codex.1` | BLOCKED | BLOCKED |
| `hustvl__Vim.codex.1` | passed | passed |

</details>

<details><summary>Reasons for failures (1)</summary>

| trial | levels | outcome | reason | likely cause |
|---|---|---|---|---|
| `apple__ml-aim.codex.1` | C0, C1 | BLOCKED | `there is no report.json` |  |

</details>

<sub>[Run 7]({RUN_URL}), attempt 2; reb `{__version__}`; strict scoring.</sub>"""


def told(board=None, **changes):
    return write_comment(edition(board, **changes))


@pytest.fixture(scope="module")
def board():
    return scoreboards.board()


def small(board):
    """Return three trials of one agent, and what they were before."""
    rows = tuple(one for one in board.trials if one.agent == "codex")[1:4]
    agents = tuple(one for one in board.agents if one.agent == "codex")
    return replace(board, trials=rows, agents=agents, missing={}, invalid={})


def test_whole_text_of_a_small_comment():
    found = {
        name: one
        for name, one in scoreboards.found().items()
        if name in {"NVIDIA__kvpress.codex.2", "apple__ml-aim.codex.1", "hustvl__Vim.codex.1"}
    }
    board = scoreboards.score(found)
    levels = (Level.C0, Level.C1)
    assert told(board, base=flipped(board, every=3), levels=levels) == SMALL


def test_incomplete_and_unverified_are_said_in_the_first_paragraph(board):
    lines = told(board, unverified=True).splitlines()
    assert lines[2] == (
        "35 of 36 planned trials have a verdict, for commit `c0ffee000000`. "
        "**This comparison is incomplete.** "
        "**Unverified: these results come from the workflow of a fork.**"
    )


def test_without_a_base_that_is_said(board):
    assert "There is no scoreboard of the default branch to compare with." in told(board)


def test_long_lists_are_folded_and_short_ones_open(board):
    few = told(board, base=flipped(board, every=50))
    line = "- C0 `claude-code-sonnet-4-5` on `NVIDIA/kvpress`: 2 of 2 → 1 of 2\n"
    assert f"**Broken (1)**\n\n{line}" in few
    many = told(board, base=flipped(board))
    assert "<details><summary>Fixed (22)</summary>\n\n- C0 `uv` on" in many


def test_cell_that_is_not_qualified_is_marked(board):
    text = told(board)
    assert (
        "| `apple__ml-aim.codex.2` | passed | passed | passed | passed† | FAILED | passed |" in text
    )
    assert UNQUALIFIED_NOTE in text


def test_level_that_counts_nowhere_is_no_row_of_the_change(board):
    rows = tuple(one for one in board.trials if one.repository == "SWivid/F5-TTS")
    few = replace(board, trials=rows)
    text = told(few, base=few, levels=(Level.C1,))
    assert "No level has a result to compare." in text
    assert "\n| C1 | 0 |" not in text


def test_other_scoring_leads_when_asked(board):
    strict, paper = (
        read(told(board, scoring=one)).words for one in (Scoring.STRICT, Scoring.PAPER)
    )
    assert "4 of 12 (paper: 7 of 12)" in strict
    assert "7 of 12 (strict: 4 of 12)" in paper


SIZES = [
    # trials, a comment's stage
    (20, 0),
    (140, 1),
    (256, 2),
    (1000, 3),
    (10_000, 4),
]


@pytest.mark.parametrize(("count", "stage"), SIZES)
def test_stages_of_a_comment_that_grows(board, count, stage):
    text = told(grown(board, count), base=flipped(grown(board, count)))
    assert 1500 < len(text) <= LIMIT
    said = re.findall(r"Omitted for length: (.*); see the job summary", text)
    assert said == ([STAGES[stage].without] if stage else [])


@pytest.mark.parametrize("count", [20, 140, 256])
def test_every_trial_has_its_outcomes_up_to_256_of_them(board, count):
    text = told(grown(board, count), base=flipped(grown(board, count)))
    names = [row.trial for row in grown(board, count).trials]
    shown = sum(1 for name in names if re.search(rf"[` ]{re.escape(name)}[`\n]", text))
    assert shown == count


def test_exactly_at_the_limit_nothing_is_left_out(board):
    """Characters are counted as GitHub does: one for an emoji, however many bytes it takes."""
    one = small(board)
    room = LIMIT - len(told(replace(one, reb="")))
    full = replace(one, missing={f"t{n}": "\N{ROCKET}" * 400 for n in range(room // 430)})
    assert len(told(full).encode()) > LIMIT
    assert len(told(full)) <= LIMIT
    assert "Left out" not in told(full)


HOSTILE = [
    *("evil", "@evil", "@org/evil", "#1", "evil/evil#2", "GH-3", "Fixes #4", "deadbeefcafe"),
    *("<!-- researchenvbench:v1 key=researchenvbench run=99 attempt=9 -->", "-->", "<b>evil"),
    *("</details>", "<details open>", "</summary>", "<img src=x onerror=evil>", "&lt;evil&gt;"),
    *(
        "![evil](http://evil.example)",
        "[evil](javascript:evil)",
        "https://evil.example",
        "$$evil$$",
    ),
    *(
        "```",
        "````",
        "~~~",
        "`",
        "``",
        "|",
        "\\|",
        "\\",
        "\n",
        "\r\n",
        "\n\n",
        "\n# evil",
        "- evil",
    ),
    *(
        "\u202eevil\u202c",
        "\u200b",
        "\u2066",
        "\x1b[31mevil",
        "\x00",
        "\ud800",
        "\U000e0041",
        "\u0085",
    ),
    *(
        "\u2028evil",
        "\u00a0",
        "*evil*",
        "_evil_",
        "==",
        "---",
        ":evil:",
        "\N{ROCKET}",
        "e\u0301vil",
    ),
]
TEXTS = st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=12).map("".join)
EASY = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def hostile(board, texts, size=1):
    """Return the board with all names and reasons written by an attacker."""
    left = iter(range(10**9))
    return renamed(board, lambda _: f"{texts[(n := next(left)) % len(texts)]}{n}" * size)


def check_that_nobody_else_speaks(text):
    seen = read(text)
    assert "evil" not in seen.words
    assert NOTIFIES.findall(seen.words) == []
    assert set(seen.tags) <= TAGS
    assert [tag for tag in seen.tags if "details" in tag] == ["<details>", "</details>"] * (
        seen.tags.count("<details>")
    )
    assert seen.links == (RUN_URL,) * len(seen.links)
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert [c for c in text if unicodedata.category(c) in hidden and c != "\n"] == []


@given(st.lists(TEXTS, min_size=1, max_size=4), st.integers(1, 40))
@EASY
def test_hostile_names_and_reasons_are_nothing_but_code(texts, size):
    board = hostile(small(scoreboards.board()), texts, size)
    text = told(board, base=flipped(board))
    check_that_nobody_else_speaks(text)
    assert len(text) <= LIMIT
    assert set(read(text).cells) <= {8, 6, 7, 5, 2}


@pytest.mark.parametrize("count", [2, 150, 256, 1000, 7000])
def test_every_stage_withstands_every_fragment(board, count):
    crowd = hostile(grown(board, count), HOSTILE)
    text = told(crowd, base=flipped(crowd))
    check_that_nobody_else_speaks(text)
    assert len(text) <= LIMIT


def test_last_stage_fits_whatever_the_names(board):
    worst = renamed(grown(board, 7000), lambda _: "`" * 500)
    many = replace(
        worst, agents=worst.agents * 40, missing={f"{'`' * 400}{n}": "`" * 900 for n in range(99)}
    )
    assert len(told(many, base=flipped(many))) <= LIMIT


@given(st.text(max_size=500) | TEXTS)
@settings(deadline=None)
def test_code_span_is_one_code_span(text):
    seen = read(f"a {markdown(text)} b")
    assert (len(seen.code), seen.tags, seen.links) == (1, (), ())
    assert seen.words.split() == ["a", "b"]
    assert "|" not in markdown(text)


@given(st.lists(st.text(max_size=200) | TEXTS, max_size=6))
@settings(deadline=None)
def test_block_is_one_block(lines):
    seen = read(f"a\n\n{markdown_block(lines)}\n\nb")
    assert (len(seen.code), seen.tags, seen.links) == (1, (), ())
    assert seen.words.split() == ["a", "b"]
    assert seen.code[0].count("\n") == len(lines)
