"""Finds the qualified cells, from the records in the folder of the manifests."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, cast

from reb_action import documents
from reb_action.documents import Json
from reb_action.model.limits import Limits
from reb_action.model.manifest import Level, Manifest, Outcome
from reb_action.model.qualification import Qualification
from reb_action.resources import data_folder

_SEEN: Final = (Outcome.PASSED, Outcome.FAILED)
# Keys of an entry point that are newer than the first records. With its default such a key changes
# nothing about a run, so it must not change the hash of a run that was recorded without it.
_LATER_KEYS: Final[Mapping[str, Json]] = {"writes": []}


def is_qualified(manifest: Manifest, level: Level) -> bool:
    """Return whether a level of this manifest is qualified.

    A record does not hold for other code or for another entry point.
    """
    record = find_record(manifest, level)
    return record is not None and holds(record)


def find_record(manifest: Manifest, level: Level) -> Qualification | None:
    """Return the record of a level of this manifest; None if there is none."""
    path = record_of(manifest.repository, level)
    # Search the list instead of opening a path: an artifact may name any repository.
    if level not in qualifiable(manifest) or path not in path.parent.glob("*.json"):
        return None
    record = documents.read(path, Qualification, kind="qualification")
    return record if record.run == run_of(manifest, level) else None


def qualifiable(manifest: Manifest) -> frozenset[Level]:
    """Return the levels that can be qualified: runs, and C0 if its requirements are listed."""
    listed = manifest.oracle is not None and manifest.oracle.imports is not None
    return frozenset({*manifest.entrypoints, *((Level.C0,) if listed else ())})


def unqualified(manifest: Manifest) -> frozenset[Level]:
    """Return the levels that are not qualified, of C0 and the runs: their numbers are marked."""
    levels = (Level.C0, *manifest.entrypoints)
    return frozenset(level for level in levels if not is_qualified(manifest, level))


def holds(record: Qualification) -> bool:
    """Return whether a cell passed in its right environment and failed in every wrong one.

    Blocked is not failed: then the environment was not built, and the control says nothing.
    """
    spoiled = all(control.outcome is Outcome.FAILED for control in record.negatives)
    return record.positive.outcome is Outcome.PASSED and bool(record.negatives) and spoiled


def is_seen(record: Qualification) -> bool:
    """Return whether a cell passed in its correct environment and failed in wrong ones."""
    told = all(control.outcome in _SEEN for control in record.negatives)
    return record.positive.outcome is Outcome.PASSED and told


def find_limits(manifest: Manifest, levels: Iterable[Level]) -> dict[Level, Limits]:
    """Return the limits within which the known-good environment passed, of qualified levels."""
    records = {level: find_record(manifest, level) for level in levels}
    return {
        level: record.limits
        for level, record in records.items()
        if record is not None and record.limits is not None and holds(record)
    }


def record_of(repository: str, level: Level) -> Path:
    """Return the path of the record of a cell."""
    slug = repository.replace("/", "__")
    return data_folder("repos") / "qualified" / f"{slug}.{level}.json"


def run_of(manifest: Manifest, level: Level) -> str:
    """Return the SHA-256 of everything that defines a level.

    That is the commit, the entry point, the files, the assets and the required frameworks; at C0
    the commit and the names that it does not require.
    """
    if level is Level.C0:
        parts = (manifest.commit, manifest.unobtainable)
        return hashlib.sha256(documents.dump_json(documents.to_json(parts))).hexdigest()
    entrypoint = cast(dict[str, Json], documents.to_json(manifest.entrypoints[level]))
    for name, default in _LATER_KEYS.items():
        if entrypoint[name] == default:
            del entrypoint[name]
    parts = (manifest.commit, entrypoint, manifest.files, manifest.assets, manifest.frameworks)
    return hashlib.sha256(documents.dump_json(documents.to_json(parts))).hexdigest()
