"""A scoreboard in words: what is counted, what is bounded, what is marked, what is escaped."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from reb_action.corpus.paper import rows
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import Imports, Known, Share
from reb_action.model.verdict import Scoring
from reb_action.render import quantities, shares
from reb_action.render.markdown.scoreboard import board_summary
from reb_action.render.terminal.scoreboard import board_tables
from reb_action.render.terminal.standings import draw_bar
from reb_action.score.statistics import wilson
from tests.support.scoreboards import INVALID, MISSING, board

INCOMPLETE = (
    "35 of 36 trials have a verdict. This comparison is incomplete: 1 missing and 1 invalid."
)
HOSTILE = "[x](http://e) | @all <b> \x1b[31m ::error::y ##[error]z"
ROOM = 1_000_000


def share(passed, counted, unseen=0):
    return Share(passed=passed, counted=counted, unseen=unseen, interval=wilson(passed, counted))


def summary(made, *, scoring=Scoring.STRICT, closed=None, limit_bytes=ROOM):
    return board_summary(made, scoring=scoring, closed=closed, limit_bytes=limit_bytes)


def terminal(made, width=110, *, drawn=True):
    stream = io.StringIO()
    tables = board_tables(made, width=width, drawn=drawn)
    Console(file=stream, width=width, markup=False, emoji=False).print(tables)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (share(12, 32), ("12 of 32", "38 %", "(23-55)")),
        (share(11, 32, 4), ("11 of 32,", "4 unseen", "[31…34] %", "(20-52)")),
        (share(0, 0, 2), ("0 of 0,", "2 unseen", "not measured")),
        (share(0, 0), ("n/a",)),
        (None, ("n/a",)),
        (share(0, 9), ("0 of 9", "0 %", "(0-30)")),
        (share(999, 1000), ("999 of 1000", "99 %", "(99-99)")),
        (share(1, 1000), ("1 of 1000", "1 %", "(1-1)")),
        (share(3, 3), ("3 of 3", "100 %", "(44-100)")),
    ],
)
def test_share_in_lines(one, told):
    assert shares.lines(one) == told


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (Imports(missing=675, total=2858), ("675", "of 2,858", "24 %")),
        (Imports(missing=728, total=2858, most=730), ("728-730", "of 2,858", "25-26 %")),
        (Imports(missing=722, total=2858, most=724), ("722-724", "of 2,858", "25 %")),
        (Imports(missing=0, total=4, unknown=2), ("0", "of 4", "0 %", "2 trials unknown")),
        (Imports(missing=0, total=0, unknown=2), ("2 trials unknown",)),
        (Imports(missing=0, total=0), ("n/a",)),
        (None, ("n/a",)),
    ],
)
def test_imports_in_lines(count, told):
    assert shares.imports(count) == told


def test_sums_are_means_over_those_that_know():
    told = shares.mean(Known(total=22.5, trials=9), 12, quantities.dollars)
    assert told == ("$2.50", "(9 of 12)")
    assert shares.mean(Known(), 12, quantities.dollars) == ("unknown", "(0 of 12)")


@pytest.mark.parametrize(
    ("told", "number", "text"),
    [
        (quantities.amount, 999, "999"),
        (quantities.amount, 10_500, "10.5 k"),
        (quantities.amount, 7_500_000, "7.5 M"),
        (quantities.duration, 42.4, "42.4 s"),
        (quantities.duration, 1220, "20 min 20 s"),
        (quantities.duration, 7200, "2 h 0 min"),
        (quantities.size, 5_000_000, "4.8 MiB"),
        (quantities.size, 6_412_300_123, "6.0 GiB"),
    ],
)
def test_numbers_in_few_figures(told, number, text):
    assert told(number) == text


def blocks(made, **options):
    return summary(made, **options).split("\n\n")


def test_summary_begins_with_what_is_incomplete_and_the_gate():
    told = blocks(board(), closed="C1 failed")
    assert told[:3] == [
        "## researchenvbench",
        INCOMPLETE,
        "Failed by `fail-on`: `C1 failed`",
    ]


def test_summary_of_a_whole_run_says_only_how_many():
    whole = replace(board(), missing={}, invalid={})
    assert blocks(whole)[1:3] == ["35 of 35 trials have a verdict.", shares.LEGEND]
    assert "### To run again" not in blocks(whole)


def test_table_of_the_strict_scoring():
    told = blocks(board())
    assert told[3:5] == [
        "### Strict scoring",
        """\
| agent | C0 | C1 | C2 | C3 | C4 | C5 | imports missing | hallucinations |
|---|---|---|---|---|---|---|---|---|
| `claude-code`<br>`sonnet-4.5`<br>12 of 12 trials | 7 of 12<br>58 %<br>(32-81) |\
 6 of 10<br>60 %<br>(31-83) | 7 of 12<br>58 %<br>(32-81) | 4 of 12<br>33 %<br>(14-61) |\
 1 of 9,<br>1 unseen<br>[10…11] %<br>(2-43) | 5 of 12<br>42 %<br>(19-68) | 7<br>of 24<br>29 % |\
 9<br>(0 + 0 + 9) |
| `codex`<br>`gpt-5.1-codex`<br>11 of 12 trials | 8 of 11,<br>1 unseen<br>[67…73] %<br>(43-90) |\
 7 of 9,<br>1 unseen<br>[70…78] %<br>(45-94) | 7 of 11,<br>1 unseen<br>[58…64] %<br>(35-85) |\
 6 of 11,<br>1 unseen<br>[50…55] %<br>(28-79) | 2 of 9,<br>1 unseen<br>[20…22] %<br>(6-55) |\
 6 of 11,<br>1 unseen<br>[50…55] %<br>(28-79) | 5-7<br>of 24<br>21-29 % |\
 6<br>(0 + 0 + 6)<br>1 trial unknown |
| `uv`<br>12 of 12 trials | 7 of 12<br>58 %<br>(32-81) | 5 of 10<br>50 %<br>(24-76) |\
 6 of 12<br>50 %<br>(25-75) | 4 of 12<br>33 %<br>(14-61) | 2 of 10<br>20 %<br>(6-51) |\
 4 of 12<br>33 %<br>(14-61) | 8<br>of 24<br>33 % | 8<br>(0 + 0 + 8) |""",
    ]


@pytest.mark.parametrize("scoring", Scoring)
def test_summary_leads_with_the_scoring_and_shows_both(scoring):
    titles = [one for one in blocks(board(), scoring=scoring) if one.startswith("### ")]
    first, second = ("Strict", "Paper") if scoring is Scoring.STRICT else ("Paper", "Strict")
    assert titles == [
        f"### {first} scoring",
        f"### {second} scoring",
        "### To run again",
        "### Resources per trial",
        "### Trials",
    ]


def test_published_rows_stand_in_the_papers_table_alone_and_are_marked():
    told = blocks(board(published=rows()))
    strict, paper = (told[told.index(f"### {one} scoring") + 1] for one in ("Strict", "Paper"))
    assert "published" not in strict
    assert paper.splitlines()[-1] == (
        "| `nexau`<br>`deepseek-v3.1-nex-n1`<br>published | n/a | 16 of 29<br>55 %<br>(38-72) |"
        " 41 of 44<br>93 %<br>(82-98) | 21 of 43<br>49 %<br>(35-63) | 11 of 32<br>34 %<br>(20-52) |"
        " n/a | 722-724<br>of 2,858<br>25 % | 16<br>(? + ? + 14) |"
    )
    assert told[told.index("### Paper scoring") + 2] == (
        "published: arXiv 2603.06739, v1, by public digests of it; its own trials, one run each."
    )


def test_spent_is_known_for_some():
    told = blocks(board())
    assert told[told.index("### Resources per trial") + 1].splitlines()[3:] == [
        (
            "| `codex`<br>`gpt-5.1-codex` | 621 k<br>(11 of 12) | 10.5 k<br>(11 of 12) |"
            " $1.72<br>(9 of 12) | 16 min 44 s<br>(11 of 12) | 4.8 MiB<br>(6 of 12) |"
            " 10 done,<br>1 timed out |"
        ),
        (
            "| `uv` | unknown<br>(0 of 12) | unknown<br>(0 of 12) | unknown<br>(0 of 12) |"
            " 42.5 s<br>(12 of 12) | 4.8 MiB<br>(7 of 12) | 12 done |"
        ),
    ]


def test_trials_show_both_scorings_and_mark_what_is_not_qualified():
    told = blocks(board())
    rows_of = told[told.index("### Trials") + 1].splitlines()
    assert rows_of[14] == (
        "| `apple__ml-aim.claude-code.1` | passed | passed | passed | passed† | INVALID | passed |"
    )
    assert rows_of[19] == (
        "| `apple__ml-aim.uv.2` | passed | passed | FAILED | FAILED†<br>(paper: passed) |"
        " FAILED | FAILED |"
    )
    assert told[-1].startswith("† not qualified: ")
    assert "†" not in summary(board(unqualified=frozenset()))


def test_missing_and_invalid_trials_are_named_with_why():
    told = blocks(board())
    assert told[told.index("### To run again") + 1].splitlines()[2:] == [
        f"| `{MISSING}` | missing | `no artifact of this trial was found` |",
        f"| `{INVALID}` | invalid | `C4: not measured: C4 needs 2 GPUs, 1 promised` |",
    ]


def test_table_that_does_not_fit_is_left_out_by_name():
    whole = summary(board())
    limit = len(whole.encode()) - 1
    told = blocks(board(), limit_bytes=limit)
    assert len("\n\n".join(told).encode()) <= limit
    assert told[-2:] == ["### Trials", "35 rows do not fit into this summary.\n"]
    assert blocks(board(), limit_bytes=limit + 1) == whole.split("\n\n")


def test_levels_that_were_not_asked_for_have_no_column():
    made = board(levels=(Level.C0, Level.C5))
    told = blocks(made)
    heads = "| agent | C0 | C5 | imports missing | hallucinations |"
    assert told[told.index("### Strict scoring") + 1].splitlines()[0] == heads


def block_of(text, title):
    """Return the lines of a table up to the next empty line that follows two others."""
    lines = text.splitlines()
    return lines[lines.index(title) : lines.index(title) + 14]


def test_terminal_of_80_columns_has_a_labelled_line_for_each_number():
    assert block_of(terminal(board(), width=80), "Strict scoring") == STRICT_80


def test_log_has_the_same_without_bars_and_rules():
    text = terminal(board(), width=80, drawn=False)
    assert block_of(text, "Strict scoring")[:8] == STRICT_LOG
    assert not set("█▏▎▍▌▋▊▉▒·─") & set(text)


@pytest.mark.parametrize("drawn", [True, False])
@pytest.mark.parametrize("width", [80, 100, 132, 200])
def test_tables_fit_the_terminal(width, drawn):
    text = terminal(board(published=rows()), width=width, drawn=drawn)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("claude-code") > 4
    assert " ".join(text.split()).endswith(INCOMPLETE)


def test_bars_grow_with_the_terminal():
    bars = {
        width: max(map(len, re.findall("[█▏▎▍▌▋▊▉▒·]+", terminal(board(), width=width))))
        for width in (80, 100, 132, 400)
    }
    assert bars == {80: 7, 100: 10, 132: 15, 400: 20}


@pytest.mark.parametrize(
    ("one", "bar"),
    [
        (share(0, 8), "········"),
        (share(8, 8), "████████"),
        (share(3, 8), "███·····"),
        (share(5, 16), "██▌·····"),
        (share(4, 4, 4), "████▒▒▒▒"),
        (share(0, 0, 2), "········"),
    ],
)
def test_bar_is_as_long_as_the_share(one, bar):
    assert draw_bar(one, 8).plain == bar


def test_terminal_has_imports_claims_and_published_rows():
    text = terminal(board(published=rows()), width=100)
    counts = text[text.index("Imports and claims") :].splitlines()
    at = next(number for number, line in enumerate(counts) if line.startswith(" nexau"))
    assert [line.split() for line in counts[at : at + 3]] == [
        ["nexau", "25", "%", "16"],
        ["deepseek-v3.1-nex-n1", "722-724", "of", "2,858", "(?", "+", "?", "+", "14)"],
        ["published"],
    ]
    strict, paper = text.split("Paper scoring")
    assert "published" not in strict
    assert "one run each." in " ".join(paper.split())


def test_trial_that_was_not_asked_for_a_level_says_so():
    made = board()
    first, *others = made.trials
    without = replace(first, cells={Level.C0: first.cells[Level.C0]})
    text = terminal(replace(made, trials=(without, *others)), width=132)
    row = next(line for line in text.splitlines() if first.trial in line)
    assert row.count("not asked") == 5


def test_terminal_leaves_many_trials_out():
    one = board().trials[0]
    many = replace(board(), trials=tuple(replace(one, trial=f"t{n}") for n in range(101)))
    assert "Trials" in terminal(board())
    assert "Trials" not in terminal(many)


def hostile():
    made = board()
    first, *others = made.agents
    return replace(
        made,
        agents=(replace(first, agent=HOSTILE, model=HOSTILE), *others),
        missing={HOSTILE: HOSTILE},
        trials=(replace(made.trials[0], trial=HOSTILE),),
    )


def test_foreign_text_is_one_code_span_in_markdown():
    text = summary(hostile(), closed=HOSTILE)
    span = "`[x](http://e) \N{DIVIDES} @all <b> ::error::y ##[error]z`"
    assert text.count("@all") == text.count(span) > 0


def test_foreign_text_is_no_command_and_no_colour_in_a_terminal():
    for text in (terminal(hostile(), width=400), terminal(hostile(), width=400, drawn=False)):
        assert "\x1b" not in text
        assert "##[" not in text


STRICT_80 = [
    "Strict scoring",
    "",
    " contestant               C0       C1       C2       C3       C4       C5",
    " ─────────────────────────────────────────────────────────────────────────────",
    " claude-code      share   58 %     60 %     58 %     33 %     10-11 %  42 %",
    " sonnet-4.5               ████▏··  ████▎··  ████▏··  ██▍····  ▊······  ██▉····",
    " 12 of 12 trials  passed  7/12     6/10     7/12     4/12     1/9 +1   5/12",
    "                  95 %    32-81    31-83    32-81    14-61    2-43     19-68",
    "",
    " codex            share   67-73 %  70-78 %  58-64 %  50-55 %  20-22 %  50-55 %",
    " gpt-5.1-codex            ████▋··  ████▉··  ████▏··  ███▌···  █▍·····  ███▌···",
    " 11 of 12 trials  passed  8/11 +1  7/9 +1   7/11 +1  6/11 +1  2/9 +1   6/11 +1",
    "                  95 %    43-90    45-94    35-85    28-79    6-55     28-79",
    "",
]
STRICT_LOG = [
    "Strict scoring",
    "contestant               C0       C1       C2       C3       C4       C5",
    "claude-code      share   58 %     60 %     58 %     33 %     10-11 %  42 %",
    "sonnet-4.5       passed  7/12     6/10     7/12     4/12     1/9 +1   5/12",
    "12 of 12 trials  95 %    32-81    31-83    32-81    14-61    2-43     19-68",
    "",
    "codex            share   67-73 %  70-78 %  58-64 %  50-55 %  20-22 %  50-55 %",
    "gpt-5.1-codex    passed  8/11 +1  7/9 +1   7/11 +1  6/11 +1  2/9 +1   6/11 +1",
]
