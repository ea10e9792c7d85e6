"""Merges a run into the board: the files to write, so that no row and no other file is lost."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from reb_action.errors import GitHubError
from reb_action.model.manifest import Level, Outcome
from reb_action.model.record import History, HistoryEntry, Passed, Record, RecordedRun
from reb_action.results import records as files_of
from reb_action.score import records as scores

MARKER: Final = ".researchenvbench-board"
OLD_MARKER: Final = ".researchenvbench-run"
"""Marks a board of before there were records: it names the only run that the board has."""
HISTORY: Final = files_of.HISTORY
REMOVED: Final = "removed.txt"
ENTRIES: Final = 1000
"""Publications that the history keeps: about 0.4 MB with three contestants."""
_OUTCOMES: Final = (Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """A board after a run was merged into it: its records by path, and its history."""

    records: Mapping[str, Record]
    history: History


def demand_board(paths: Iterable[str], branch: str) -> None:
    """Raise GitHubError if a branch with these files is not a board: nothing is written to it."""
    if not {MARKER, OLD_MARKER} & set(paths):
        raise GitHubError(
            f"the branch {branch!r} exists and is not a leaderboard of reb (it has no {MARKER});"
            " rename or delete it, or choose another `key`"
        )


def merge(
    before: Iterable[Record],
    run: Iterable[Record],
    history: History,
    *,
    stamp: RecordedRun,
    removed: str = "",
) -> Merged:
    """Return the board with the records of a run.

    A record of the same run and trial is replaced, so publishing twice changes nothing.
    """
    kept = {files_of.name_record(record): record for record in before}
    added = {files_of.name_record(record): record for record in run}
    wanted = [record for record in {**kept, **added}.values() if not is_removed(record, removed)]
    retained = {files_of.name_record(record): record for record in scores.retain(wanted)}
    _demand_kept(wanted, retained)
    entry = _entry(added, retained, stamp)
    others = [one for one in history.entries if one.run.order != stamp.order]
    return Merged(records=retained, history=History(entries=(*others, entry)[-ENTRIES:]))


def is_removed(record: Record, removed: str) -> bool:
    """Return whether removed.txt has a record: by a trial's id or pattern, perhaps a run's id."""
    for line in removed.splitlines():
        words = line.split("#", 1)[0].split()
        names_run = len(words) == 1 or words[1:2] == [str(record.run.order.run_id)]
        if words and names_run and fnmatchcase(record.trial, words[0]):
            return True
    return False


def stamp_of(record_run: RecordedRun, before: Iterable[Record]) -> RecordedRun:
    """Return the run with the time of its first publication, if it was published before."""
    same = (record.run for record in before if record.run.order == record_run.order)
    return next(same, record_run)


def _demand_kept(wanted: Iterable[Record], retained: Mapping[str, Record]) -> None:
    """Raise GitHubError if the merge would lose a trial: the push replaces the whole branch."""
    lost = {scores.key_of(record) for record in wanted} - set(map(scores.key_of, retained.values()))
    if lost:
        raise GitHubError(f"the merge would lose {len(lost)} trials, so nothing is written")


def _entry(
    added: Mapping[str, Record], retained: Mapping[str, Record], stamp: RecordedRun
) -> HistoryEntry:
    counting: set[str] = set()
    for generation in scores.make_generations(retained.values()):
        counting.update(map(files_of.name_record, generation.records.values()))
    return HistoryEntry(
        run=stamp,
        added=len(added),
        superseded=sum(path not in counting for path in added),
        incomplete=sum(not record.complete for record in added.values()),
        counts=_counts(added.values()),
    )


def _counts(records: Iterable[Record]) -> dict[str, dict[Level, Passed]]:
    outcomes: defaultdict[str, defaultdict[Level, list[Outcome]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for record in records:
        for level, cell in () if record.row is None else record.row.cells.items():
            if cell.outcome in _OUTCOMES:
                outcomes[record.contestant][level].append(cell.outcome)
    return {
        name: {
            level: Passed(passed=seen.count(Outcome.PASSED), counted=len(seen))
            for level, seen in sorted(levels.items())
        }
        for name, levels in sorted(outcomes.items())
    }
