"""The gate, fed with the folder of a real trial that something happened to."""

import json
import shutil
from dataclasses import replace

import pytest

from reb_action.corpus import manifests
from reb_action.errors import RebError, UsageError
from reb_action.github.context import Context
from reb_action.judge import gate
from reb_action.model.manifest import Level, Outcome
from reb_action.model.verdict import Scoring
from reb_action.render.markdown.verdict import trial_summary
from reb_action.render.outcomes import UNQUALIFIED_NOTE
from reb_action.sandbox.protocol import Kind
from reb_action.session import verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice
from reb_action.trial import options as trial_options
from reb_action.trial import run
from reb_action.workflow.trial_outputs import conclude_trial
from tests.act.act_consumer import HERE, make_mirror

ASKED = (Level.C0, Level.C1, Level.C5)


def silent(_line):
    pass


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A finished trial whose C0, C1 and C5 passed."""
    place = tmp_path_factory.mktemp("gate")
    (place / "tiny.yaml").write_text(make_mirror(place))
    player = str(HERE / "agents" / "honest")
    options = trial_options.Options(
        manifest=manifests.load(place / "tiny.yaml"),
        agent=AgentChoice(name="replay", argument=player, total_seconds=60, setup_seconds=60),
        folder=place / "trial",
        kind=Kind.LOCAL,
        mirror=place / "mirror",
        levels=ASKED,
    )
    run.run(options, environ={}, tell=silent)
    return options.folder


@pytest.fixture
def layout(original, tmp_path):
    """A copy of it, to be tampered with."""
    shutil.copytree(original, tmp_path / "trial")
    return SessionLayout(folder=tmp_path / "trial")


def decide(layout, fail_on="any"):
    return conclude_trial(layout, gate.parse_fail_on(fail_on), Context())


def change(layout, level, **fields):
    path = layout.observation(level)
    document = json.loads(path.read_text())
    document["value"].update(fields)
    path.write_text(json.dumps(document))


MUTATIONS = {
    # what happens to C1 before it is judged: the outcome, and what the gate says
    "fail": (lambda layout: change(layout, "C1", exit_code=1), "failed"),
    "error": (lambda layout: layout.observation("C1").write_text("{}"), "invalid"),
    "vanish": (lambda layout: layout.observation("C1").unlink(), "invalid"),
    "truncate": (
        lambda layout: layout.observation("C1").write_bytes(
            layout.observation("C1").read_bytes()[:100]
        ),
        "invalid",
    ),
    "empty": (lambda layout: layout.observation("C1").write_bytes(b""), "invalid"),
}


def test_untouched_trial_passes(layout):
    decision = decide(layout)
    assert (decision.standing, decision.highest, decision.closed) == ("passed", "C1", None)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_level_that_goes_wrong_before_the_verdict(layout, mutation):
    mutate, outcome = MUTATIONS[mutation]
    layout.verdict.unlink()
    mutate(layout)
    try:
        verdict.conclude(layout)
    except RebError:
        assert not layout.verdict.exists()
    decision = decide(layout)
    assert decision.standing == outcome
    assert decision.closed is not None


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_level_that_is_changed_after_the_verdict_is_invalid(layout, mutation):
    MUTATIONS[mutation][0](layout)
    decision = decide(layout, "invalid")
    assert decision.standing == "invalid"
    assert decision.closed is not None


@pytest.mark.parametrize("name", ["verdict.json", "session.json", "freeze.json", "report.json"])
def test_any_missing_document_is_invalid(layout, name):
    (layout.folder / name).unlink()
    assert decide(layout).standing == "invalid"


def test_forged_verdict_is_invalid(layout):
    change(layout, "C1", exit_code=1)
    text = layout.verdict.read_text()
    layout.verdict.write_text(text.replace('"outcome": "failed"', '"outcome": "passed"'))
    assert decide(layout).standing == "invalid"


def test_empty_folder_is_invalid(tmp_path):
    decision = decide(SessionLayout(folder=tmp_path))
    assert decision.standing == "invalid"
    assert decision.closed.startswith("the trial did not begin")


FAIL_ON = [
    # fail-on, closed where C1 passed, failed, was not observed
    ("never", False, False, False),
    ("invalid", False, False, True),
    ("any", False, True, True),
    ("C1", False, True, True),
    ("C0", False, False, False),
    ("C0, C5", False, False, False),
    ("C2", True, True, True),
]


@pytest.mark.parametrize(("fail_on", "passed", "failed", "unobserved"), FAIL_ON)
def test_every_fail_on(layout, fail_on, passed, failed, unobserved):
    assert (decide(layout, fail_on).closed is not None) is passed
    change(layout, "C1", exit_code=1)
    verdict.conclude(layout)
    assert (decide(layout, fail_on).closed is not None) is failed
    layout.observation("C1").unlink()
    verdict.conclude(layout)
    assert (decide(layout, fail_on).closed is not None) is unobserved


@pytest.mark.parametrize("names", ["C0,C1,C2,C3,C4,C5", "c5 C4 c3 C2 c1 C0"])
def test_all_six_names_are_not_any(layout, names):
    """`any` is any that was asked for; a level that is named must have been asked for."""
    told = "C2 was not requested; C3 was not requested; C4 was not requested"
    assert decide(layout, names).closed == told


@pytest.fixture
def lucky(layout):
    """The verdict of a trial whose C1 ended well and proved nothing."""
    seen = verdict.judged(layout)
    unproved = replace(seen.result(Level.C1), outcome=Outcome.FAILED, reason="no proof")
    return replace(
        seen, results=tuple(unproved if one.level is Level.C1 else one for one in seen.results)
    )


SCORINGS = {
    # scoring: outcome, highest level, what closes the gate at C1
    Scoring.STRICT: (gate.Standing.FAILED, Level.C0, "C1 failed: no proof"),
    Scoring.PAPER: (gate.Standing.PASSED, Level.C1, None),
}


@pytest.mark.parametrize("scoring", Scoring)
def test_gate_goes_by_the_scoring(lucky, scoring):
    decision = gate.decide(lucky, ASKED, gate.parse_fail_on("C1", scoring=scoring))
    assert (decision.standing, decision.highest, decision.closed) == SCORINGS[scoring]


@pytest.mark.parametrize("scoring", Scoring)
def test_summary_leads_with_the_scoring_and_shows_both(lucky, scoring):
    decision = gate.decide(lucky, ASKED, gate.parse_fail_on("never", scoring=scoring))
    told = {
        Scoring.STRICT: "2 of 3 levels passed",
        Scoring.PAPER: "3 of 3 levels passed",
    }
    other = next(one for one in Scoring if one is not scoring)
    blocks = trial_summary(lucky, decision).split("\n\n")
    assert blocks[1:3] == [
        f"{told[scoring]} ({scoring} scoring).",
        f"By the {other} scoring: {told[other]}.",
    ]
    assert "| C1 | CPU run | FAILED | passed | `no proof` |" in blocks[3]
    marked = trial_summary(lucky, decision, unqualified={Level.C1}).split("\n\n")
    assert "| C1 | CPU run | FAILED\N{DAGGER} | passed\N{DAGGER} | `no proof` |" in marked[3]
    assert [*marked[:3], *marked[5:]] == [*blocks[:3], *blocks[4:]]
    assert marked[4] == UNQUALIFIED_NOTE


@pytest.mark.parametrize("text", ["", "sometimes", "C6", "any,C1", "never invalid"])
def test_unknown_fail_on_names_what_is_known(text):
    with pytest.raises(
        UsageError, match="use never, invalid, any, regression, broken, or levels of C0, C1"
    ):
        gate.parse_fail_on(text)
