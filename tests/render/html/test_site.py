"""The site: whole rows with their values, every link with its file, text from outside as text."""

import base64
import hashlib
import posixpath
import re
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser

import pytest

from reb_action import documents
from reb_action.corpus import paper as corpus_paper
from reb_action.judge.levels import LEVELS
from reb_action.model.manifest import Level, Outcome
from reb_action.model.scoreboard import Cell, Imports, Scoreboard
from reb_action.render.html import site
from reb_action.render.html.site import TrialFacts
from reb_action.render.html.site.figures import strata
from reb_action.render.html.site.names import folder_of, page_of, safe_name
from reb_action.render.html.site.table import imports_field, outcome_field
from tests.support import page_samples, scoreboards
from tests.support.hostile import HOSTILE, VOID, filled

PAGES = ("index.html", "trials.html", "domains.html", "failures.html", "compare.html")
CONTESTANTS = [
    f"contestants/{name}.html" for name in ("claude-code--sonnet-4.5", "codex--gpt-5.1-codex", "uv")
]
RUNS = "https://github.example/acme/bench/actions/runs/"
TITLES = [f"{spec.level} {spec.title}" for spec in LEVELS]


class Reader(HTMLParser):
    """Keeps the tables, the links, the ids and the skeleton of a page."""

    def __init__(self):
        super().__init__()
        self.tables, self.links, self.ids, self.skeleton, self.open = [], [], [], [], []
        self.cell = None

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.skeleton.append((tag, *found))
        self.links += [found["href"]] if "href" in found else []
        self.ids += [found["id"]] if "id" in found else []
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.cell = []

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("th", "td"):
            words = " ".join(" ".join(self.cell).split())
            self.tables[-1][-1].append(words.replace("\N{EN DASH}", "-"))
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell.append(data)


def read(data):
    reader = Reader()
    reader.feed(data.decode())
    reader.close()
    assert reader.open == []
    return reader


def views(board):
    full = page_samples.full()
    for row in board.trials:
        told = {"trial": row.trial, "repository": row.repository, "agent": row.agent}
        yield replace(full, verdict=replace(full.verdict, attempt=row.attempt, **told))


@cache
def board():
    return scoreboards.board(published=corpus_paper.rows())


@cache
def built():
    return site.build_site(board(), views(board()), facts=scoreboards.facts())


def test_files_are_pages_badges_and_a_page_for_each_contestant_and_trial():
    badges = {
        f"badges/{agent}/{level}{scoring}.{kind}"
        for agent in ("claude-code--sonnet-4.5", "codex--gpt-5.1-codex", "uv")
        for level in Level
        for scoring in ("", "-paper")
        for kind in ("svg", "json")
    }
    pages = {f"trials/{row.trial}.html" for row in board().trials}
    front = {*site.FILES, "scoreboard.json", ".nojekyll"}
    assert set(built()) == {*front, *badges, *pages, *CONTESTANTS}
    assert len(pages) == 35
    assert len(badges) == 72


def test_strict_table_in_full():
    head, *rows = read(built()["index.html"]).tables[0]
    assert head == [
        "contestant",
        "passed of all levels",
        *TITLES,
        *("cost USD per trial", "time per trial", "measured date and run"),
    ]
    assert rows == STRICT


def test_paper_table_has_ours_then_what_was_published():
    head, *rows = read(built()["index.html"]).tables[1]
    assert head == [
        "contestant",
        "C0 imports missing",
        "C1 CPU run",
        "C2 CUDA alignment",
        "C3 single-GPU run",
        "C4 distributed run",
        "C5 hallucinations",
    ]
    assert [row[0].split()[0] for row in rows[:3]] == ["codex", "claude-code", "uv"]
    assert rows[0] == CODEX_BY_THE_PAPER
    assert [row[0] for row in rows[3:]] == [
        "claude-code published glm-4.7 one run of each",
        "claude-code published sonnet-4.5 one run of each",
        "codex published gpt-5.1-codex one run of each",
        "nexau published deepseek-v3.1-nex-n1 one run of each",
    ]
    assert rows[3][1:] == GLM


def test_published_rows_are_nowhere_in_the_strict_table():
    text = built()["index.html"].decode()
    strict, paper = re.findall(r"<table.*?</table>", text)[:2]
    assert (strict.count('class="published"'), paper.count('class="published"')) == (0, 4)


def test_headline_says_incomplete_and_names_what_to_run_again():
    for name in ("index.html", "trials.html"):
        text = unescape(re.sub(r"<[^>]*>", " ", built()[name].decode()))
        words = " ".join(text.split())
        assert "3 contestants on 6 repositories: 35 of 36 trials with a verdict." in words
        assert "This comparison is incomplete. 1 trial is missing and 1 trial is invalid." in words
        assert (
            "Missing trials to run again: 1 hustvl__Vim.codex.2 : no artifact of this trial"
            in words
        )
        assert "Invalid trials to run again: 1 apple__ml-aim.claude-code.1 : " in words


def test_complete_comparison_says_nothing_of_the_kind():
    whole = replace(board(), missing={}, invalid={})
    assert b"incomplete." not in site.build_site(whole)["index.html"]


def test_map_of_an_agent_counts_its_attempts():
    reader = read(built()[CONTESTANTS[0]])
    head, *rows = reader.tables[1]
    assert head == ["repository", *TITLES, "trials"]
    assert rows == MAP


def test_pages_by_domain_by_cause_and_by_pair():
    overview, *families = read(built()["domains.html"]).tables
    assert overview[0] == [
        "contestant", "Speech and audio", "Vision and depth", "Language models",
        "Multimodal models", "Other domains",
    ]  # fmt: skip
    assert overview[2] == [
        "2 claude-code sonnet-4.5", "40 % 4 of 10", "54 % 13 of 24", "25 % 3 of 12",
        "[50…55] % 6 of 11, 1 unseen", "40 % 4 of 10",
    ]  # fmt: skip
    assert len(families) == 5
    causes = read(built()["failures.html"]).tables
    assert causes[0][1][1:] == ["16", "-", "5", "-", "6", "5", "5", "3"]
    assert causes[1][1] == ["no cause found", "67", "13", "6", "15", "15", "18", "6", "3"]
    assert causes[2][1:] == [
        ["1 codex gpt-5.1-codex", "2", "-", "-", "-", "-", "-", "19", "21"],
        ["2 claude-code sonnet-4.5", "8", "-", "-", "-", "-", "-", "22", "30"],
        ["3 uv", "6", "-", "-", "-", "-", "-", "26", "32"],
    ]
    assert read(built()["compare.html"]).tables == [
        [
            ["contestant", "1", "2", "3"],
            ["1 codex (gpt-5.1-codex)", "", "-", "-"],
            ["2 claude-code (sonnet-4.5)", "-", "", "-"],
            ["3 uv", "-", "-", ""],
        ]
    ]


def test_contestant_has_its_history_the_newest_first():
    head, *rows = read(built()[CONTESTANTS[0]]).tables[0]
    assert head == ["published", "passed of all levels", *TITLES]
    assert [row[:3] for row in rows] == [
        ["2026-11-02", "42 % 15 of 36", "0 % 0 of 6"],
        ["2026-11-01", "42 % 15 of 36", "0 % 0 of 6"],
    ]


def test_level_that_no_trial_was_asked_for_is_not_a_failure():
    board_without = scoreboards.board(levels=tuple(level for level in Level if level != "C4"))
    files = site.build_site(board_without)
    rows = read(files["index.html"]).tables[0][1:]
    assert {row[6] for row in rows} == {"not asked"}
    cells = {row[5] for table in read(files["trials.html"]).tables for row in table[1:]}
    assert cells == {"not asked"}


def test_trials_are_grouped_by_repository_and_have_their_first_failure_cost_and_date():
    tables = read(built()["trials.html"]).tables
    assert len(tables) == 6
    head, *rows = tables[0]
    assert head == [
        "trial", *TITLES, "first failure", "agent time", "cost USD", "measured",
    ]  # fmt: skip
    assert sum(len(table) - 1 for table in tables) == 35
    assert rows[0] == FIRST


def test_spent_is_a_mean_over_those_that_know():
    assert read(built()["index.html"]).tables[-1] == SPENT


def test_every_link_leads_somewhere_on_the_site():
    for name, data in built().items():
        if not name.endswith(".html"):
            continue
        reader = read(data)
        assert len(reader.ids) == len(set(reader.ids)), name
        for link in reader.links:
            path, _, mark = link.partition("#")
            if link.startswith("#"):
                assert mark in reader.ids, (name, link)
            elif not link.startswith(("data:image/svg+xml,", RUNS)):
                assert posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) in built()
                assert link.startswith("../") is ("/" in name)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "", "data:text/html,x", "//evil.example"])
def test_run_is_linked_only_by_an_address_of_the_web(url):
    facts = replace(
        scoreboards.facts(), trials={row.trial: TrialFacts(url=url) for row in board().trials}
    )
    for data in site.build_site(board(), facts=facts).values():
        assert url == "" or f'href="{url}'.encode() not in data


def test_trial_without_a_page_is_listed_without_a_link():
    data = site.build_site(board())["trials.html"]
    assert [link for link in read(data).links if link.startswith("trials/")] == []
    assert sum(len(table) - 1 for table in read(data).tables) == 35


def test_pages_may_load_nothing_and_run_one_script_of_ours():
    for name in (*PAGES, *CONTESTANTS):
        text = built()[name].decode()
        policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
        css, js = (
            base64.b64encode(hashlib.sha256(found.encode()).digest()).decode()
            for found in (
                re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1],
                re.search(r"<script type=\"module\">(.*?)</script>", text, re.DOTALL)[1],
            )
        )
        assert policy == (
            f"default-src 'none'; style-src 'sha256-{css}'; script-src 'sha256-{js}';"
            " img-src data:; base-uri 'none'; form-action 'none'"
        )
        assert len(re.findall("<script", text)) == 1
        assert not re.search(r"<[^>]* (?:style|on\w+|src|action)=", text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_changes_nothing_but_words(text):
    plain, hostile = (
        site.build_site(filled(board(), word), facts=filled(scoreboards.facts(), word))
        for word in ("x", text)
    )
    for name in PAGES:
        assert read(hostile[name]).skeleton == read(plain[name]).skeleton
    for name in hostile:
        assert re.fullmatch(
            r"\.nojekyll|scoreboard\.json|(contestants/[A-Za-z0-9.-]+|[a-z]+)\.html|badges/[\w-]+/C[0-5](-paper)?\.(svg|json)",
            name,
        )


def test_names_are_safe_and_stay_different():
    names = [
        "a/b",
        "a-b",
        "a b",
        safe_name("a b"),
        "../../etc/passwd",
        "..",
        ".git",
        "a..b",
        "",
        "é",
        "x" * 300,
    ]
    made = [safe_name(name) for name in names]
    assert len(set(made)) == len(names)
    assert made[1] == "a-b"
    for name in made:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", name)
        assert len(name) <= 80
    assert page_of("owner__na.me.agent.1") == "trials/owner__na.me.agent.1.html"


def test_folders_of_badges_are_never_shared():
    """An agent's own name may look like another one with its model."""
    pairs = [
        *(("leaky", "m"), ("leaky--m", None), ("leaky", None), ("leaky--m", "n")),
        *(("leaky", "m--n"), ("leaky-", "m"), ("leaky", "-m"), ("leaky-", None)),
    ]
    made = [folder_of(score_of(agent, model)) for agent, model in pairs]
    assert (made[0], made[2], made[4]) == ("leaky--m", "leaky", "leaky--m--n")
    assert len({name.casefold() for name in made}) == len(pairs)


def score_of(agent, model):
    return replace(scoreboards.board().agents[0], agent=agent, model=model)


def test_numbers_can_be_read_again():
    data = built()["scoreboard.json"]
    read_again = documents.decode(data, Scoreboard, kind="scoreboard", name="scoreboard.json")
    assert read_again == board()


def test_equal_boards_are_equal_bytes():
    assert site.build_site(board(), views(board()), facts=scoreboards.facts()) == built()


def test_imports_of_nobody_are_unknown_and_not_zero():
    field = imports_field(Imports(missing=0, total=0, unknown=2))
    assert (field.text, field.absent, field.key) == ("2 trials unknown", True, "")


def test_stratum_is_as_full_as_its_share():
    every = strata(board().agents[0])
    track, sure = (
        [float(pair.split(",")[0]) for pair in points.split(" ")]
        for points in (every[-1].outline, every[-1].sure)
    )
    for left, right in ((0, 1), (3, 2)):
        filled_part = (sure[right] - sure[left]) / (track[right] - track[left])
        assert filled_part == pytest.approx(7 / 12, abs=0.005)
    assert [stratum.maybe is not None for stratum in every].count(True) == 1


@pytest.mark.parametrize(
    ("outcomes", "words", "class_"),
    [
        ("", "not asked", "missing"),
        ("p", "passed", "passed"),
        ("pp", "passed", "passed"),
        ("pf", "1 of 2", "some"),
        ("fb", "0 of 2", "failed"),
        ("pi", "1 of 1", "passed"),
        ("ni", "invalid", "invalid"),
        ("nn", "n/a", "not_applicable"),
    ],
)
def test_cell_says_what_attempts_came_to(outcomes, words, class_):
    by = {outcome[0]: outcome for outcome in Outcome}
    cells = [
        Cell(outcome=by[one], paper=by[one], reason="", cause=None, qualified=True)
        for one in outcomes
    ]
    field = outcome_field(cells)
    assert (field.text, field.small, field.class_) == (words, None, class_)


def test_cell_tells_where_the_paper_differs_and_the_probe_is_in_doubt():
    cell = Cell(
        outcome=Outcome.FAILED, paper=Outcome.PASSED, reason="", cause=None, qualified=False
    )
    field = outcome_field([cell])
    assert (field.text, field.small) == ("failed\N{DAGGER}", "paper: passed")
    field = outcome_field([cell, replace(cell, outcome=Outcome.PASSED)])
    assert (field.text, field.small) == ("1 of 2\N{DAGGER}", "paper: 2 of 2")


STRICT = [
    [
        "1 codex gpt-5.1-codex 11 of 12 trials judged",
        "[53…58] % 36 of 62, 6 unseen",
        "[67…73] % 8 of 11, 1 unseen 95 % interval (43-90)",
        "[70…78] % 7 of 9, 1 unseen 95 % interval (45-94)",
        "[58…64] % 7 of 11, 1 unseen 95 % interval (35-85)",
        "[50…55] % 6 of 11, 1 unseen 95 % interval (28-79)",
        "[20…22] % 2 of 9, 1 unseen 95 % interval (6-55)",
        "[50…55] % 6 of 11, 1 unseen 95 % interval (28-79)",
        "1.72 over 9 trials",
        "16 min 44 s",
        "2026-11-02",
    ],
    [
        "2 claude-code sonnet-4.5 12 of 12 trials judged",
        "[44…45] % 30 of 67, 1 unseen",
        "58 % 7 of 12 95 % interval (32-81)",
        "60 % 6 of 10 95 % interval (31-83)",
        "58 % 7 of 12 95 % interval (32-81)",
        "33 % 4 of 12 95 % interval (14-61)",
        "[10…11] % 1 of 9, 1 unseen 95 % interval (2-43)",
        "42 % 5 of 12 95 % interval (19-68)",
        "1.88",
        "20 min 20 s",
        "2026-11-01",
    ],
    [
        "3 uv 12 of 12 trials judged",
        "41 % 28 of 68",
        "58 % 7 of 12 95 % interval (32-81)",
        "50 % 5 of 10 95 % interval (24-76)",
        "50 % 6 of 12 95 % interval (25-75)",
        "33 % 4 of 12 95 % interval (14-61)",
        "20 % 2 of 10 95 % interval (6-51)",
        "33 % 4 of 12 95 % interval (14-61)",
        "unknown",
        "42.5 s",
        "2026-11-03",
    ],
]
CODEX_BY_THE_PAPER = [
    "codex gpt-5.1-codex 11 of 12 trials judged",
    "21-30 % 69-100 of 330 imports missing",
    "[70…78] % 7 of 9, 1 unseen 95 % interval (45-94)",
    "[58…64] % 7 of 11, 1 unseen 95 % interval (35-85)",
    "[67…73] % 8 of 11, 1 unseen 95 % interval (43-90)",
    "[33…36] % 4 of 11, 1 unseen 95 % interval (15-65)",
    "6 0 path, 0 version, 6 capability, 1 trial unknown",
]
GLM = [
    "27 % 759-761 of 2,858 imports missing",
    "55 % 16 of 29 95 % interval (38-72)",
    "91 % 40 of 44 95 % interval (79-96)",
    "49 % 21 of 43 95 % interval (35-63)",
    "38 % 12 of 32 95 % interval (23-55)",
    "18 17 capability",
]
MAP = [
    [
        "NVIDIA/ kvpress",
        "1 of 2",
        "1 of 2",
        "1 of 2",
        "0 of 2 paper: 1 of 2",
        "failed",
        "failed",
        "1 2",
    ],
    [
        "SWivid/ F5-TTS",
        "1 of 2 paper: 0 of 2",
        "n/a",
        "1 of 2",
        "1 of 2",
        "0 of 2 paper: 1 of 2",
        "1 of 2",
        "1 2",
    ],
    [
        "apple/ ml-aim",
        "1 of 2",
        "1 of 2",
        "passed",
        "1 of 2\N{DAGGER}",
        "0 of 1",
        "1 of 2",
        "1 2",
    ],
    [
        "hustvl/ Vim",
        "1 of 2",
        "1 of 2",
        "0 of 2",
        "0 of 2 paper: 1 of 2",
        "0 of 2",
        "failed",
        "1 2",
    ],
    [
        "kyegomez/ VisionMamba",
        "2 of 2 paper: 1 of 2",
        "passed",
        "passed",
        "passed",
        "1 of 2 paper: 2 of 2",
        "passed",
        "1 2",
    ],
    [
        "microsoft/ renderformer",
        "1 of 2",
        "1 of 2",
        "1 of 2",
        "0 of 2 paper: 1 of 2",
        "n/a paper: failed",
        "1 of 2 paper: 0 of 2",
        "1 2",
    ],
]
FIRST = [
    "claude-code (sonnet-4.5), attempt 1 NVIDIA/kvpress",
    "failed",
    "failed",
    "passed",
    "failed",
    "failed",
    "failed",
    "C0 1 not installed: selective_scan_cuda",
    "10 min 0 s",
    "1.25",
    "2026-11-01",
]
SPENT = [
    [
        "agent",
        "tokens in per trial",
        "tokens out per trial",
        "cost USD per trial",
        "time per trial",
        "environment on disk",
        "ended",
    ],
    [
        "codex gpt-5.1-codex",
        "620,909",
        "10,455",
        "1.72 over 9 trials",
        "16 min 44 s",
        "4.8 MiB over 6 trials",
        "10 done, 1 timed out",
    ],
    [
        "claude-code sonnet-4.5",
        "625,000",
        "10,500",
        "1.88",
        "20 min 20 s",
        "4.8 MiB over 8 trials",
        "10 done, 2 timed out",
    ],
    ["uv", "unknown", "unknown", "unknown", "42.5 s", "4.8 MiB over 7 trials", "12 done"],
]
