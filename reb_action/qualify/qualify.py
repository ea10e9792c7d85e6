"""Qualifies the cells of a manifest: they pass in the known-good environment, fail in wrong ones.

The environment is the manifest's `oracle`, built in the sandbox by an agent that is one script;
each sabotage is the same script with one thing spoiled at its end.
"""

import json
import platform
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from reb_action import documents
from reb_action.corpus import manifests, qualification
from reb_action.errors import ToolchainError, UsageError
from reb_action.model.manifest import CurveProof, Framework, Level, Manifest, Outcome
from reb_action.model.progress import Progress
from reb_action.model.qualification import Control, Qualification
from reb_action.model.verdict import Verdict
from reb_action.probe import gpu_witness
from reb_action.probe.imports import read_sources
from reb_action.qualify import oracle
from reb_action.qualify.oracle import Building, Sabotage
from reb_action.qualify.shadow import shadow_of
from reb_action.render.escape import log
from reb_action.sandbox.docker import connection
from reb_action.sandbox.protocol import Kind
from reb_action.session.layout import SessionLayout
from reb_action.session.output_folder import clear
from reb_action.session.state import AgentChoice
from reb_action.source import checkout as source_checkout
from reb_action.source import entrypoints
from reb_action.trial import run as trial_run
from reb_action.trial.options import Options

AGENT_SECONDS: Final = 3600
"""Longest time to build an environment; a compiler may say nothing in all of it."""
_LAST_LINES: Final = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What to qualify, in what environment; `date` is written into the result."""

    options: Options
    levels: tuple[Level, ...]
    building: Building
    date: str


def plan(options: Options, *, cache: Path, date: str, base: Path | None = None) -> Plan:
    """Return what is to be qualified: the chosen levels that the manifest says enough about."""
    wanted = options.manifest
    possible = qualification.qualifiable(wanted)
    levels = tuple(level for level in options.levels if level in possible)
    if not levels:
        raise UsageError(f"{wanted.repository} has no entry point for these levels")
    if wanted.oracle is None:
        raise UsageError(
            f"{wanted.repository} has no oracle; describe the environment in its manifest"
        )
    imports = (wanted.oracle.imports or ()) if Level.C0 in levels else ()
    environment = wanted.oracle
    if levels == (Level.C0,):
        # C0 never asks for the repository's own modules. Where no run hangs on one distribution,
        # it can still lose any that it asks for.
        key = environment.key or next(map(oracle.distribution_of, imports), None)
        packages = oracle.not_replaced(environment.packages, imports)
        environment = replace(environment, key=key, packages=packages, repository=())
    built = Building(
        oracle=environment,
        frameworks=wanted.frameworks,
        cache=cache,
        base=base,
        imports=imports,
        trains=any(_trains(wanted, level) for level in levels),
    )
    return Plan(options=options, levels=levels, building=built, date=date)


def _trains(wanted: Manifest, level: Level) -> bool:
    proofs = wanted.entrypoints[level].proofs if level in wanted.entrypoints else ()
    return any(isinstance(proof, CurveProof) for proof in proofs)


def qualify(plan: Plan, *, environ: Mapping[str, str], tell: Progress) -> tuple[Qualification, ...]:
    """Run the positive control and, if it passes, every sabotage; report each level's outcome."""
    _demand_tools(plan)
    clear(plan.options.folder, by="qualify")
    plan = replace(plan, building=replace(plan.building, shadows=_shadows(plan, tell)))
    right = _trial(plan, None, plan.levels, environ=environ, tell=tell)
    # A wrong environment can pass too, with the packages of `base`.
    passed = _unbuilt(right) is None and any(
        right.result(level).outcome is Outcome.PASSED for level in plan.levels
    )
    wrong = {
        sabotage: _trial(plan, sabotage, levels, environ=environ, tell=tell)
        for sabotage in (oracle.sabotages(plan.building) if passed else ())
        if (levels := oracle.must_fail(sabotage, plan.levels))
    }
    return tuple(_qualification(plan, level, right, wrong) for level in plan.levels)


def _qualification(
    plan: Plan, level: Level, right: Verdict, wrong: Mapping[Sabotage, Verdict]
) -> Qualification:
    wanted = plan.options.manifest
    return Qualification(
        repository=wanted.repository,
        commit=wanted.commit,
        level=level,
        run=qualification.run_of(wanted, level),
        date=plan.date,
        hardware=_hardware(),
        framework=_framework(wanted, right),
        positive=_control("right", right, level),
        negatives=tuple(
            _control(sabotage, verdict, level)
            for sabotage, verdict in wrong.items()
            if oracle.must_fail(sabotage, (level,))
        ),
        limits=plan.options.limits if plan.options.kind is Kind.DOCKER else None,
    )


def record(plan: Plan, qualifications: tuple[Qualification, ...]) -> Iterator[Path]:
    """Write the record beside the corpus's manifests, else with the trials; yield its path."""
    corpus = manifests.in_corpus(plan.options.manifest)
    for one in filter(qualification.is_seen, qualifications):
        path = qualification.record_of(one.repository, one.level)
        path = path if corpus else plan.options.folder / path.name
        documents.write(path, one, kind="qualification")
        yield path


def lines(qualifications: tuple[Qualification, ...]) -> Iterator[str]:
    """Yield each cell, then each of its controls."""
    for one in qualifications:
        word = "qualified" if qualification.holds(one) else "NOT QUALIFIED"
        yield f"{one.repository} {one.level}: {word}"
        for control in (one.positive, *one.negatives):
            yield f"  {control.environment:17} {control.outcome:8} {log(control.reason)}"
        if not qualification.is_seen(one):
            yield (
                "  not recorded: the correct environment did not pass, or another one was not built"
            )


def _shadows(plan: Plan, tell: Progress) -> tuple[str, ...]:
    wanted, folder = plan.options.manifest, plan.options.folder / "source"
    options = plan.options
    checkout = source_checkout.checkout(
        wanted,
        folder=folder,
        mirror=options.mirror,
        tell=tell,
        origins=options.origins,
        own=options.checkout,
    )
    try:
        entrypoints.demand_entrypoints(wanted, checkout)
        entrypoints.demand_oracle(wanted, checkout)
        texts = read_sources(checkout)
    finally:
        shutil.rmtree(folder)
    runs = [level for level in plan.levels if level in wanted.entrypoints]
    found = {shadow_of(wanted, level, texts) for level in runs}
    return tuple(sorted(name for name in found if name is not None))


def _demand_tools(plan: Plan) -> None:
    """Refuse at once if something is missing that the build of the environment needs."""
    building = plan.building
    if building.base is not None and not any(building.cache.glob("*.whl")):
        raise UsageError(
            f"{building.cache} contains no wheel; with --base, --cache names the folder of the"
            " wheels that the environment needs"
        )
    if plan.options.kind is Kind.DOCKER:
        connection.connect().image_id(plan.options.image or "")
    elif building.base is None and oracle.uv() is None:
        raise ToolchainError(
            "uv is not on the PATH, and in the local sandbox it builds the known-good environment;"
            " install it, or name an interpreter to build on with --base"
        )


def _trial(
    plan: Plan,
    sabotage: Sabotage | None,
    levels: tuple[Level, ...],
    *,
    environ: Mapping[str, str],
    tell: Progress,
) -> Verdict:
    name = sabotage or "right"
    tell(f"--- {plan.options.manifest.repository}: the environment {name}")
    place = plan.options.folder / f"{name}.agent"
    place.mkdir(parents=True)
    text = oracle.script(plan.building, sabotage)
    (place / "run.sh").write_text(text, encoding="utf-8")
    (place / "report.json").write_text(json.dumps(_REPORT), encoding="utf-8")
    choice = AgentChoice(
        name="replay",
        argument=str(place),
        total_seconds=AGENT_SECONDS,
        setup_seconds=600,
        idle_seconds=AGENT_SECONDS,
    )
    options = replace(plan.options, agent=choice, levels=levels, folder=plan.options.folder / name)
    verdict = trial_run.run(options, environ=environ, tell=tell)
    if _unbuilt(verdict) is not None:
        path = SessionLayout(folder=options.folder).agent_log
        tell(f"the environment {name} was not built; {path} ends with:")
        for line in path.read_text("utf-8", "replace").splitlines()[-_LAST_LINES:]:
            tell(f"  {log(line)}")
    return verdict


def _control(name: str, verdict: Verdict, level: Level) -> Control:
    result, unbuilt = verdict.result(level), _unbuilt(verdict)
    if unbuilt is not None:
        return Control(environment=name, outcome=Outcome.BLOCKED, reason=unbuilt)
    return Control(environment=name, outcome=result.outcome, reason=result.reason)


def _unbuilt(verdict: Verdict) -> str | None:
    """Return why an environment is not what its script describes; None where it is."""
    run = verdict.agent_run
    if run is None or run.exit_code is None:
        return f"it was not built: its script {run.ending if run else 'never ran'}"
    return (
        f"it was not built: its script ended with exit code {run.exit_code}"
        if run.exit_code
        else None
    )


def _hardware() -> str:
    with gpu_witness.watch(gpu_witness.own_nothing) as seen:
        pass
    names = sorted({gpu.name for gpu in seen.gpus})
    gpus = f"{len(seen.gpus)} x {names[0]}, driver {seen.driver}" if names else "no GPU"
    return f"{platform.machine()}, {gpus}"


def _framework(wanted: Manifest, verdict: Verdict) -> str:
    claim = next((one for one in verdict.audit.claims if one.field == "torch_version"), None)
    return claim.observed or "" if claim and Framework.TORCH in wanted.frameworks else ""


_REPORT: Final = {
    "python_path": "{home}/venv/bin/python",
    "python_version": None,
    "torch_version": "observed",
    "cuda_available": None,
    "gpu_count": None,
    "ddp_expected_ok": None,
    "env_tool": "uv",
    "env_name": "oracle",
    "notes": None,
}
