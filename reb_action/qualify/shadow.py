"""Finds the module of a repository that an entry point uses, for the sabotage by shadowing."""

from collections.abc import Iterator, Mapping
from typing import Final

from reb_action import imports
from reb_action.model.manifest import Level, Manifest

_VERSION: Final = (3, 11)


def shadow_of(manifest: Manifest, level: Level, sources: Mapping[str, bytes]) -> str | None:
    """Return the first name of the repository's own that a level's entry point imports.

    `sources` has the repository's counted files. A script may import nothing of its repository.
    """
    local = imports.owners(imports.Files(counted=sources), version=_VERSION).own
    entrypoint = manifest.entrypoints[level]
    started = [sources.get(entrypoint.decoy, b"")]
    started += [
        text.encode()
        for name, text in manifest.files.items()
        if any(f"{{files}}/{name}" in argument for argument in entrypoint.argv)
    ]
    return next((name for text in started for name in _in_order(text) if name in local), None)


def _in_order(text: bytes) -> Iterator[str]:
    """Yield the imported names, those of the module's own level before those of its functions."""
    for statement in imports.import_statements(text):
        yield from sorted(imports.imported_names(statement.encode()))
