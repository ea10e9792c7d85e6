"""Checks manifests and counts what they measure."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reb_action.corpus import manifests as corpus_manifests
from reb_action.corpus.validation import describe
from reb_action.errors import DocumentError
from reb_action.model.manifest import Level, Manifest
from reb_action.model.quantity import count


def list_faults(paths: Iterable[Path]) -> Iterator[str]:
    """Yield every fault of these manifests as `file:line: what is wrong`."""
    for path in paths:
        for file in sorted(path.glob("*.yaml")) if path.is_dir() else (path,):
            try:
                _, faults = corpus_manifests.read(file)
            except DocumentError as error:
                yield str(error)
            else:
                yield from describe(file.name, faults)


def count_levels(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the number of manifests and their totals; raises DocumentError for the first fault."""
    manifests = [one for path in paths for one in _manifests(path)]
    valid = "is valid" if len(manifests) == 1 else "are valid"
    yield f"{count(len(manifests), 'manifest')} {valid}"
    yield "          " + "  ".join(f"{level:>5}" for level in Level if level is not Level.C5)
    yield "paper     " + "  ".join(f"{total:>5}" for total in _paper(manifests))
    yield "strict    " + "  ".join(f"{total:>5}" for total in _strict(manifests))
    for one in manifests:
        for level, reason in sorted(one.paper_only.items()):
            yield f"{one.repository} {level} counts in paper only: {reason}"


def _manifests(path: Path) -> tuple[Manifest, ...]:
    return corpus_manifests.load_folder(path) if path.is_dir() else (corpus_manifests.load(path),)


def _paper(manifests: Sequence[Manifest]) -> Iterator[int | str]:
    declared = [one.imports for one in manifests if one.imports is not None]
    yield sum(declared) if declared else "-"
    for level in (Level.C1, Level.C2, Level.C3, Level.C4):
        yield sum(level not in one.not_applicable for one in manifests)


def _strict(manifests: Sequence[Manifest]) -> Iterator[int]:
    yield len(manifests)
    for level in (Level.C1, Level.C2, Level.C3, Level.C4):
        left_out = sum(level in one.not_applicable or level in one.paper_only for one in manifests)
        yield len(manifests) - left_out
