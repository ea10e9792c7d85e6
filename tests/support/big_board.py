"""A board of 20 contestants on the 44 repositories of the corpus, three attempts each: made up.

Every outcome is drawn with a fixed seed, from a skill of the contestant and a weight of the level.
"""

import datetime
import random
from functools import cache

from reb_action.corpus import manifests
from reb_action.model.agent import Ending, Usage
from reb_action.model.contestant import Contestant, default_id
from reb_action.model.diagnosis import Cause
from reb_action.model.github import RunOrder
from reb_action.model.manifest import Level, Outcome, trial_id
from reb_action.model.record import (
    Edition,
    History,
    HistoryEntry,
    Passed,
    Record,
    RecordedRun,
)
from reb_action.model.scoreboard import Cell, Imports, TrialRow
from reb_action.model.verdict import ClaimKind, Scoring
from reb_action.resources import data_folder

MODELS = (
    *("claude-sonnet-4-5", "claude-opus-4-1", "gpt-5.1-codex", "gpt-5.1-codex-mini", "glm-4.7"),
    *("deepseek-v3.1-nex-n1", "gemini-3-pro", "qwen3-coder-480b"),
)
CONTESTANTS = (
    *(("claude-code", model) for model in MODELS[:5]),
    *(("codex", model) for model in MODELS[2:4]),
    *(("opencode", model) for model in MODELS),
    ("gemini-cli", "gemini-3-pro"),
    *(("nexau", model) for model in MODELS[4:6]),
    *(("pip", None), ("uv", None)),
)
CAUSES = (
    *[Cause.MISSING_DEPENDENCY] * 4,
    *[Cause.NATIVE_EXTENSION_NOT_BUILT] * 3,
    *(Cause.ABI_MISMATCH, Cause.WRONG_CUDA_BUILD, Cause.AUXILIARY_TOOLING_MISSING),
    *(Cause.MIXED_FRAMEWORKS, Cause.WRONG_PYTHON, Cause.TIMED_OUT, Cause.NCCL, None, None),
)
WEIGHTS = {"C0": 0.75, "C1": 0.7, "C2": 0.85, "C3": 0.55, "C4": 0.35, "C5": 0.5}
DAYS = ("2026-11-27", "2026-11-28", "2026-11-29", "2026-11-30")


@cache
def records(attempts=3, repositories=44, contestants=20):
    """Return a record of each trial, by four runs on four days."""
    chance = random.Random(18)
    corpus = manifests.load_folder(data_folder("repos"))[:repositories]
    return tuple(
        _record(chance, manifest, number, attempt)
        for number in range(contestants)
        for manifest in corpus
        for attempt in range(1, attempts + 1)
    )


@cache
def history(nights=90):
    """Return the publications of the last nights: of each, the records of one of the four runs."""
    chance = random.Random(81)
    return History(entries=tuple(_entry(chance, number) for number in range(nights)))


def _entry(chance, number):
    day = datetime.date(2026, 11, 30) - datetime.timedelta(days=89 - number)
    of_night = [one for one in records() if one.run.order.run_id == 100 + number % len(DAYS)]
    names = sorted({record.contestant for record in of_night})
    return HistoryEntry(
        run=RecordedRun(
            order=RunOrder(run_id=number, attempt=1), commit="c0ffee" + "0" * 34,
            url=f"https://github.example/acme/bench/actions/runs/{number}",
            published=f"{day}T04:00:00Z",
        ),
        added=len(of_night), superseded=0, incomplete=0,
        counts={
            name: {
                level: Passed(passed=int(99 * WEIGHTS[level] * chance.uniform(0.6, 1)), counted=99)
                for level in Level
            }
            for name in names
        },
    )  # fmt: skip


def _record(chance, manifest, number, attempt):
    agent, model = CONTESTANTS[number]
    name = default_id(agent, model)
    trial = trial_id(manifest.slug, name, attempt)
    skill = 1.25 - number / 25
    cells = {level: _cell(chance, manifest, level, skill) for level in Level}
    row = TrialRow(
        trial=trial, repository=manifest.repository, agent=agent, model=model, attempt=attempt,
        cells=cells, ending=chance.choice((*[Ending.DONE] * 5, Ending.TIMED_OUT)),
        imports={
            scoring: Imports(missing=chance.randrange(8), total=manifest.imports)
            for scoring in Scoring
        },
        hallucinations={kind: int(chance.random() < 0.1) for kind in ClaimKind},
        seconds=chance.uniform(60, 3000), prefix_bytes=int(chance.uniform(1e9, 9e9)),
        usage=None if model is None else Usage(
            input_tokens=int(chance.uniform(1e5, 3e6)), output_tokens=int(chance.uniform(5e3, 5e4)),
            turns=40, tool_calls=38, cost_usd=round(chance.uniform(0.2, 1.2) * (3 - number / 8), 2),
        ),
        contestant=Contestant(id=name, digest=f"{number:02x}" * 32),
    )  # fmt: skip
    day = number % len(DAYS)
    return Record(
        trial=trial, repository=manifest.repository, contestant=name, attempt=attempt,
        edition=Edition(scoring=1, commit=manifest.commit, manifest="m"), reb="1.0.0",
        run=RecordedRun(
            order=RunOrder(run_id=100 + day, attempt=1), commit="c0ffee" + "0" * 34,
            url=f"https://github.example/acme/bench/actions/runs/{100 + day}",
            published=f"{DAYS[day]}T04:00:00Z",
        ),
        complete=all(cell.outcome is not Outcome.INVALID for cell in cells.values()),
        row=row, version="1.2.3", domain=manifest.domain,
    )  # fmt: skip


def _cell(chance, manifest, level, skill):
    if level in manifest.not_applicable:
        outcome = Outcome.NOT_APPLICABLE
    elif chance.random() < 0.004:
        outcome = Outcome.INVALID
    elif chance.random() < WEIGHTS[level] * skill:
        outcome = Outcome.PASSED
    else:
        outcome = Outcome.BLOCKED if chance.random() < 0.1 else Outcome.FAILED
    failed = outcome in (Outcome.FAILED, Outcome.BLOCKED)
    cause = chance.choice(CAUSES) if failed and level != Level.C5 else None
    reason = "the entry point ended with exit code 1" if failed else ""
    qualified = level not in (Level.C3, Level.C4)
    return Cell(
        outcome=outcome, paper=outcome, reason=reason, cause=cause and cause.value,
        qualified=qualified,
    )  # fmt: skip
