"""Checks manifests and counts what they measure."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from reb_action.corpus import manifests as corpus_manifests
from reb_action.model.manifest import Level, Manifest


def validated(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the valid manifests and their totals; raises DocumentError for the first fault."""
    manifests = [one for path in paths for one in _manifests(path)]
    yield "1 manifest is valid" if len(manifests) == 1 else f"{len(manifests)} manifests are valid"
    yield "          " + "  ".join(f"{level:>5}" for level in Level if level is not Level.C5)
    yield "paper     " + "  ".join(f"{count:>5}" for count in _paper(manifests))
    yield "strict    " + "  ".join(f"{count:>5}" for count in _strict(manifests))
    for one in manifests:
        for level, reason in sorted(one.paper_only.items()):
            yield f"{one.repository} {level} counts in paper only: {reason}"


def _manifests(path: Path) -> tuple[Manifest, ...]:
    return corpus_manifests.load_folder(path) if path.is_dir() else (corpus_manifests.load(path),)


def _paper(manifests: list[Manifest]) -> Iterator[int]:
    yield sum(one.import_total for one in manifests)
    for level in (Level.C1, Level.C2, Level.C3, Level.C4):
        yield sum(level not in one.not_applicable for one in manifests)


def _strict(manifests: list[Manifest]) -> Iterator[int]:
    yield len(manifests)
    for level in (Level.C1, Level.C2, Level.C3, Level.C4):
        left_out = sum(level in one.not_applicable or level in one.paper_only for one in manifests)
        yield len(manifests) - left_out
