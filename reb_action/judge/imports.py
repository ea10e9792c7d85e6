"""Judge C0: the imports of the repository."""

from collections.abc import Collection, Mapping
from typing import Final

from reb_action.judge.rules import list_names, outcome_of
from reb_action.model.manifest import Level, Manifest, Outcome
from reb_action.model.observation import Absent, Cause, ImportsObservation, Observation
from reb_action.model.verdict import ImportCount, LevelResult

_CAUSES: Final[Mapping[Cause, str]] = {
    Cause.NOT_INSTALLED: "not installed",
    Cause.NOT_IN_PYTHON: "not in this version of Python",
    Cause.TOO_LITTLE_CODE: "with too little code in it to count",
    Cause.PART_MISSING: "not in its package, which is installed",
}


def judge_imports(manifest: Manifest, seen: Observation) -> LevelResult:
    """C0 holds when every third-party import resolves to an installed package."""
    assert isinstance(seen, ImportsObservation)  # noqa: S101
    if manifest.imports != 0 and not seen.files:
        return unobserved_imports(manifest, Outcome.INVALID, "no file was read")
    wanted = set(seen.third_party) - set(manifest.unobtainable)
    known = {*manifest.unobtainable}
    absent = [one for one in _absences(seen) if one.name in wanted and not _is_in(one, known)]
    gone = wanted if seen.fault else {one.name for one in absent}
    count = ImportCount(
        missing=seen.total if seen.fault else min(len(seen.missing), seen.total),
        total=seen.total,
        strict_missing=len(gone),
        strict_total=len(wanted),
        of_paper=manifest.imports == seen.total and not manifest.follows_checkout,
    )
    told = seen.fault or _absent_fault(absent)
    reason = told or "every third-party import resolves"
    return LevelResult(
        level=Level.C0,
        outcome=outcome_of(told is None),
        paper=outcome_of(not seen.missing and not seen.fault),
        reason="; ".join(filter(None, (reason, _wrong_total(manifest, seen)))),
        imports=count,
    )


def _wrong_total(manifest: Manifest, seen: ImportsObservation) -> str | None:
    """Return what is wrong with the declared total; None if it is right or left out."""
    if manifest.imports in (None, seen.total):
        return None
    return (
        f"the manifest says imports: {manifest.imports}, and {seen.total} were counted; correct it,"
        " or leave imports out"
    )


def _is_in(absent: Absent, modules: Collection[str]) -> bool:
    """Return whether an absent module is one of these modules, or a part of one."""
    return any(f"{absent.module}.".startswith(f"{module}.") for module in modules)


def _absences(seen: ImportsObservation) -> tuple[Absent, ...]:
    """Return the imports that were not found; older observations have only pyright's."""
    if seen.absent is not None:
        return seen.absent
    unfound = {*seen.missing, *seen.stub_only} - {*seen.editable}
    names = sorted({*unfound, *seen.hollow} & {*seen.third_party})
    return tuple(Absent(name=name, module=name, cause=Cause.NOT_INSTALLED) for name in names)


def _absent_fault(absent: list[Absent]) -> str | None:
    """Return the absent names by cause: each name once, under its first cause."""
    faults: list[str] = []
    told: set[str] = set()
    for cause, words in _CAUSES.items():
        shown = [one for one in absent if one.cause is cause and one.name not in told]
        told |= {one.name for one in shown}
        fault = list_names(words, sorted({one.module for one in shown}))
        faults += [fault] if fault else []
    return "; ".join(faults) or None


def unobserved_imports(manifest: Manifest, outcome: Outcome, reason: str) -> LevelResult:
    """Return C0 without an observation: everything counts as missing, never as found."""
    total = manifest.imports or 0
    count = ImportCount(
        missing=total,
        total=total,
        strict_missing=None,
        strict_total=None,
        of_paper=manifest.imports is not None and not manifest.follows_checkout,
    )
    return LevelResult(level=Level.C0, outcome=outcome, paper=outcome, reason=reason, imports=count)
