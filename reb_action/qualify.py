"""Qualifies the cells of a manifest: they pass in the known-good environment, fail in wrong ones.

The environment is the manifest's `oracle`, built in the sandbox by an agent that is one script;
each sabotage is the same script with one thing spoiled at its end.
"""

import json
import platform
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from reb_action import documents, qualified, source, tracked, trial, witness
from reb_action.errors import ToolchainError, UsageError
from reb_action.layout import SessionLayout
from reb_action.model.manifest import GPU_LEVELS, Framework, Level, Oracle, Outcome
from reb_action.model.qualification import Control, Qualification
from reb_action.model.verdict import Verdict
from reb_action.probing.imports import sources
from reb_action.render.escape import log
from reb_action.sandbox.docker import engine
from reb_action.sandbox.protocol import Kind
from reb_action.session import AgentChoice
from reb_action.shadow import shadow_of
from reb_action.trial import Options, Tell

AGENT_SECONDS: Final = 3600
_LAST_LINES: Final = 10

# The modules of a distribution, as the text of {name: None}: a None in sys.modules is absent.
_NAMES: Final = (
    "import importlib.metadata as m, sys; found = m.packages_distributions().items(); "
    "print({name: None for name, owners in found if sys.argv[1] in owners})"
)
_PYTHON: Final = '"$HOME/venv/bin/python"'
_SITE: Final = 'site=$(echo "$HOME"/venv/lib/python3*/site-packages)'


class Sabotage(StrEnum):
    """How an environment is spoiled, so that a run level must fail in it."""

    BARE = "bare"
    KEY_REMOVED = "key_removed"
    FRAMEWORK_BROKEN = "framework_broken"
    PACKAGE_SHADOWED = "package_shadowed"
    DEVICES_HIDDEN = "devices_hidden"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What to qualify and where; `date` is written into the result.

    With `base`, the environment is that interpreter's packages and the wheels of `cache`, for a
    machine without a package index; else uv installs the oracle's pins, kept in `cache`.
    `shadows` are the repository's own modules that the entry points stand on.
    """

    options: Options
    levels: tuple[Level, ...]
    cache: Path
    date: str
    base: Path | None = None
    shadows: tuple[str, ...] = ()


def plan(options: Options, *, cache: Path, date: str, base: Path | None = None) -> Plan:
    """Return what is to be qualified: the chosen run levels that have an entry point."""
    levels = tuple(level for level in options.levels if level in options.manifest.entrypoints)
    if not levels:
        raise UsageError(f"{options.manifest.repository} has no entry point for these levels")
    return Plan(options=options, levels=levels, cache=cache, date=date, base=base)


def qualify(plan: Plan, *, environ: Mapping[str, str], tell: Tell) -> tuple[Qualification, ...]:
    """Run the positive control and, if it passes, every sabotage; say what each level came to."""
    manifest = plan.options.manifest
    if manifest.oracle is None:
        raise UsageError(f"{manifest.repository} has no oracle; describe its environment there")
    _demand_tools(plan)
    shutil.rmtree(plan.options.folder, ignore_errors=True)
    plan = replace(plan, shadows=_shadows(plan))
    right = _trial(plan, None, environ=environ, tell=tell)
    positives = {level: _control("right", right, level) for level in plan.levels}
    passed = any(control.outcome is Outcome.PASSED for control in positives.values())
    wrong = {
        sabotage: _trial(plan, sabotage, environ=environ, tell=tell)
        for sabotage in (_sabotages(plan, manifest.oracle) if passed else ())
    }
    return tuple(
        Qualification(
            repository=manifest.repository,
            commit=manifest.commit,
            level=level,
            run=qualified.run_of(manifest, level),
            date=plan.date,
            hardware=_hardware(),
            framework=_versions(right),
            positive=positives[level],
            negatives=tuple(_control(one, wrong[one], level) for one in wrong),
        )
        for level in plan.levels
    )


def record(qualifications: tuple[Qualification, ...]) -> Iterator[Path]:
    """Write what was seen beside the manifests, and yield where."""
    for one in filter(qualified.is_seen, qualifications):
        path = qualified.record_of(one.repository, one.level)
        documents.write(path, one, kind="qualification")
        yield path


def lines(qualifications: tuple[Qualification, ...]) -> Iterator[str]:
    """Yield each cell, then each of its controls."""
    for one in qualifications:
        word = "qualified" if qualified.holds(one) else "NOT QUALIFIED"
        yield f"{one.repository} {one.level}: {word}"
        for control in (one.positive, *one.negatives):
            yield f"  {control.environment:17} {control.outcome:8} {log(control.reason)}"
        if not qualified.is_seen(one):
            yield "  not recorded: the right environment did not pass, or another was not built"


def script(plan: Plan, oracle: Oracle, sabotage: Sabotage | None) -> str:
    """Return the shell script that builds the environment and spoils it."""
    bare = sabotage is Sabotage.BARE
    built = _from_index(plan, oracle, bare=bare) if plan.base is None else _on(plan, oracle, bare)
    return "\n".join(("set -e", *built, *_spoiled(plan, oracle, sabotage))) + "\n"


def _from_index(plan: Plan, oracle: Oracle, *, bare: bool) -> Iterator[str]:
    yield f"PATH={shlex.quote(_tools())}:$PATH"
    # A repository's own configuration of uv may name a package index that nobody asked for.
    settings = "UV_LINK_MODE=hardlink UV_NO_CONFIG=1"
    yield f"export UV_CACHE_DIR={shlex.quote(str(plan.cache))} {settings}"
    yield f'uv venv --quiet --seed --python {oracle.python} "$HOME/venv"'
    yield _SITE
    if bare:
        return
    packages = " ".join(shlex.quote(package) for package in oracle.packages)
    yield f"uv pip install --quiet --python {_PYTHON} {packages}"
    for path in map(shlex.quote, oracle.repository):
        options = "--quiet --no-deps --no-build-isolation --editable"
        yield f"{_PYTHON} -m pip install {options} {path}"


def _on(plan: Plan, oracle: Oracle, bare: bool) -> Iterator[str]:
    base = shlex.quote(str(plan.base))
    yield f'{base} -m venv --without-pip "$HOME/venv"'
    yield _SITE
    if bare:
        return
    yield f'{base} -c \'import sysconfig; print(sysconfig.get_path("purelib"))\' > "$site/zz.pth"'
    wheels = f"{shlex.quote(str(plan.cache))}/*.whl"
    install = "-m pip install --quiet --no-index --no-deps"
    yield f'{base} {install} --no-compile --target "$site" {wheels}'
    for path in map(shlex.quote, oracle.repository):
        # The environment finds the base interpreter's pip and build back ends, and its own.
        yield f"{_PYTHON} {install} --no-build-isolation --editable {path}"


def _spoiled(plan: Plan, oracle: Oracle, sabotage: Sabotage | None) -> Iterator[str]:
    match sabotage:
        case Sabotage.KEY_REMOVED if plan.base is None:
            yield f"{_PYTHON} -m pip uninstall --quiet --yes {oracle.key}"
        case Sabotage.KEY_REMOVED:
            yield f"names=$({_PYTHON} -c {shlex.quote(_NAMES)} {oracle.key})"
            yield 'echo "import sys; sys.modules.update($names)" > "$site/spoiled.pth"'
        case Sabotage.FRAMEWORK_BROKEN:
            yield 'rm "$site/torch/lib/libtorch_cpu.so"'
        case Sabotage.PACKAGE_SHADOWED:
            empty = f"dict.fromkeys({plan.shadows!r}, types.ModuleType('shadow'))"
            yield _hook(f"import sys, types; sys.modules.update({empty})")
        case Sabotage.DEVICES_HIDDEN:
            yield _hook("import os; os.environ['CUDA_VISIBLE_DEVICES'] = ''")
        case _:
            return


def _hook(code: str) -> str:
    """Return shell that makes every start of the interpreter run a line of code."""
    return f'echo {shlex.quote(code)} > "$site/spoiled.pth"'


def _shadows(plan: Plan) -> tuple[str, ...]:
    manifest, folder = plan.options.manifest, plan.options.folder / "source"
    checkout = source.checkout(manifest, folder=folder, mirror=plan.options.mirror)
    try:
        tracked.demand_entrypoints(manifest, checkout)
        tracked.demand_oracle(manifest, checkout)
        texts = sources(checkout)
    finally:
        shutil.rmtree(folder)
    found = {shadow_of(manifest, level, texts) for level in plan.levels}
    return tuple(sorted(name for name in found if name is not None))


def _sabotages(plan: Plan, oracle: Oracle) -> tuple[Sabotage, ...]:
    wanted = [Sabotage.BARE]
    wanted += [Sabotage.PACKAGE_SHADOWED] if plan.shadows else []
    # The framework of a base interpreter is not ours to break.
    has_torch = plan.base is None and Framework.TORCH in plan.options.manifest.frameworks
    wanted += [Sabotage.FRAMEWORK_BROKEN] if has_torch else []
    wanted += [Sabotage.KEY_REMOVED] if oracle.key else []
    wanted += [Sabotage.DEVICES_HIDDEN] if set(plan.levels) & set(GPU_LEVELS) else []
    return tuple(wanted)


def _demand_tools(plan: Plan) -> None:
    """Refuse at once what would only be seen to be missing while the environment is built."""
    if plan.options.kind is Kind.DOCKER:
        engine.connect().image_id(plan.options.image or "")
    elif plan.base is None and _uv() is None:
        raise ToolchainError(
            "uv is not on the PATH, and in the local sandbox it builds the known-good environment;"
            " install it, or name an interpreter to build on with --base"
        )


def _tools() -> str:
    # In a local sandbox uv is that of the harness; in a container the folder does not exist.
    return str(Path(_uv() or sys.executable).parent)


def _uv() -> str | None:
    return shutil.which("uv") or shutil.which("uv", path=Path(sys.executable).parent)


def _trial(
    plan: Plan, sabotage: Sabotage | None, *, environ: Mapping[str, str], tell: Tell
) -> Verdict:
    name = sabotage or "right"
    tell(f"--- {plan.options.manifest.repository}: the environment {name}")
    place = plan.options.folder / f"{name}.agent"
    place.mkdir(parents=True)
    oracle = plan.options.manifest.oracle
    assert oracle is not None  # noqa: S101
    text = script(plan, oracle, sabotage)
    (place / "run.sh").write_text(text, encoding="utf-8")
    (place / "report.json").write_text(json.dumps(_REPORT), encoding="utf-8")
    choice = AgentChoice(
        name="replay", argument=str(place), total_seconds=AGENT_SECONDS, setup_seconds=600
    )
    options = replace(
        plan.options, agent=choice, levels=plan.levels, folder=plan.options.folder / name
    )
    verdict = trial.run(options, environ=environ, tell=tell)
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
    return f"it was not built: its script ended with {run.exit_code}" if run.exit_code else None


def _hardware() -> str:
    with witness.watch(witness.nothing_owned) as seen:
        pass
    names = sorted({gpu.name for gpu in seen.gpus})
    gpus = f"{len(seen.gpus)} x {names[0]}, driver {seen.driver}" if names else "no GPU"
    return f"{platform.machine()}, {gpus}"


def _versions(verdict: Verdict) -> str:
    claim = next((one for one in verdict.audit.claims if one.field == "torch_version"), None)
    return claim.observed or "" if claim else ""


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
