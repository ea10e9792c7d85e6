"""The comment: what it says, how it is shortened, and that nobody else speaks in it."""

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reb_action import __version__
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Scoring
from reb_action.render.escape import markdown, markdown_block
from reb_action.render.markdown.comment import LIMIT, STAGES, write_comment
from reb_action.render.markdown.run_report import BaseComparison
from reb_action.render.outcomes import UNQUALIFIED_NOTE
from tests.support import scoreboards
from tests.support.editions import BASE_URL, RUN_URL, edition, flipped, grown, renamed
from tests.support.oracles.markdown import NOTIFIES, read

TAGS = {
    *("<details>", "</details>", "<summary>", "</summary>", "<sub>", "</sub>", "<br>"),
}
SMALL = f"""\
### `codex` `gpt-5.1-codex`: 2 cells fixed. No difference that this run could show (p = 1.00).

C0: a difference of +33 points would need 29 repositories.

3 of 3 planned trials have a verdict, for commit `c0ffee000000`, compared with\
 [`ba5e00000000`]({BASE_URL}).

| contestant | C0 | C1 | cost of a trial |
|---|---|---|---|
| `codex` `gpt-5.1-codex` | 2/3 +1 | 2/3 +1 | $1.67 |

<sub>passed/counted cells; + and \N{MINUS SIGN}: repositories that pass more and less often\
 than in the base; unseen: missing or invalid.</sub>

**Fixed (2)**

- C0 `NVIDIA/kvpress` 0/1 → 1/1
- C1 `hustvl/Vim` 0/1 → 1/1

<details><summary>Unchanged (4)</summary>

- C0 `codex-gpt-5-1-codex` on `apple/ml-aim` 0/1 → 0/1
- C0 `codex-gpt-5-1-codex` on `hustvl/Vim` 1/1 → 1/1
- C1 `codex-gpt-5-1-codex` on `NVIDIA/kvpress` 1/1 → 1/1
- C1 `codex-gpt-5-1-codex` on `apple/ml-aim` 0/1 → 0/1

</details>

<details><summary>How this is computed</summary>

Each repository counts once; attempts are repeats. p: exact permutation test over repositories\
 (McNemar's with one attempt). Holm: p over all levels. detects: the smallest difference found\
 with 80 % probability.

</details>

<details><summary>What did not pass, and why (1)</summary>

| trial | why |
|---|---|
| `apple__ml-aim.codex.1` | C0, C1 BLOCKED: `there is no report.json` · The level could not be\
 measured. Fix the cause that the reason names first. · [agent.log]({RUN_URL}#artifacts) |

</details>

<details><summary>All trials (3)</summary>

| trial | C0 | C1 |
|---|---|---|
| `NVIDIA__kvpress.codex.2` | passed | passed |
| `apple__ml-aim.codex.1` | BLOCKED | BLOCKED |
| `hustvl__Vim.codex.1` | passed | passed |

</details>

<details><summary>By the paper scoring</summary>

| contestant | C0 | C1 |
|---|---|---|
| `codex` `gpt-5.1-codex` | 2/3 (24 of 65 imports missing) | 2/3 |

</details>

<sub>researchenvbench: [run 7]({RUN_URL}), attempt 2; reb `{__version__}`; strict\
 scoring.</sub>"""


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


def test_incomplete_and_unverified_are_said_before_the_table(board):
    lines = told(board, unverified=True).splitlines()
    assert lines[2] == (
        "35 of 36 planned trials have a verdict, for commit `c0ffee000000`. "
        "**Incomplete: 1 missing and 1 invalid.** "
        "**Unverified: these results come from the workflow of a fork.**"
    )


def test_without_a_base_that_is_said_first(board):
    first = told(board).splitlines()[0]
    assert first == (
        "### `claude-code` `sonnet-4.5` and 1 more: nothing to compare with."
        " The default branch has no results of it."
    )
    why = BaseComparison(why="no record has this scoring version")
    text = write_comment(replace(edition(board), base=why))
    assert text.splitlines()[0].endswith("with. `no record has this scoring version`.")


def with_outcomes(board, outcomes):
    """Return the board with other outcomes: of (contestant, repository, level), all attempts."""

    def cells(row):
        changes = {
            level: replace(cell, outcome=outcome, line="evil" if not outcome else cell.line)
            for level, cell in row.cells.items()
            if (outcome := outcomes.get((row.agent, row.repository, level))) is not None
        }
        return {**row.cells, **changes}

    return replace(board, trials=tuple(replace(row, cells=cells(row)) for row in board.trials))


VIM = "hustvl/Vim"
NOW = {
    ("claude-code", "NVIDIA/kvpress", Level.C3): Outcome.FAILED,
    ("claude-code", VIM, Level.C1): Outcome.FAILED,
    ("claude-code", VIM, Level.C5): Outcome.PASSED,
}
BEFORE = {
    key: Outcome.FAILED if outcome is Outcome.PASSED else Outcome.PASSED
    for key, outcome in NOW.items()
}


@pytest.mark.parametrize("count", [8, 36, 132])
def test_two_broken_and_one_fixed_are_said_first_with_reason_and_link(count):
    many = scoreboards.found() | (scoreboards.many(count - 36) if count > 36 else {})
    chosen = {n: one for n, one in many.items() if count > 8 or (".claude-code." in n)}
    board = scoreboards.score(dict(list(chosen.items())[: max(count, 12)]))
    head, base = with_outcomes(board, NOW), with_outcomes(board, BEFORE)
    evidence = {row.trial: f"{RUN_URL}/artifacts/{n}" for n, row in enumerate(head.trials)}
    text = told(head, base=base, evidence=evidence)
    first = text.splitlines()[0]
    assert first.startswith(
        "### `claude-code` `sonnet-4.5`: 2 cells broken, 1 fixed."
        " No difference that this run could show (p = 1.00)"
    )
    assert "**Broken (2)**" in text
    for level, repository in (("C3", "NVIDIA/kvpress"), ("C1", VIM)):
        (line,) = [
            one
            for one in text.splitlines()
            if one.startswith(f"- {level} ") and f"`{repository}`" in one and " → 0/" in one
        ]
        assert f"[levels/{level}.log]({RUN_URL}/artifacts/" in line
        assert "the entry point ended" in line or "proof" in line
    assert "What did not pass, and why" in text
    assert len(text) <= LIMIT


def test_some_attempts_that_pass_are_a_flip_and_not_broken(board):
    few = small(board)
    rows = [replace(row, repository=VIM) for row in few.trials]
    one = rows[0].cells[Level.C1]
    passed, failed = (replace(one, outcome=of) for of in (Outcome.PASSED, Outcome.FAILED))
    head, base = (
        replace(
            few,
            trials=tuple(
                replace(row, cells={Level.C1: cell}) for row, cell in zip(rows, cells, strict=True)
            ),
        )
        for cells in ((passed, failed, passed), (passed, passed, passed))
    )
    text = told(head, base=base, levels=(Level.C1,))
    assert "1 cell flipped in some attempts" in text.splitlines()[0]
    assert "**Broken" not in text
    assert "**Flipped by chance: passed in some attempts and failed in others (1)**" in text
    assert f"- C1 `{VIM}` 3/3 → 2/3: `" in text


def test_baselines_are_apart(board):
    key = ("uv", "NVIDIA/kvpress", Level.C0)
    head, base = (with_outcomes(board, {key: of}) for of in (Outcome.FAILED, Outcome.PASSED))
    text = told(head, base=base)
    assert "no cell changed" not in text.splitlines()[0] or "0 cells changed" in text
    assert "**Broken" not in text.split("<details>")[0]
    folded = text.split("<details><summary>Changes of the baselines</summary>")[1]
    assert "- C0 `uv` on `NVIDIA/kvpress` 2/2 → 0/2: " in folded.split("</details>")[0]
    assert "| `uv` (baseline) | " in text


def test_a_contestant_that_got_worse_is_said_first(board):
    """44 of 44 before, none now: the first line and the check say so."""
    row = next(row for row in board.trials if row.agent == "codex")
    cell = row.cells[Level.C1]
    sides = []
    for outcome in (Outcome.PASSED, Outcome.FAILED):
        rows = tuple(
            replace(
                row,
                trial=f"acme__r{n}.codex.1",
                repository=f"acme/r{n}",
                cells={Level.C1: replace(cell, outcome=outcome)},
            )
            for n in range(44)
        )
        sides.append(replace(small(board), trials=rows))
    text = told(sides[1], base=sides[0], levels=(Level.C1,))
    assert text.splitlines()[0] == (
        "### `codex` `gpt-5.1-codex`: 44 cells broken. Worse at C1 (p = 1e-13)."
    )


def test_cell_that_is_not_qualified_is_marked(board):
    text = told(board)
    assert (
        "| `apple__ml-aim.codex.2` | passed | passed | passed | passed† | FAILED | passed |" in text
    )
    assert UNQUALIFIED_NOTE in text


def test_other_scoring_leads_when_asked(board):
    strict, paper = (told(board, scoring=one) for one in (Scoring.STRICT, Scoring.PAPER))
    assert "| `claude-code` `sonnet-4.5` | 7/12 | 6/10 | 7/12 | 4/12 |" in strict
    assert "<details><summary>By the paper scoring</summary>" in strict
    assert "<details><summary>By the strict scoring</summary>" in paper


SIZES = [
    # trials, of which nearly all have a changed cell; a comment's stage
    (20, 0),
    (80, 1),
    (110, 2),
    (140, 3),
    (256, 4),
    (10_000, 5),
]


@pytest.mark.parametrize(("count", "stage"), SIZES)
def test_stages_of_a_comment_that_grows(board, count, stage):
    text = told(grown(board, count), base=flipped(grown(board, count)))
    assert 1500 < len(text) <= LIMIT
    said = re.findall(r"Omitted for length: (.*); see the job summary", text)
    assert said == ([STAGES[stage].without] if stage else [])


@pytest.mark.parametrize("count", [20, 110])
def test_every_trial_has_its_outcomes_up_to_110_of_them(board, count):
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
    assert set(seen.links) <= {RUN_URL, f"{RUN_URL}#artifacts", BASE_URL}
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
