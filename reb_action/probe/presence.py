"""Checks which imports find their module in the reported interpreter: the strict C0.

First the trusted interpreter searches the search paths and the code of the modules. Then the
reported interpreter itself is asked about the missing ones: it knows the finders of editable
installs, and modules that packages create when they are imported. A module that it names outside
the search paths counts if it has code, too.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from reb_action.documents import answer_of
from reb_action.errors import SandboxError
from reb_action.imports import Import, Ownership, is_absent, is_standard
from reb_action.model.observation import Absent, Cause, Interpreter
from reb_action.model.report import Report
from reb_action.probe.context import ProbeContext, build_environment, make_nonce
from reb_action.probe.stubs import InstalledModules, Wanted, inspect_modules, why
from reb_action.probe.supervisor import Request, supervise
from reb_action.sandbox.protocol import Command, Ended

_TIMEOUT_SECONDS: Final = 300
_ANSWER_LIMIT: Final = 64 * 1024 * 1024
_ASKED: Final = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """Where to search: the reported interpreter, its version, and paths that do not count."""

    report: Report
    interpreter: Interpreter
    version: tuple[int, int]
    skipped: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Presence:
    """Which third-party imports find their module; `fault`: why they were not searched."""

    absent: tuple[Absent, ...] = ()
    hollow: frozenset[str] = frozenset()
    editable: frozenset[str] = frozenset()
    fault: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Missing:
    missing: tuple[str | None, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    nonce: str
    found: Mapping[str, str] = field(default_factory=dict[str, str])


def look(context: ProbeContext, owned: Ownership, measured: Measured) -> Presence:
    """Return which imports find nothing; raises SandboxError if no environment can be examined."""
    version = measured.version
    wanted = [one for one in owned.wanted if not is_standard(one.name, version=version)]
    names = frozenset(one.name for one in wanted)
    asked = Wanted(names=names | {one.name for one in owned.lent}, skipped=measured.skipped)
    found = inspect_modules(context, measured.interpreter, asked)
    if found.fault is not None:
        return Presence(fault=found.fault)
    # An installed package hides a folder without `__init__.py`, unless the package does not count.
    lent = [one for one in owned.lent if one.name in found.names - found.hollow]
    beside = _beside(context, owned)
    lost = _lost(context, [*wanted, *lent], found, measured, beside)
    if isinstance(lost, str):
        return Presence(fault=lost)
    elsewhere = {one.module for one in wanted if one.name not in found.names}
    told = _ask(context, measured, {*lost.values(), *elsewhere}, beside)
    led = tuple(
        (_top(module), place)
        for module, place in sorted(told.items())
        if place and _top(module) in names - found.names
    )
    if led:
        again = inspect_modules(context, measured.interpreter, Wanted(names=(), led=led))
        found = InstalledModules(modules=(*found.modules, *again.modules))
    absences = {one: _absence(one, lost, told, found, measured) for one in [*wanted, *lent]}
    return Presence(
        absent=_needed(absences),
        hollow=found.hollow & names,
        editable=frozenset(name for name, _ in led) - found.hollow,
    )


def _top(module: str) -> str:
    return module.partition(":")[0].partition(".")[0]


def _beside(context: ProbeContext, owned: Ownership) -> Mapping[Import, tuple[str, ...]]:
    """Return, by import, the checkout's own folders that Python joins to an installed package."""
    root = context.layout.repository
    return {
        one: tuple(f"{root}/{folder}" for folder in sorted(folders))
        for one, folders in owned.beside.items()
    }


def _lost(
    context: ProbeContext,
    wanted: list[Import],
    found: InstalledModules,
    measured: Measured,
    beside: Mapping[Import, tuple[str, ...]],
) -> dict[Import, str] | str:
    """Return, for each import that the search paths lack, its missing part."""
    standing = [one for one in wanted if one.name in found.names or one in beside]
    parts = _missing(context, standing, measured, beside)
    if isinstance(parts, str):
        return parts
    lost = {one: part for one, part in zip(standing, parts, strict=True) if part is not None}
    gone = (one for one in wanted if one.name not in found.names and one not in beside)
    return lost | {one: one.name for one in gone}


def _missing(
    context: ProbeContext,
    wanted: list[Import],
    measured: Measured,
    beside: Mapping[Import, tuple[str, ...]],
) -> tuple[str | None, ...] | str:
    """Return the missing part of each import, or how the environment kept us from looking."""
    question = {
        "search_paths": list(measured.interpreter.search_paths),
        "version": "".join(map(str, measured.version)),
        "skipped": list(measured.skipped),
        "modules": [[one.module, "".join(one.names), list(beside.get(one, ()))] for one in wanted],
    }
    ended = _search(context, question)
    seen = answer_of(ended.stdout, _Missing)
    if seen is not None and len(seen.missing) == len(wanted):
        return seen.missing
    nothing = _search(context, {**question, "search_paths": [], "modules": []})
    if answer_of(nothing.stdout, _Missing) is None:
        raise SandboxError(f"could not look for modules: {why(nothing)}; run it again")
    return f"could not look for modules: {why(ended)}"


def _search(context: ProbeContext, question: Mapping[str, object]) -> Ended:
    asked = context.ask(f"modules-{make_nonce()}", question)
    return context.run(
        Command(
            argv=(context.sandbox.trusted_python, "-I", "-S", context.probe("modules"), asked),
            cwd=context.layout.tools,
            timeout_seconds=_TIMEOUT_SECONDS,
            output_limit_bytes=_ANSWER_LIMIT,
        )
    )


def _ask(
    context: ProbeContext,
    measured: Measured,
    modules: Collection[str],
    beside: Mapping[Import, tuple[str, ...]],
) -> Mapping[str, str]:
    """Ask the reported interpreter where it finds modules; without an answer they are missing."""
    if not modules:
        return {}
    secret = make_nonce()
    # Names before their parts, so that few answers are lost if a part ends the interpreter.
    ordered = sorted(modules, key=lambda module: (module.count("."), module))[:_ASKED]
    own: dict[str, list[str]] = {}
    for one in (each for each in beside if each.name in set(map(_top, modules))):
        own[one.name] = sorted({*own.get(one.name, ()), *beside[one]})
    asked = context.ask(secret, {"nonce": secret, "modules": ordered, "own": own})
    out = f"{context.layout.runs}/{secret}"
    request = Request(
        argv=(measured.report.python_path, context.probe("specs"), asked, f"{out}/answer.json"),
        cwd=context.layout.workspace,
        env=build_environment(context, measured.report, {"CUDA_VISIBLE_DEVICES": ""}),
        timeout_seconds=_TIMEOUT_SECONDS,
        out=out,
        answer=f"{out}/answer.json",
    )
    told = answer_of(supervise(context, request).answer, _Told)
    return told.found if told is not None and told.nonce == secret else {}


def _absence(
    one: Import,
    lost: Mapping[Import, str],
    told: Mapping[str, str],
    found: InstalledModules,
    measured: Measured,
) -> Absent | None:
    """Return how an import fails to find its module; None if it finds it."""
    part = lost.get(one)
    if is_absent(one.name, version=measured.version):
        # A substitute for a removed standard module may be installed anywhere.
        gone = part is not None and part not in told
        absent = Absent(name=one.name, module=one.name, cause=Cause.NOT_IN_PYTHON)
        return absent if gone else None
    if one.name not in found.names:
        return Absent(name=one.name, module=one.name, cause=Cause.NOT_INSTALLED)
    if one.name in found.hollow:
        return Absent(name=one.name, module=one.name, cause=Cause.TOO_LITTLE_CODE)
    if part is None or {part, one.module} <= told.keys():
        return None
    if part not in told:
        cause = Cause.NOT_INSTALLED if part == one.name else Cause.PART_MISSING
        return Absent(name=one.name, module=part.replace(":", "."), cause=cause)
    if part != one.name:
        return None
    return Absent(name=one.name, module=one.module, cause=Cause.PART_MISSING)


def _needed(absences: Mapping[Import, Absent | None]) -> tuple[Absent, ...]:
    """Return the absences that keep a file from running, each once."""
    gone = {one.module for one, absence in absences.items() if absence is not None}
    needed = (
        absence
        for one, absence in absences.items()
        if not one.optional and (not one.instead_of or gone & {*one.instead_of})
    )
    kept = {absence for absence in needed if absence is not None}
    return tuple(sorted(kept, key=lambda absence: (absence.name, absence.module)))
