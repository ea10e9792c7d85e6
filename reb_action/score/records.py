"""Build scoreboards from records: which record of a trial counts, and which never meet."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from reb_action.model.contestant import Contestant
from reb_action.model.manifest import Level, contestant_of, trial_id
from reb_action.model.record import Edition, Record
from reb_action.model.scoreboard import Published, Scoreboard, TrialRow
from reb_action.score.board import score_rows
from reb_action.score.repositories import Repository, slug_of

OLDER: Final = 6
"""Records of a trial that are kept in addition to the one that counts: a week of nightly runs."""
GROUPS: Final = 4
"""Editions and definitions of a trial of which the record that counts is kept."""

Key = tuple[str, str, int]
"""A trial: the repository, the contestant's id and the attempt."""
Group = tuple[Edition, str]
"""Records with different values are never mixed: edition, digest of the contestant."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Generation:
    """A scoreboard of records that may be compared.

    Generation 0 of a scoring version has the newest edition of each repository, generation 1 the
    one before, and so on. `records` are those that count, by the trial's id on this board.
    """

    scoring: int
    number: int
    board: Scoreboard
    records: Mapping[str, Record]


def key_of(record: Record) -> Key:
    """Return which trial a record is of."""
    return record.repository, record.contestant, record.attempt


def choose(records: Iterable[Record]) -> Record:
    """Return the record that counts among those of one trial, edition and definition.

    The newest complete one counts. A run of fewer levels does not replace one of more, an
    incomplete or invalid record no complete one, and a trial without a verdict none with one.
    """
    return max(records, key=_rank)


def retain(records: Iterable[Record]) -> tuple[Record, ...]:
    """Return the records that a board keeps; see OLDER and GROUPS."""
    return tuple(record for of_trial in _by_key(records).values() for record in _retain(of_trial))


def make_generations(
    records: Iterable[Record], *, published: tuple[Published, ...] = ()
) -> tuple[Generation, ...]:
    """Return the scoreboards of all records, the newest first; `published` joins the first one."""
    layers: defaultdict[tuple[int, int], list[Record]] = defaultdict(list)
    for of_repository in _by_repository(records).values():
        for record, number in _number_editions(of_repository):
            layers[record.edition.scoring, number].append(record)
    order = sorted(layers, key=lambda layer: (-layer[0], layer[1]))
    return tuple(
        _make_generation(layers[layer], *layer, published=published if place == 0 else ())
        for place, layer in enumerate(order)
    )


def make_board(
    records: Iterable[Record], *, published: tuple[Published, ...] = ()
) -> tuple[Scoreboard, Mapping[str, Record]]:
    """Return the scoreboard of records of one edition for each repository, and those that count."""
    counting = [choose(group) for group in _by_group(records).values()]
    named = {trial: record for record, trial in _name_definitions(counting)}
    rows = [
        _rename_row(record.row, trial, record.digest)
        for trial, record in named.items()
        if record.row is not None
    ]
    levels = {level for row in rows for level in row.cells}
    board = score_rows(
        rows,
        {trial: record.absent or "" for trial, record in named.items() if record.row is None},
        levels=tuple(level for level in Level if level in levels) or tuple(Level),
        known=_known(named.values()),
        versions={trial: record.version for trial, record in named.items() if record.version},
        published=published,
    )
    return board, named


def _rank(record: Record) -> tuple[bool, bool, int, int, int]:
    levels = 0 if record.row is None else len(record.row.cells)
    order = record.run.order
    return record.complete, record.row is not None, levels, order.run_id, order.attempt


def _retain(records: Iterable[Record]) -> Iterator[Record]:
    counting = [choose(group) for group in _by_group(records).values()]
    kept = sorted(counting, key=_order, reverse=True)[:GROUPS]
    others = [record for record in records if record not in kept]
    yield from kept
    yield from sorted(others, key=_order, reverse=True)[:OLDER]


def _order(record: Record) -> tuple[int, int]:
    return record.run.order.run_id, record.run.order.attempt


def _make_generation(
    records: Iterable[Record], scoring: int, number: int, *, published: tuple[Published, ...]
) -> Generation:
    board, counting = make_board(records, published=published)
    return Generation(scoring=scoring, number=number, board=board, records=counting)


def _number_editions(records: Iterable[Record]) -> Iterator[tuple[Record, int]]:
    """Yield each record of one repository and scoring with its edition's age, 0 for the newest.

    A trial without a verdict makes no edition: without others of its edition it is of the newest.
    """
    newest: dict[Edition, tuple[bool, tuple[int, int]]] = {}
    for record in records:
        if record.row is not None:
            seen = newest.get(record.edition, (False, (0, 0)))
            newest[record.edition] = max(seen, (record.complete, _order(record)))
    ages = {
        edition: age
        for age, edition in enumerate(sorted(newest, key=lambda one: newest[one], reverse=True))
    }
    for record in records:
        yield record, ages.get(record.edition, 0)


def _by_key(records: Iterable[Record]) -> Mapping[Key, list[Record]]:
    every: defaultdict[Key, list[Record]] = defaultdict(list)
    for record in records:
        every[key_of(record)].append(record)
    return every


def _by_group(records: Iterable[Record]) -> Mapping[tuple[Key, Group], list[Record]]:
    """Group records by trial, edition and definition of the contestant.

    A record without a verdict has no digest of its contestant: it belongs to each definition of the
    trial, or to a separate group.
    """
    groups: defaultdict[tuple[Key, Group], list[Record]] = defaultdict(list)
    for record in records:
        if record.row is not None:
            groups[key_of(record), (record.edition, record.digest)].append(record)
    with_verdict = {key for key, _ in groups}
    for record in records:
        if record.row is None and key_of(record) not in with_verdict:
            groups[key_of(record), (record.edition, "")].append(record)
    return groups


def _by_repository(records: Iterable[Record]) -> Mapping[tuple[str, int], list[Record]]:
    every: defaultdict[tuple[str, int], list[Record]] = defaultdict(list)
    for record in records:
        every[record.repository, record.edition.scoring].append(record)
    return every


def _name_definitions(records: Iterable[Record]) -> Iterator[tuple[Record, str]]:
    """Yield each record with its trial's id; an earlier definition of a contestant gets its digest.

    So the badges and the row of an id are always those of its newest definition.
    """
    newest: dict[str, tuple[tuple[int, int], str]] = {}
    for record in records:
        if record.row is not None:
            mark = (_order(record), record.digest)
            newest[record.contestant] = max(newest.get(record.contestant, mark), mark)
    for record in records:
        digest = newest.get(record.contestant, ((0, 0), ""))[1]
        if record.row is None or record.digest in (digest, ""):
            yield record, record.trial
        else:
            name = f"{record.contestant}@{record.digest[:8]}"
            yield record, trial_id(slug_of(record.repository), name, record.attempt)


def _rename_row(row: TrialRow, trial: str, digest: str) -> TrialRow:
    """Return a row under the name of an earlier definition of its contestant."""
    if row.trial == trial:
        return row
    contestant = Contestant(id=contestant_of(trial), digest=digest)
    return replace(row, trial=trial, contestant=contestant)


def _known(records: Iterable[Record]) -> dict[str, Repository]:
    """Return the facts of each repository; those of a trial that observed its imports go first."""
    known: dict[str, Repository] = {}
    for record in records:
        slug = slug_of(record.repository)
        if slug not in known or len(record.imports) > len(known[slug].imports):
            known[slug] = Repository(
                inapplicable=frozenset(
                    (scoring, level)
                    for scoring, levels in record.inapplicable.items()
                    for level in levels
                ),
                imports=record.imports,
            )
    return known
