"""A realistic scoreboard: three agents on six repositories, twice; one missing, one invalid.

`found()` are its verdicts, `board()` is the scoreboard. `many(n)` are n verdicts for benchmarks.
"""

from dataclasses import replace
from functools import cache

from reb_action.judge.judge import judge
from reb_action.model.agent import AgentRun, Ending, Usage
from reb_action.model.manifest import Level, Trial
from reb_action.model.record import Passed
from reb_action.model.report import ReportFault, ReportFaultKind
from reb_action.render.html.site import BoardFacts, Publication, TrialFacts
from reb_action.score import score
from tests.support.evidence import (
    AGENT_RUN,
    FREEZE,
    MANIFEST,
    cuda,
    cuda_facts,
    evidence,
    imports,
    interpreter,
    observations,
    proved,
    report,
    run,
)

REPOSITORIES = (
    "NVIDIA/kvpress",
    "SWivid/F5-TTS",
    "apple/ml-aim",
    "hustvl/Vim",
    "kyegomez/VisionMamba",
    "microsoft/renderformer",
)
AGENTS = ("claude-code", "codex", "uv")
DOMAINS = dict(
    zip(
        REPOSITORIES,
        (
            *("llm_inference", "audio_speech", "multimodal_foundation", "vision_backbone"),
            *("vision_backbone", "of our own"),
        ),
        strict=True,
    )
)
MODELS = {"claude-code": "sonnet-4.5", "codex": "gpt-5.1-codex", "uv": None}
MISSING, INVALID = "hustvl__Vim.codex.2", "apple__ml-aim.claude-code.1"
UNQUALIFIED = frozenset(
    {(f"apple__ml-aim.{agent}.{n}", Level.C3) for agent in AGENTS for n in (1, 2)}
)
ABSENT = "no artifact of this trial was found"

_NO_REPORT = ReportFault(kind=ReportFaultKind.MISSING, message="there is no report.json")
_TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 12, in <module>
    import selective_scan_cuda
ModuleNotFoundError: No module named 'selective_scan_cuda'
"""


def found():
    """Return each planned trial with its verdict, or why there is none."""
    seen = {
        f"{slug(repository)}.{agent}.{attempt}": _verdict(repository, agent, attempt)
        for repository in REPOSITORIES
        for agent in AGENTS
        for attempt in (1, 2)
    }
    return {**seen, MISSING: ABSENT}


def board(**changes):
    """Return the scoreboard over `found()`."""
    return score(found(), **{"unqualified": UNQUALIFIED, **changes})


def facts():
    """Return the domain and the run of each trial of `board()`, and two publications each."""
    runs = {agent: _run_facts(number) for number, agent in enumerate(AGENTS)}
    counts = {level: Passed(passed=place, counted=6) for place, level in enumerate(Level)}
    return BoardFacts(
        trials={row.trial: replace(runs[row.agent], domain=DOMAINS[row.repository])
                for row in board().trials},
        history={
            score.name: tuple(
                Publication(facts=_run_facts(number), counts=counts) for number in range(2)
            )
            for score in board().agents
        },
    )  # fmt: skip


def _run_facts(number):
    return TrialFacts(
        date=f"2026-11-{number + 1:02}T04:00:00Z",
        url=f"https://github.example/acme/bench/actions/runs/{number}" if number else "",
        run=f"{number}.1",
    )


def many(count):
    """Return `count` verdicts: the same trials with ever higher attempts."""
    whole = [one for one in found().values() if not isinstance(one, str)]
    made = (_again(whole[n % len(whole)], 2 * (n // len(whole) + 1)) for n in range(count))
    return {one.trial: one for one in made}


def slug(repository):
    return repository.replace("/", "__")


def _again(verdict, later):
    # Values of their own, as if each had been read from a file.
    attempt = verdict.attempt + later
    name = f"{slug(verdict.repository)}.{verdict.agent}.{attempt}"
    results = tuple(replace(one) for one in verdict.results)
    return replace(verdict, trial=name, attempt=attempt, results=results)


@cache
def _verdict(repository, agent, attempt):
    return judge(evidence_of(repository, agent, attempt))


def evidence_of(repository, agent, attempt):
    """Return what one trial left."""
    place, who = REPOSITORIES.index(repository), AGENTS.index(agent)
    made = _SCENARIOS[(2 * place + 3 * who + attempt) % len(_SCENARIOS)]()
    trial = Trial(manifest=_manifest(repository), agent=agent, attempt=attempt)
    seen = _with_total(made.observations, trial.manifest.imports)
    run = _run(agent, place, attempt)
    changed = replace(made, trial=trial, agent_run=run, observations=seen)
    if trial.id == INVALID:
        return replace(changed, gpus_promised=1)
    return changed


def _with_total(seen, total):
    """Return observations that counted as many imports as the manifest declares."""
    return {
        level: replace(one, total=total) if level is Level.C0 else one
        for level, one in seen.items()
    }


def _manifest(repository):
    number = REPOSITORIES.index(repository)
    entrypoints = dict(MANIFEST.entrypoints)
    changes = {}
    if repository == "SWivid/F5-TTS":
        del entrypoints[Level.C1]
        changes["not_applicable"] = {Level.C1: "it insists on a GPU"}
    if repository == "microsoft/renderformer":
        del entrypoints[Level.C4]
        changes["paper_only"] = {Level.C4: "its script does not exist at this commit"}
    return replace(
        MANIFEST,
        repository=repository,
        commit=f"{number:040x}",
        imports=10 + 7 * number,
        entrypoints=entrypoints,
        **changes,
    )


def _run(agent, place, attempt):
    if agent == "uv":
        return replace(AGENT_RUN, agent=agent, version="0.9.1", seconds=40.0 + place)
    usage = Usage(
        input_tokens=400_000 + 90_000 * place,
        output_tokens=9_000 + 1_000 * attempt,
        turns=30 + place,
        tool_calls=28 + place,
        cost_usd=None if agent == "codex" and place == 5 else round(1.25 + place / 4, 2),
    )
    late = place == 3
    return AgentRun(
        agent=agent,
        version="0.44.0" if agent == "codex" else "2.0.30",
        ending=Ending.TIMED_OUT if late else Ending.DONE,
        exit_code=None if late else 0,
        seconds=3600.0 if late else 600.0 + 60 * place,
        setup_seconds=20.0,
        model=MODELS[agent],
        usage=usage,
    )


def _right():
    claims = {"python_version": "3.11.2", "cuda_available": True, "gpu_count": 2}
    return evidence(report=report(**claims, ddp_expected_ok=True))


def _no_extension():
    broken = run(exit_code=1, proofs=(proved(holds=False),))
    lacks = imports(missing=("selective_scan_cuda",), third_party=("selective_scan_cuda", "torch"))
    return evidence(
        report=report(cuda_available=True, gpu_count=2, ddp_expected_ok=True),
        observations=observations(C0=lacks, C1=broken, C3=broken, C4=broken),
        logs=dict.fromkeys((Level.C1, Level.C3, Level.C4), _TRACEBACK),
    )


def _cpu_only():
    facts = cuda_facts(available=False, build=None, architectures=(), devices=())
    unproved = run(proofs=(proved(holds=False),))
    return evidence(
        report=report(cuda_available=True, gpu_count=8),
        observations=observations(C2=cuda(facts), C3=unproved, C4=run(exit_code=1)),
    )


def _nothing():
    return evidence(
        report=_NO_REPORT,
        freeze=replace(FREEZE, report=_NO_REPORT, report_sha256=None),
        interpreter=None,
        observations={},
    )


def _half():
    return evidence(
        interpreter=interpreter(prefix_bytes=None),
        observations=observations(C0=imports(missing=("yaml", "wandb")), C4=run(ranks=())),
    )


_SCENARIOS = (_right, _no_extension, _cpu_only, _nothing, _half)
