"""Facts about each repository that trials without a verdict need."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from reb_action.model.manifest import Level, Manifest, Outcome
from reb_action.model.verdict import Scoring, Verdict

Cell = tuple[Scoring, Level]


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """One repository: the levels that do not apply to it, and how many imports it has."""

    inapplicable: Collection[Cell] = frozenset()
    imports: Mapping[Scoring, int] = field(default_factory=dict[Scoring, int])


def known_of(verdicts: Iterable[Verdict], manifests: Iterable[Manifest]) -> dict[str, Repository]:
    """Return the facts about each repository, by slug; a verdict has priority over a manifest."""
    known = {one.slug: _by_manifest(one) for one in manifests}
    told: dict[str, Repository] = {}
    for one in verdicts:
        slug = slug_of(one.repository)
        # The strict total is known only if the imports were observed.
        if slug not in told or Scoring.STRICT not in told[slug].imports:
            told[slug] = _by_verdict(one)
    return {**known, **told}


def slug_of(repository: str) -> str:
    """Return `<owner>__<name>`, which begins a trial id."""
    return repository.replace("/", "__")


def _by_manifest(manifest: Manifest) -> Repository:
    never = {(scoring, level) for scoring in Scoring for level in manifest.not_applicable}
    ours = {(Scoring.STRICT, level) for level in manifest.paper_only}
    # A manifest that follows its checkout has no count before a trial has started.
    counts = {} if manifest.imports is None else {Scoring.PAPER: manifest.imports}
    return Repository(inapplicable=frozenset(never | ours), imports=counts)


def _by_verdict(verdict: Verdict) -> Repository:
    count = verdict.result(Level.C0).imports
    counts = {Scoring.PAPER: count.total, Scoring.STRICT: count.strict_total} if count else {}
    return Repository(
        inapplicable=frozenset(
            (scoring, one.level)
            for one in verdict.results
            for scoring in Scoring
            if one.by(scoring) is Outcome.NOT_APPLICABLE
        ),
        imports={scoring: total for scoring, total in counts.items() if total is not None},
    )
