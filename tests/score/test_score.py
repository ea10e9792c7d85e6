"""What verdicts come to together, counted by hand."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reb_action.corpus import manifests
from reb_action.judge.judge import judge
from reb_action.model.agent import AgentRun, Ending, Usage, UsageEstimate
from reb_action.model.manifest import Level, Outcome, Trial
from reb_action.model.report import ReportFault, ReportFaultKind
from reb_action.model.scoreboard import Imports, Known, Published, Share
from reb_action.model.verdict import ClaimKind, Scoring, Verdict
from reb_action.render.shares import mean
from reb_action.score import score
from reb_action.score.statistics import wilson
from tests.support.evidence import MANIFEST, evidence, imports, interpreter, observations
from tests.support.scoreboards import ABSENT, INVALID, MISSING, board, found
from tests.support.values import evidences

ROOT = Path(__file__).parents[2]
FAULT = ReportFault(kind=ReportFaultKind.MISSING, message="there is no report.json")
BLOCKED = {"report": FAULT, "interpreter": None, "observations": {}}


def verdict(agent="a", attempt=1, *, manifest=MANIFEST, model=None, **changes):
    run = AgentRun(
        agent=agent, version="1", ending=Ending.DONE, exit_code=0, seconds=9.0, setup_seconds=1.0,
        model=model,
    )  # fmt: skip
    trial = Trial(manifest=manifest, agent=agent, attempt=attempt)
    return judge(evidence(**{"trial": trial, "agent_run": run, **changes}))


def scored(*verdicts, missing=(), **options):
    seen = {one.trial: one for one in verdicts}
    return score({**seen, **dict.fromkeys(missing, ABSENT)}, **options)


def share(passed, counted, unseen=0):
    return Share(passed=passed, counted=counted, unseen=unseen, interval=wilson(passed, counted))


def only(made):
    (agent,) = made.agents
    return agent


def levels_of(agent, level):
    return agent.levels[Scoring.STRICT][level], agent.levels[Scoring.PAPER][level]


def test_passed_failed_and_blocked_count_and_invalid_does_not():
    lacks = observations(C1=None)
    made = scored(verdict(), verdict(attempt=2, **BLOCKED), verdict(attempt=3, observations=lacks))
    assert levels_of(only(made), Level.C1) == (share(1, 2, 1), share(1, 2, 1))
    assert made.invalid == {
        "owner__name.a.3": "C1: not observed: the probe of C1 did not end; run it again"
    }
    assert (made.complete, made.run_again) == (False, ("owner__name.a.3",))


def test_missing_trial_is_unseen_at_each_level_that_applies_to_its_repository():
    never = replace(
        MANIFEST,
        entrypoints={Level.C1: MANIFEST.entrypoints[Level.C1]},
        not_applicable={Level.C3: "no GPU code"},
        paper_only={Level.C4: "its script is gone"},
    )
    made = scored(verdict(manifest=never), missing=["owner__name.a.2"])
    agent = only(made)
    assert levels_of(agent, Level.C1) == (share(1, 1, 1), share(1, 1, 1))
    assert levels_of(agent, Level.C3) == (share(0, 0), share(0, 0))
    assert levels_of(agent, Level.C4) == (share(0, 0), share(0, 1, 1))
    assert (agent.planned, agent.judged) == (2, 1)
    assert made.missing == {"owner__name.a.2": ABSENT}


def test_manifest_tells_of_a_repository_without_any_verdict():
    other = replace(
        MANIFEST, repository="some/other.py", imports=7, not_applicable={Level.C3: "no GPU code"}
    )
    missing = ["some__other.py.a.1"]
    untold, told = only(scored(missing=missing)), only(scored(missing=missing, manifests=[other]))
    assert levels_of(untold, Level.C3) == (share(0, 0, 1), share(0, 0, 1))
    assert levels_of(told, Level.C3) == (share(0, 0), share(0, 0))
    nothing = Imports(missing=0, total=0, unknown=1)
    assert untold.imports == {Scoring.STRICT: nothing, Scoring.PAPER: nothing}
    assert told.imports[Scoring.PAPER] == Imports(missing=0, total=7, most=7)


def test_corpus_that_never_came_back_has_the_papers_denominators():
    corpus = manifests.load_folder(ROOT / "repos")
    made = only(scored(missing=[f"{one.slug}.a.1" for one in corpus], manifests=corpus))
    unseen = {level: one.unseen for level, one in made.levels[Scoring.PAPER].items()}
    assert unseen == {
        Level.C0: 44, Level.C1: 29, Level.C2: 44, Level.C3: 43, Level.C4: 32, Level.C5: 44,
    }  # fmt: skip
    assert made.imports[Scoring.PAPER] == Imports(missing=0, total=2858, most=2858)


def test_share_is_a_bracket_from_all_unseen_failed_to_left_out():
    one = Share(passed=3, counted=6, unseen=4)
    assert (one.lowest, one.share) == (0.3, 0.5)
    assert (Share(passed=0, counted=0).lowest, Share(passed=0, counted=0).share) == (None, None)
    assert (Share(passed=0, counted=0, unseen=2).lowest, Share(passed=0, counted=0).share) == (
        0,
        None,
    )


def test_imports_of_a_blocked_trial_are_all_missing_in_both_scorings():
    seen = verdict(observations=observations(C0=imports(missing=("torch",))))
    made = scored(seen, verdict(attempt=2, **BLOCKED))
    assert only(made).imports == {
        # numpy and torch are its third-party imports; ten is the paper's total.
        Scoring.STRICT: Imports(missing=1 + 2, total=4),
        Scoring.PAPER: Imports(missing=1 + 10, total=20),
    }


def test_imports_of_blocked_trials_alone_are_unknown_by_the_strict_scoring():
    agent = only(scored(verdict(**BLOCKED)))
    assert agent.imports == {
        Scoring.STRICT: Imports(missing=0, total=0, unknown=1),
        Scoring.PAPER: Imports(missing=10, total=10),
    }


def test_imports_of_unseen_trials_are_a_range():
    lacks = verdict(attempt=2, observations=observations(C0=None))
    made = scored(verdict(), lacks, missing=["owner__name.a.3"])
    assert only(made).imports == {
        Scoring.STRICT: Imports(missing=0, total=6, most=4),
        Scoring.PAPER: Imports(missing=0, total=30, most=20),
    }


def test_agents_with_two_models_are_two_rows_and_models_never_mix():
    first, second = verdict(model="large"), verdict(attempt=2, model="small")
    made = scored(first, second, missing=["owner__name.a.3"])
    rows = [(one.agent, one.model, one.planned, one.judged) for one in made.agents]
    assert rows == [("a", None, 1, 0), ("a", "large", 1, 1), ("a", "small", 1, 1)]


def test_trial_that_never_told_its_model_has_the_one_of_its_agent():
    made = scored(verdict(model="large"), verdict(attempt=2), missing=["owner__name.a.3"])
    assert [(one.model, one.planned, one.judged) for one in made.agents] == [("large", 3, 2)]
    assert [row.model for row in made.trials] == ["large", "large"]


def test_levels_that_were_not_asked_for_are_left_out():
    made = scored(verdict(levels=(Level.C0, Level.C1)), levels=(Level.C0, Level.C1))
    assert [tuple(one) for one in only(made).levels.values()] == [(Level.C0, Level.C1)] * 2
    assert (made.invalid, only(made).hallucinations) == ({}, {})
    assert scored(verdict(levels=(Level.C1,)), levels=(Level.C1,)).agents[0].imports == {}


def test_hallucinations_are_summed_and_unknown_without_a_report_that_was_held():
    liar = verdict(report=replace(evidence().report, gpu_count=9, torch_version="1"))
    never = verdict(attempt=2, interpreter=None)
    made = scored(liar, never)
    counts = {ClaimKind.PATH: 0, ClaimKind.VERSION: 1, ClaimKind.CAPABILITY: 1}
    assert only(made).hallucinations == counts
    assert [row.hallucinations for row in made.trials] == [counts, {}]
    assert levels_of(only(made), Level.C5)[0] == share(0, 1, 1)


def test_sums_say_of_how_many_trials_they_are():
    used = Usage(input_tokens=100, output_tokens=5, cost_usd=0.5)
    with_usage = verdict()
    with_usage = replace(with_usage, agent_run=replace(with_usage.agent_run, usage=used))
    told_itself = verdict(attempt=2)
    told_itself = replace(
        told_itself, agent_run=replace(told_itself.agent_run, reported=Usage(input_tokens=7))
    )
    spent = only(scored(with_usage, told_itself, verdict(attempt=3, agent_run=None))).spent
    assert spent.input_tokens == Known(total=107, trials=2)
    assert spent.cost_usd == Known(total=0.5, trials=1)
    assert spent.seconds == Known(total=18.0, trials=2)
    assert spent.prefix_bytes == Known(total=15_000_000, trials=3)


def used(**fields):
    return replace(verdict(), agent_run=replace(verdict().agent_run, **fields))


def test_usage_of_a_row_is_the_agents_own_where_nothing_was_counted():
    counted = Usage(input_tokens=100, output_tokens=None, turns=3)
    own = Usage(input_tokens=90, output_tokens=7, cost_usd=0.25)
    (row,) = scored(used(usage=counted, reported=own)).trials
    assert row.usage == Usage(input_tokens=100, output_tokens=7, turns=3, cost_usd=0.25)


def test_calls_without_usage_give_a_sum_its_bounds():
    counted = Usage(input_tokens=100, output_tokens=10, cost_usd=1.0)
    estimate = UsageEstimate(
        calls=1,
        input_tokens_min=0,
        input_tokens_max=50,
        output_tokens_min=2,
        output_tokens_max=30,
        cost_usd_min=0.1,
        cost_usd_max=0.5,
    )
    spent = only(scored(used(usage=counted, estimate=estimate))).spent
    assert spent.input_tokens == Known(total=100, trials=1, most=150)
    assert spent.output_tokens == Known(total=12, trials=1, most=40)
    assert spent.cost_usd == Known(total=1.1, trials=1, most=1.5)
    unknown = replace(estimate, cost_usd_min=None, cost_usd_max=None)
    assert only(scored(used(usage=counted, estimate=unknown))).spent.cost_usd == Known()


def test_mean_of_a_sum_with_bounds_names_both():
    known = Known(total=100, trials=2, most=300)
    assert mean(known, 2, lambda value: f"{value:.0f}") == ("50 to 150", "(2 of 2)")


def test_cell_keeps_its_reason_cause_and_whether_it_is_qualified():
    made = scored(verdict(), unqualified={("owner__name.a.1", Level.C3)})
    cells = made.trials[0].cells
    assert [level for level, cell in cells.items() if not cell.qualified] == [Level.C3]
    assert cells[Level.C1].reason == "the entry point ran and its proofs hold"


def test_published_rows_are_passed_on():
    row = Published(
        agent="codex", model="m", source="s", runs=1, levels={},
        imports=Imports(missing=1, total=2), hallucinations=4, capability=None,
    )  # fmt: skip
    assert scored(published=(row,)).published == (row,)


def test_realistic_board_names_what_is_missing_and_invalid():
    made = board()
    assert made.missing == {MISSING: ABSENT}
    assert made.invalid == {INVALID: "C4: not measured: C4 needs 2 GPUs, 1 promised"}
    assert made.run_again == (MISSING, INVALID)
    assert [(one.agent, one.model, one.planned, one.judged) for one in made.agents] == [
        ("claude-code", "sonnet-4.5", 12, 12),
        ("codex", "gpt-5.1-codex", 12, 11),
        ("uv", None, 12, 12),
    ]
    assert len(made.trials) == 35


@pytest.mark.parametrize("scoring", Scoring)
def test_every_planned_trial_is_in_the_denominator_of_c0(scoring):
    for agent in board().agents:
        whole = agent.levels[scoring][Level.C0]
        assert whole.counted + whole.unseen == agent.planned == 12


@pytest.mark.slow
@given(st.lists(evidences(), max_size=3))
@settings(deadline=None, max_examples=60)
def test_any_verdicts_give_shares_that_add_up(seen):
    verdicts = {f"owner__name.a.{n}": judge(one) for n, one in enumerate(seen)}
    made = score({name: replace(one, trial=name) for name, one in verdicts.items()})
    for agent in made.agents:
        for scoring in Scoring:
            for level, one in agent.levels[scoring].items():
                rows = [
                    row
                    for row in made.trials
                    if row.agent == agent.agent and row.model == agent.model
                ]
                outcomes = [row.cells[level].by(scoring) for row in rows if level in row.cells]
                unasked = sum(level not in row.cells for row in rows)
                never = outcomes.count(Outcome.NOT_APPLICABLE) + unasked
                assert one.counted + one.unseen + never == len(rows) == agent.planned
                assert 0 <= one.passed <= one.counted


@pytest.mark.parametrize(
    "befallen",
    [
        {},
        BLOCKED,
        {"interpreter": interpreter(fault="it does not exist", path_is_good=False)},
        {"freeze": None, "report": None, "interpreter": None, "observations": {}},
    ],
    ids=["fine", "no report", "no interpreter", "never frozen"],
)
@pytest.mark.parametrize("scoring", Scoring)
def test_what_was_not_asked_for_never_counts(scoring, befallen):
    """Beside a trial that was asked for all, whatever befell the other one."""
    made = scored(verdict(), verdict(attempt=2, levels=(Level.C1,), **befallen))
    alone = scored(verdict())
    (agent,), (whole,) = made.agents, alone.agents
    for level in set(Level) - {Level.C1}:
        assert agent.levels[scoring][level] == whole.levels[scoring][level]
    assert (agent.imports, agent.hallucinations) == (whole.imports, whole.hallucinations)
    assert agent.levels[scoring][Level.C1].counted == (1 if "freeze" in befallen else 2)


def test_what_was_not_asked_for_alone_is_not_run_again():
    made = scored(verdict(), verdict(attempt=2, levels=(Level.C1,)))
    assert (made.complete, made.run_again) == (True, ())


def test_no_trials_give_an_empty_complete_board():
    made = score({})
    assert (made.agents, made.trials, made.complete, made.run_again) == ((), (), True, ())


def test_verdicts_of_the_maker_are_verdicts():
    assert sum(isinstance(one, Verdict) for one in found().values()) == 35
