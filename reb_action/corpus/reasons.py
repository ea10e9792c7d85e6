"""Asks a manifest for its reasons: of each weak proof that it keeps, and each unqualified level."""

from collections.abc import Iterator

from reb_action.corpus.qualification import is_qualified
from reb_action.corpus.weak_proofs import WeakProof, list_weak_proofs
from reb_action.documents import Problem
from reb_action.model.manifest import Level, Manifest


def list_weak_faults(manifest: Manifest) -> Iterator[Problem]:
    """Yield the weak proofs without a reason in `weak_proofs`, and its reasons without one."""
    weak = tuple(list_weak_proofs(manifest))
    for one in weak:
        if one.form not in manifest.weak_proofs.get(one.level, {}):
            yield _describe_weak(one)
    found = {(one.level, one.form) for one in weak}
    for level, reasons in manifest.weak_proofs.items():
        for form in reasons:
            if (level, form) not in found:
                at = ("weak_proofs", str(level), str(form))
                text = f"{'.'.join(at)}: no proof of {level} has this form; remove the reason"
                yield Problem(at=at, text=text)


def _describe_weak(weak: WeakProof) -> Problem:
    at = ("entrypoints", str(weak.level), "proofs")
    index = () if weak.index is None else (weak.index,)
    name = ".".join(map(str, (*at, *index)))
    reason = f"or give the reason as weak_proofs.{weak.level}.{weak.form}"
    return Problem(at=(*at, *index), text=f"{name}: weak: {weak.clause}, {reason}")


def list_unqualified(manifest: Manifest) -> tuple[Level, ...]:
    """Return the levels with an entry point that are not qualified."""
    return tuple(level for level in manifest.entrypoints if not is_qualified(manifest, level))


def list_unqualified_faults(manifest: Manifest) -> Iterator[Problem]:
    """Yield the unqualified levels without a reason, and the qualified ones with one."""
    unqualified = list_unqualified(manifest)
    for level in unqualified:
        if level not in manifest.not_qualified:
            text = f"{level} is not qualified; say in not_qualified.{level} why, and what it takes"
            yield Problem(at=("entrypoints", str(level)), text=f"entrypoints.{level}: {text}")
    for level in manifest.not_qualified:
        if level not in unqualified:
            at = ("not_qualified", str(level))
            yield Problem(at=at, text=f"{'.'.join(at)}: {level} is qualified; remove the reason")
