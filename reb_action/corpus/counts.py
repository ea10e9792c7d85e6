"""Checks manifests and counts what they measure."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reb_action.corpus import manifests as corpus_manifests
from reb_action.corpus.reasons import list_unqualified_faults, list_weak_faults
from reb_action.corpus.validation import describe, place
from reb_action.errors import DocumentError
from reb_action.model.manifest import Level, Manifest
from reb_action.model.quantity import count
from reb_action.resources import data_folder


def list_faults(paths: Iterable[Path]) -> Iterator[str]:
    """Yield every fault of these manifests as `file:line: what is wrong`.

    Of the corpus also weak proofs and unqualified levels for which a manifest gives no reason.
    """
    for file in _list_files(paths):
        try:
            manifest, faults = corpus_manifests.read(file)
        except DocumentError as error:
            yield str(error)
            continue
        if manifest is not None and _is_of_corpus(file):
            problems = (*list_weak_faults(manifest), *list_unqualified_faults(manifest))
            faults = place(problems, file.read_bytes())
        yield from describe(file.name, faults)


def list_warnings(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the weak proofs of valid manifests outside the corpus, as `file:line: what is weak`.

    An owner decides what proves that the program ran, so they are no faults.
    """
    for file in _list_files(paths):
        if not _is_of_corpus(file):
            problems = tuple(list_weak_faults(corpus_manifests.load(file)))
            yield from describe(file.name, place(problems, file.read_bytes()))


def _list_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(path.glob("*.yaml")) if path.is_dir() else (path,)


def _is_of_corpus(file: Path) -> bool:
    return file.parent.resolve() == data_folder("repos").resolve()


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
