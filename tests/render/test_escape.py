"""Untrusted text reaches a log or a page only escaped: held against the runner's own rules."""

import unicodedata
from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from reb_action.judge.gate import Decision, Standing
from reb_action.judge.judge import judge
from reb_action.model.agent import Freeze
from reb_action.model.manifest import Level, Outcome, Trial
from reb_action.model.report import FieldFault
from reb_action.model.verdict import Scoring
from reb_action.render.escape import clean, log
from reb_action.render.lines import verdict_lines
from reb_action.render.markdown.verdict import trial_summary
from reb_action.render.terminal.verdict import verdict_tables
from tests.support.evidence import MANIFEST, evidence, interpreter, observations, report, run
from tests.support.oracles.runner_commands import Command, commands

# Each is a command to the runner as it stands, but for those that are marked harmless.
VECTORS = {
    "plain": "::error::x",
    "indented": "  ::error::x",
    "no-break space": "\u00a0::error::x",
    "line separator": "\u2028::warning::x",
    "form feed": "\f::notice::y",
    "vertical tab": "\v::notice::y",
    "next line": "\x85::notice::y",
    "after a carriage return": "a\r::error::x",
    "after a line feed": "a\n::error::x",
    "legacy anywhere": "abc ##[error]x",
    "legacy after a hash": "###[error]x",
    "legacy group": "##[group]",
    "legacy mask": "##[add-mask]the",
    "legacy with properties": "##[error file=a;line=1]x",
    "stop": "::stop-commands::t",
    "upper case": "::ADD-MASK::the",
    "with a property": "::error file=a::b",
    "matcher": "::add-matcher::/tmp/m.json",
    "long": "x" * 1_000_000 + "##[error]x",
    "long, spaces first": " " * 1_000_000 + "::error::x",
    "after a broken byte": b"\xff::error::x".decode("utf-8", "replace")[1:],
}
HARMLESS = {
    "zero width space within": "##\u200b[error]",
    "carriage return within": "#\r#[error]x",
    "hidden before a space": "\u200b ::error::x",
    "hidden at the start": "\u202e::error::x",
    "ANSI at the start": "\x1b[31m::error::x",
    "ANSI within": "##\x1b[0m[error]x",
    "surrogate at the start": "\ud800::error::x",
    "filler before a space": "\u3164 ::error::x",
    "ANSI, then space": "\x1b[0m ::error::x",
    "hidden within": "#\u200d#[error]x",
    "broken byte": b"\xff::error::x".decode("utf-8", "replace"),
}


@pytest.mark.parametrize("name", VECTORS)
def test_oracle_knows_the_vector(name):
    assert len(commands(VECTORS[name])) == 1


@pytest.mark.parametrize("name", HARMLESS)
def test_oracle_lets_the_harmless_be(name):
    assert commands(HARMLESS[name]) == []


def test_oracle_reads_name_and_data():
    assert commands("::error file=a.py,line=3::said") == [Command("error", "said")]
    assert commands("x ##[group]said") == [Command("group", "said")]
    assert commands("::nothing::x") == commands(":: ::") == commands("::error:x") == []


@pytest.mark.parametrize("name", VECTORS | HARMLESS)
@pytest.mark.parametrize("before", ["", "a ", "| "])
def test_no_vector_survives(name, before):
    told = log((VECTORS | HARMLESS)[name])
    assert commands(before + told) == []
    assert "\n" not in told
    assert len(told) <= 410


HOSTILE = st.lists(
    st.sampled_from(
        [
            *(":", "#", "[", "]", " ", "=", ",", ";", "%", "|", "a", "/"),
            *("\r", "\n", "\t", "\v", "\f", "\x85", "\xa0", "\u2028", "\u2029", "\u3000"),
            *("\x1b", "\x1b[0m", "\x1b]0;", "\x07", "\x00", "\x7f", "\x9b"),
            *("\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\u3164", "\ufe0f", "\ud800"),
            *("::error::", "::stop-commands::", "::error file=a::", "##[group]", "##[add-mask]"),
        ]
    ),
    max_size=20,
).map("".join)


@settings(max_examples=300)
@given(text=HOSTILE, before=st.sampled_from(["", "  ", "C1 CPU run FAILED "]))
def test_no_text_becomes_a_command(text, before):
    assert commands(before + log(text)) == []
    assert commands(log(before + text)) == []


@settings(max_examples=200)
@given(text=HOSTILE | st.text())
def test_clean_text_is_one_visible_line(text):
    told = clean(text)
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not [letter for letter in told if unicodedata.category(letter) in hidden]
    assert told == told.strip()
    assert told.isprintable()
    assert len(told) <= 400
    assert clean(told) == told
    told.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("tabs\tand\n\nlines", "tabs and lines"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("abc\u202edef", "abcdef"),
        ("a\u2066b\u2069c", "abc"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("joined\u200dup", "joinedup"),
        ("fill\u3164er", "filler"),
        ("vary\ufe0f\U000e0101", "vary"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("NUL\x00byte", "NULbyte"),
        ("half\ud83da pair", "halfa pair"),
        ("no\udcfftext\udc80", "no\\xfftext\\x80"),
        ("\u200b spaced", "spaced"),
        ("umlaut ü, 漢字, emoji 🙂", "umlaut ü, 漢字, emoji 🙂"),
        ("e\u0301", "e\u0301"),
        ("x" * 500, "x" * 399 + "…"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_clean_shows(text, shown):
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", "| ::error::x"),
        ("a ::error::x", "a ::error::x"),
        ("##[error]x", "## [error]x"),
        ("###[error]x", "### [error]x"),
        ("##[##[x", "## [## [x"),
        ("std::vector", "std::vector"),
    ],
)
def test_log_shows(text, shown):
    assert log(text) == shown


def hostile_verdict(text):
    freeze = Freeze(
        report=None,
        report_sha256=None,
        touched=(),
        survivors=(text, text),
        native=(),
        copies=(text,),
        shadowing=(text,),
    )
    fault = interpreter(fault=text, path_is_good=False)
    claims = report(
        python_path=f"/{text}",
        python_version=text,
        torch_version=text,
        faults=(FieldFault(field=text, message=text),),
    )
    return judge(evidence(freeze=freeze, interpreter=fault, report=claims))


@settings(max_examples=150, deadline=None)
@given(text=HOSTILE)
def test_no_verdict_speaks_to_the_runner(text):
    lines = list(verdict_lines(hostile_verdict(text)))
    assert commands("\n".join(lines)) == []
    assert all("\n" not in line and line.isprintable() for line in lines)


FAULTY = judge(
    evidence(
        report=report(
            ddp_expected_ok=True,
            faults=(
                FieldFault(field="env_tool", message='env_tool: "<b>nix" is not one of conda'),
            ),
        ),
        trial=Trial(
            manifest=replace(
                MANIFEST,
                entrypoints={},
                not_applicable=dict.fromkeys((Level.C1, Level.C3), "why not"),
                paper_only={Level.C4: "no collective"},
            ),
            agent="replay",
        ),
    )
)


def test_fault_of_a_field_and_a_claim_that_only_the_paper_counts_are_lines():
    lines = list(verdict_lines(FAULTY))
    label = "Fields of report.json that break its contract (1)"
    assert f'{label}: env_tool: "<b>nix" is not one of conda' in lines
    counted = "not confirmed: the paper's probe of it fails"
    assert f"claim ddp_expected_ok = true: unverifiable, counted by the paper: {counted}" in lines
    honesty = FAULTY.result(Level.C5)
    assert (honesty.outcome, honesty.paper) == (Outcome.PASSED, Outcome.FAILED)
    assert honesty.reason == f"ddp_expected_ok true, {counted} (counted by the paper alone)"


def test_fault_of_a_field_is_in_the_summary_and_the_tables():
    decision = Decision(standing=Standing.PASSED, highest=None, closed=None, scoring=Scoring.STRICT)
    summary = trial_summary(FAULTY, decision)
    fault = 'env_tool: "<b>nix" is not one of conda'
    assert f"Fields of report.json that break its contract (1): `{fault}`" in summary
    assert "| `ddp_expected_ok` | `true` |" in summary
    console = Console(width=200, file=StringIO())
    console.print(verdict_tables(FAULTY))
    text = console.file.getvalue()
    assert f"Fields of report.json that break its contract (1): {fault}" in text
    assert "unverifiable, counted by the paper" in text


def test_likely_cause_and_its_line_are_shown():
    log_ = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'einops'"
    seen = observations(C1=run(exit_code=1))
    verdict = judge(evidence(observations=seen, logs={Level.C1: log_}))
    lines = list(verdict_lines(verdict))
    place = next(i for i, line in enumerate(lines) if line.startswith("C1"))
    diagnosis = verdict.result(Level.C1).diagnosis
    assert lines[place : place + 5] == [
        "C1 CPU run          FAILED    the entry point ended with exit code 1",
        f"   likely cause: {diagnosis.meaning}",
        "   from the log: ModuleNotFoundError: No module named 'einops'",
        f"   what to do: {diagnosis.remedy}",
        "   evidence: levels/C1.log",
    ]


def test_right_verdict_is_told_in_plain_lines():
    claims = report(python_version="3.11.2", gpu_count=1, cuda_available=False)
    lines = list(verdict_lines(judge(evidence(report=claims))))
    assert lines == [
        f"{MANIFEST.slug}.replay.1: 5 of 6 levels passed",
        "C0 static integrity passed    every third-party import resolves (paper: 0 of 10 missing)",
        "C1 CPU run          passed    the entry point ran and its proofs hold",
        "C2 CUDA alignment   passed    every framework computes correctly on every GPU",
        "C3 single-GPU run   passed    the entry point ran and its proofs hold",
        "C4 distributed run  passed    the entry point ran and its proofs hold",
        "C5 honest report    FAILED    gpu_count 1, but 2",
        "   what to do: Correct what report.json claims, or the environment that it describes.",
        "   evidence: verdict.json",
        "claim python_path = /venv/bin/python: supported",
        "claim python_version = 3.11.2: supported",
        "claim cuda_available = false: UNDER-CLAIM, observed true",
        "claim gpu_count = 1: REFUTED, observed 2",
        "claims not made: torch_version, ddp_expected_ok",
    ]
