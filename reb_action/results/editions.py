"""The editions of repositories: trials are compared only if they have the same one."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Final, cast

from reb_action.corpus import manifests
from reb_action.errors import RebError
from reb_action.model.manifest import SELF, Manifest
from reb_action.model.plan import Plan
from reb_action.model.record import SCORING_VERSION, Edition, Record
from reb_action.score.repositories import slug_of

_DECIDING: Final = (
    *("commit", "imports", "frameworks", "entrypoints", "not_applicable", "paper_only"),
    *("assets", "files", "unobtainable"),
)
"""Keys of a manifest that decide an outcome; its domain and its oracle do not."""
_OF_CHECKOUT: Final = ("commit", "imports")


def find_editions(records: tuple[Record, ...], plan: Plan) -> frozenset[Edition]:
    """Return the editions of a run: those of its records, and of repositories that have none.

    A run that ended early has no record of a repository whose trials it left out.
    """
    recorded = {slug_of(record.repository) for record in records}
    absent = {one.repository for one in plan.trials if one.id.rsplit(".", 2)[0] not in recorded}
    found = (manifest for name in absent if (manifest := find_manifest(name)) is not None)
    return frozenset({record.edition for record in records} | {edition_of(one) for one in found})


def digest_manifest(manifest: Manifest) -> str:
    """Return the SHA-256 of all in a manifest that decides an outcome.

    What the checkout decides does not count where the manifest follows it.
    """
    keys = [key for key in _DECIDING if not (_follows(manifest) and key in _OF_CHECKOUT)]
    deciding = {key: _plain(getattr(manifest, key)) for key in keys}
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()


def edition_of(manifest: Manifest) -> Edition:
    """Return the edition of trials with this manifest that are judged by this reb.

    All commits of a manifest that follows its checkout have one edition: they are to be compared.
    """
    digest = digest_manifest(manifest)
    commit = SELF if _follows(manifest) else manifest.commit
    return Edition(scoring=SCORING_VERSION, commit=commit, manifest=digest)


def find_manifest(repository: str) -> Manifest | None:
    """Return the manifest of a repository of the corpus or of a file; None if there is none."""
    try:
        return manifests.find(repository)
    except RebError:
        # A manifest file of the caller's repository, which is not checked out here.
        return None


def _follows(manifest: Manifest) -> bool:
    return manifest.follows_checkout or manifest.commit == SELF


def _plain(value: object) -> object:
    """Return a part of a manifest as plain JSON, without defaults.

    A key that a later release adds to entry points must not change the digest of manifests that
    do not use it.
    """
    if isinstance(value, Mapping):
        return {
            str(key): _plain(item) for key, item in cast(Mapping[object, object], value).items()
        }
    if isinstance(value, tuple):
        return [_plain(item) for item in cast(tuple[object, ...], value)]
    if dataclasses.is_dataclass(value):
        return {
            field.name: _plain(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if getattr(value, field.name) != field.default
        }
    return value
