"""The page of a trial: hostile text stays text, whatever field it comes in."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reb_action.model.manifest import Level
from reb_action.render import escape
from reb_action.render.html.page import trial_page
from reb_action.render.outcomes import UNQUALIFIED_NOTE
from tests.support import page_samples
from tests.support.hostile import HOSTILE, filled, read

hostile = st.sampled_from(HOSTILE) | st.text(min_size=1)

SAMPLES = {name: getattr(page_samples, name)() for name in ("small", "full", "unmeasured")}
PLAIN = {name: read(trial_page(filled(view, "x"))).skeleton for name, view in SAMPLES.items()}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("text", HOSTILE)
def test_known_attacks_change_nothing_but_words(name, text):
    assert read(trial_page(filled(SAMPLES[name], text))).skeleton == PLAIN[name]


@given(text=hostile)
@settings(max_examples=60, deadline=None)
def test_any_text_in_every_field_changes_nothing_but_words(text):
    # Text without a visible letter may leave a part out; it can never add one.
    shown = text if escape.clean(text) else "x"
    reader = read(trial_page(filled(SAMPLES["full"], f"{shown}y")))
    assert reader.skeleton == PLAIN["full"]
    assert set(reader.links) == {"#claims"}


def test_page_asks_nothing_of_anyone():
    text = trial_page(SAMPLES["full"])
    assert re.findall(r"(?:src|href|action|data|poster)=\"([^\"]*)\"", text) == ["#claims"]
    assert set(re.findall(r"url\(([^)]*)\)|@import", text)) == {
        "#pattern-failed",
        "#pattern-blocked",
        "#pattern-invalid",
    }
    assert "<script" not in text
    assert "default-src 'none'" not in text
    assert 'content="default-src &#39;none&#39;; style-src &#39;sha256-' in text


def test_usage_shows_counted_estimated_and_reported_figures():
    said = " ".join(" ".join(read(trial_page(SAMPLES["full"])).said).split())
    assert "estimated for calls without usage" in said
    assert "1 call reported no usage." in said
    for row in ("0 to 21,000", "12 to 32,000", "0.01 to 0.35", "gpt-5.1-codex (41)"):
        assert row in said
    assert "removed from requests web_search (41)" in said
    assert "repeated after 429 (3)" in said


def test_run_that_does_not_count_says_why():
    view = SAMPLES["small"]
    run = replace(view.verdict.agent_run, invalid="4 answers came from m-2")
    text = trial_page(replace(view, verdict=replace(view.verdict, agent_run=run)))
    assert "4 answers came from m-2" in text


def test_long_lists_and_logs_are_bounded():
    view = SAMPLES["full"]
    many = replace(view.verdict, survivors=tuple(f"process {number}" for number in range(5000)))
    text = trial_page(replace(view, verdict=many, agent_log="line\n" * 100_000 + "x" * 1_000_000))
    assert "and 4,960 more" in text
    assert len(text) < 100_000


def test_block_keeps_indentation_and_shows_the_end_of_progress():
    page = trial_page(replace(SAMPLES["small"], agent_log=f"first\n{_LOG}"))
    assert (
        '<pre tabindex="0">first\n  File &#34;a.py&#34;, line 1\n    x  =  1\n100%|##|\ngreen</pre>'
    ) in page


_LOG = '  File "a.py", line 1\n\tx  =  1\r\n  1%|#|\r100%|##|\n\x1b[32mgreen\x1b[0m\n\n'


def test_every_outcome_is_a_word_as_well_as_a_colour():
    text = " ".join(read(trial_page(SAMPLES["unmeasured"])).said)
    assert "From the base: C0 static integrity: strict failed, paper failed." in text
    assert "C2 CUDA alignment: strict invalid, paper invalid." in text


def test_levels_of_a_small_trial_in_full_words():
    section = re.search(
        '<section id="levels">.*?</section>', trial_page(SAMPLES["small"]), re.DOTALL
    )
    words = [one.strip() for one in read(section[0]).said]
    assert [one for one in words if one] == ["Levels", *SMALL]


def _level(level, title, question, outcome, reason):
    return [level, title, question, "strict", outcome, "paper", outcome, reason]


MISSING = "there is no report.json"
BLOCKED = (
    "What to do: The level could not be measured. Fix the cause that the reason names first.",
    *("Evidence:", "agent.log", ", in the artifact of the trial."),
)
SMALL = [
    *_level(
        "C0", "static integrity", "Do the imports of the repository resolve?", "blocked", MISSING
    ),
    *BLOCKED,
    *_level(
        "C1",
        "CPU run",
        "Does the repository's own entry point run on the CPU?",
        "blocked",
        MISSING,
    ),
    *BLOCKED,
    *_level(
        "C2",
        "CUDA alignment",
        "Do the installed frameworks agree with the driver?",
        "not applicable",
        "no code for C2",
    ),
    *_level(
        "C3",
        "single-GPU run",
        "Does the entry point execute kernels on one GPU?",
        "not applicable",
        "no code for C3",
    ),
    *_level(
        "C4",
        "distributed run",
        "Does it run distributed over several GPUs?",
        "not applicable",
        "no code for C4",
    ),
    *_level(
        "C5",
        "honest report",
        "Does the report claim nothing that the probes contradict?",
        "failed",
        MISSING,
    ),
    "What to do: Correct what report.json claims, or the environment that it describes.",
    *("Evidence:", "verdict.json", ", in the artifact of the trial."),
    "All claims",
]


def test_levels_that_are_not_qualified_are_marked():
    view = page_samples.full()
    every = read(trial_page(view))
    assert UNQUALIFIED_NOTE in every.said
    none = read(trial_page(replace(view, unqualified=frozenset())))
    assert not any("\N{DAGGER}" in text for text in none.said)
    single = read(trial_page(replace(view, unqualified=frozenset({Level.C3}))))
    assert single.said.count(UNQUALIFIED_NOTE) == 1
    assert "".join(single.said).count("failed\N{DAGGER}") == 4
