"""A verdict in plain lines."""

from reb_action.model.manifest import Level
from reb_action.render.lines import quote_agent, short_lines, summarise_findings, verdict_lines
from reb_action.render.outcomes import UNQUALIFIED_NOTE
from tests.support import page_samples

FULL, SMALL = page_samples.full(), page_samples.small()

SMALL_LINES = """\
research__vision-mamba.nop.1: 0 of 3 levels passed
C0 static integrity BLOCKED   there is no report.json
   what to do: The level could not be measured. Fix the cause that the reason names first.
   evidence: agent.log
C1 CPU run          BLOCKED   there is no report.json
C2 CUDA alignment   n/a       no code for C2
C3 single-GPU run   n/a       no code for C3
C4 distributed run  n/a       no code for C4
C5 honest report    FAILED    there is no report.json
   what to do: Correct what report.json claims, or the environment that it describes.
   evidence: verdict.json"""

SHORT = """\
codex said:  “Everything is installed. The model trains on all GPUs.”
      found: 3 not installed: causal_conv1d, mamba_ssm, yaml (C0); torch does not compute on GPU 1:\
 CUDA error: device busy (C2); the entry point ended with exit code 1 (C3); 2 of 5 claims\
 contradicted (C5)."""


def test_lines_of_a_trial_without_a_report():
    assert "\n".join(verdict_lines(SMALL.verdict)) == SMALL_LINES


def test_a_level_that_is_not_qualified_is_marked():
    lines = list(verdict_lines(SMALL.verdict, {Level.C1}))
    assert lines[4] == "C1 CPU run          BLOCKED\N{DAGGER}  there is no report.json"
    assert lines[11] == UNQUALIFIED_NOTE
    assert [*lines[:4], *lines[5:11]] == [
        *SMALL_LINES.split("\n")[:4],
        *SMALL_LINES.split("\n")[5:],
    ]


def test_short_lines_put_what_was_said_above_what_was_found():
    assert "\n".join(short_lines(FULL.verdict, FULL.evidence.report.notes)) == SHORT


def test_a_reason_that_levels_share_is_told_once():
    assert summarise_findings(SMALL.verdict) == "there is no report.json (C0, C1, C5)."
    assert quote_agent(SMALL.verdict, None) == "no usable report: there is no report.json."


def test_an_agent_without_notes_is_quoted_by_its_claims():
    assert quote_agent(FULL.verdict, None) == "no notes; it made 5 claims."
    assert quote_agent(FULL.verdict, "\u200b\x1b[31m") == quote_agent(FULL.verdict, None)


def test_levels_not_measured_are_named():
    view = page_samples.unmeasured()
    assert summarise_findings(view.verdict).endswith("; not measured: C2, C3, C4.")
