"""The page of a trial: hostile text stays text, whatever field it comes in."""

import re
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from html.parser import HTMLParser

import page_samples
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reb_action.model.manifest import Level
from reb_action.render import escape
from reb_action.render.html.markup import block, each, el, join
from reb_action.render.html.page import trial_page
from reb_action.render.html.page.levels import levels
from reb_action.render.outcomes import DOUBTED

HOSTILE = (
    "</details></article><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "' autofocus onfocus='alert(1)",
    "<!-- --><!doctype html><style>*{display:none}</style>",
    "&lt;b&gt; &amp;amp; &#60;i&#62; &copy",
    "]]><svg/onload=alert(1)>",
    "javascript:alert(1) https://example.invalid/track.png",
    "\x1b]8;;https://example.invalid\x07link\x1b]8;;\x07 \x1b[2J",
    "a\u202eb\u2066c\u200bd\u0000e\ufefff\u2028g",
    "x" * 5000,
)
TAGS = re.findall(
    r"\w+",
    "html head meta title style body header main footer div section article figure p b small strong"
    " span a h1 h2 h3 h4 ul li dl dt dd code pre table caption thead tbody tr th td details summary"
    " wbr svg desc defs pattern rect line g polygon text",
)
VOID = {"meta", "wbr"}

hostile = st.sampled_from(HOSTILE) | st.text(min_size=1)


class Reader(HTMLParser):
    """Reads a page as a browser would, and keeps its skeleton: tags and attribute names."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.skeleton, self.open, self.links, self.said = [], [], [], []

    def handle_starttag(self, tag, attrs):
        assert tag in TAGS
        self.skeleton.append((tag, *(name for name, _ in attrs)))
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.skeleton.append(f"/{tag}")

    def handle_data(self, data):
        self.said.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def handle_pi(self, data):
        raise AssertionError(f"an instruction: {data}")

    def unknown_decl(self, data):
        raise AssertionError(f"a declaration: {data}")


def read(text):
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def filled(value, text):
    """Return a value with every string in it replaced: its fields, items and values."""
    if isinstance(value, Enum) or value is None:
        return value
    if isinstance(value, str):
        return text
    if is_dataclass(value):
        return replace(
            value, **{f.name: filled(getattr(value, f.name), text) for f in fields(value)}
        )
    if isinstance(value, tuple):
        return tuple(filled(item, text) for item in value)
    if isinstance(value, dict):
        pairs = enumerate(value.items())
        return {
            key if isinstance(key, Enum) else f"{text}{number}": filled(item, text)
            for number, (key, item) in pairs
        }
    return value


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


@given(text=st.text())
@example(text="\ud800")
@example(text="<\x1b[31m!-- a --\x1b[0m>")
def test_block_and_element_hold_text_only(text):
    for made in (block(text, lines=5), el("p", text), el("p", title=text), join(text)):
        reader = read(made.text)
        assert {one[0] for one in reader.skeleton if isinstance(one, tuple)} <= {"p", "pre"}
        made.text.encode("utf-8")


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
    assert 'content="default-src &#x27;none&#x27;; style-src &#x27;sha256-' in text


def test_long_lists_and_logs_are_bounded():
    view = SAMPLES["full"]
    many = replace(view.verdict, survivors=tuple(f"process {number}" for number in range(5000)))
    text = trial_page(replace(view, verdict=many, agent_log="line\n" * 100_000 + "x" * 1_000_000))
    assert "and 4,960 more" in text
    assert len(text) < 100_000


def test_block_keeps_indentation_and_shows_the_end_of_progress():
    log = "first\n" + _LOG
    assert block(log, lines=4).text == (
        '<pre tabindex="0">  File &quot;a.py&quot;, line 1\n    x  =  1\n100%|##|\ngreen</pre>'
    )


_LOG = '  File "a.py", line 1\n\tx  =  1\r\n  1%|#|\r100%|##|\n\x1b[32mgreen\x1b[0m\n\n'


def test_every_outcome_is_a_word_as_well_as_a_colour():
    text = " ".join(read(trial_page(SAMPLES["unmeasured"])).said)
    assert "From the base: C0 static integrity failed, by the paper failed." in text
    assert "C2 CUDA alignment invalid, by the paper invalid." in text


def test_levels_of_a_small_trial_in_full_words():
    words = [one.strip() for one in read(levels(SAMPLES["small"]).text).said]
    assert [one for one in words if one] == SMALL


def _level(level, title, question, outcome, reason):
    return [level, title, question, "strict", outcome, "paper", outcome, reason]


MISSING = "there is no report.json"
SMALL = [
    *_level(
        "C0", "static integrity", "Do the imports of the repository resolve?", "blocked", MISSING
    ),
    *_level(
        "C1",
        "CPU run",
        "Does the repository's own entry point run on the CPU?",
        "blocked",
        MISSING,
    ),
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
    "Its claims, one by one",
]


def test_element_is_written_in_full():
    made = el("a", each("b", ("<", None)), el("wbr"), class_="x", aria_label='"', title=None)
    assert made.text == '<a class="x" aria-label="&quot;"><b>&lt;</b><b></b><wbr></a>'


def test_levels_that_are_not_qualified_are_marked(monkeypatch):
    view = page_samples.full()
    every = read(trial_page(view))
    assert DOUBTED in every.said
    monkeypatch.setattr("reb_action.render.html.page.view.unqualified", lambda _: frozenset())
    none = read(trial_page(view))
    assert not any("\N{DAGGER}" in text for text in none.said)
    monkeypatch.setattr("reb_action.render.html.page.view.unqualified", lambda _: {Level.C3})
    one = read(trial_page(view))
    assert one.said.count(DOUBTED) == 1
    assert one.said.count("failed\N{DAGGER}") == 4
