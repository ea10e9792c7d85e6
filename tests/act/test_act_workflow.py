"""The reusable workflow: plan, a matrix of trials, a report; as the root, for act's sake."""

import hashlib

HEADLINE = "2 of 3 trials have a verdict. This comparison is incomplete: 1 missing."
TRIALS = """\
| trial | C0 | C1 | C5 |
|---|---|---|---|
| `example__tiny.pip.1` | FAILED† | FAILED† | passed |
| `example__tiny.replay.1` | passed† | passed† | passed |"""
AGAIN = """\
| trial | status | reason |
|---|---|---|
| `example__tiny.nop.1` | missing | `no artifact of this trial was found` |"""


def test_every_job_of_the_matrix_ran(matrix):
    assert matrix.jobs == {"plan", "trial", "report"}
    for agent in ("nop", "replay", "pip"):
        leg = matrix.of("trial", f'"example__tiny.{agent}.1", "repository"')
        assert leg.step("trial", "gate") == "success"


def test_lost_leg_is_missing_and_closes_the_gate(matrix):
    report = matrix.of("report")
    told = report.outputs("report")
    assert (told["complete"], told["run-again"]) == ("false", "example__tiny.nop.1")
    assert report.step("report") == "failure"


def test_report_counts_what_is_missing(matrix):
    blocks = matrix.of("report").summaries[-1].split("\n\n")
    assert blocks[:3] == [
        "## researchenvbench",
        HEADLINE,
        "Failed by `fail-on`: `example__tiny.nop.1: no artifact of this trial was found`",
    ]
    assert blocks[blocks.index("### Trials") + 1] == TRIALS
    assert blocks[blocks.index("### To run again") + 1] == AGAIN


def test_durations_are_kept_although_the_gate_is_closed(matrix):
    told = [one for one in matrix.of("report").records if one.get("name") == "durations"]
    assert told[0]["arg"] == "researchenvbench/durations.json"


def test_batch_runs_its_trials_in_one_job(batch):
    assert batch.code == 0
    told = batch.of("trial").outputs("batch")
    assert told["done"].split() == ["example__tiny.nop.1", "example__tiny.replay.1"]
    assert (told["broken"], told["continue"]) == ("", "")


def test_report_reads_the_trials_of_a_batch(batch):
    assert batch.of("report").outputs("report")["complete"] == "true"


def test_report_attests_the_verdict_of_every_trial(batch, shared):
    """The double of the action keeps what it was given to sign."""
    assert batch.code == 0
    artifacts = shared / "batch" / "artifacts"
    lines = (artifacts / "researchenvbench-attestation" / "attestation.json").read_text()
    verdicts = [path for path in artifacts.rglob("verdict.json") if "batch" in str(path.parent)]
    assert len(verdicts) == 2
    assert lines.splitlines() == [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.parent.name}/verdict.json"
        for path in sorted(verdicts)
    ]


def test_nothing_is_attested_unless_it_is_asked_for(matrix):
    report = matrix.of("report")
    assert (report.step("report"), report.step("attest")) == ("failure", None)
