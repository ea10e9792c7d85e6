"""Judge C0: the imports of the repository."""

from reb_action.judge.rules import list_names, outcome_of
from reb_action.model.manifest import Level, Manifest, Outcome
from reb_action.model.observation import ImportsObservation, Observation
from reb_action.model.verdict import ImportCount, LevelResult


def judge_imports(manifest: Manifest, seen: Observation) -> LevelResult:
    """C0 holds when every third-party import resolves to an installed package."""
    assert isinstance(seen, ImportsObservation)  # noqa: S101
    if manifest.imports and not seen.files:
        return unobserved_imports(manifest, Outcome.INVALID, "no file was read")
    wanted = set(seen.third_party)
    unfound = {*seen.missing, *seen.stub_only} - {*seen.editable}
    absent = wanted if seen.fault else wanted & {*unfound, *seen.hollow}
    missing = manifest.imports if seen.fault else min(len(seen.missing), manifest.imports)
    count = ImportCount(
        missing=missing,
        total=manifest.imports,
        strict_missing=len(absent),
        strict_total=len(wanted),
    )
    told = seen.fault or list_names("not installed", sorted(absent))
    return LevelResult(
        level=Level.C0,
        outcome=outcome_of(told is None),
        paper=outcome_of(not seen.missing and not seen.fault),
        reason=told or "every third-party import resolves",
        imports=count,
    )


def unobserved_imports(manifest: Manifest, outcome: Outcome, reason: str) -> LevelResult:
    """Return C0 without an observation: everything counts as missing, never as found."""
    count = ImportCount(
        missing=manifest.imports, total=manifest.imports, strict_missing=None, strict_total=None
    )
    return LevelResult(level=Level.C0, outcome=outcome, paper=outcome, reason=reason, imports=count)
