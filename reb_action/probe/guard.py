"""Keeps the checkout as at the commit: restores it before each run, and compares it afterwards.

The content of a file cannot show an edit that was reverted before the run ended. Its change time
can: only the kernel sets it, so the run's user cannot reset it.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Final

from reb_action.model.agent import Change, Touched
from reb_action.model.observation import Interpreter
from reb_action.probe.context import ProbeContext
from reb_action.probe.survey import (
    Restored,
    Survey,
    describe_change,
    escape_path,
    protect,
    restore,
    survey,
)
from reb_action.sandbox.archive import Member, pack
from reb_action.source.pristine import Source
from reb_action.source.source_archive import pack_files

_CHANGES_LIMIT: Final = 200


def protect_tracked_files(context: ProbeContext, source: Source) -> None:
    """Keep every tracked file from the user of the runs, in a sandbox that can."""
    if context.sandbox.separates_users:
        protect(context, pack_files(source, [file.path for file in source.files]))


class GuardedCheckout:
    """The checkout of one level: restored when the guard is created, and after each run.

    `writes` are the tracked files that the entry point may change. `interpreter` runs it, and must
    not change after it was examined. `fault`: why no run is possible, because the checkout is not
    as at the commit, or the interpreter has changed.
    """

    def __init__(
        self,
        context: ProbeContext,
        source: Source,
        *,
        writes: tuple[str, ...],
        interpreter: Interpreter | None = None,
    ) -> None:
        self._context = context
        self._source = source
        self._writes = frozenset(writes)
        self._interpreter = interpreter
        seen = self._survey()
        first = restore(context, source, seen)
        self._take(first, seen)
        self.restored = first.touched

    def changes(self, *, besides: frozenset[str] = frozenset()) -> tuple[Touched, ...]:
        """Restore the tracked files that the last run changed, and return their names.

        `besides` are files that the harness itself changed.
        """
        before = self._stamps
        seen = self._survey()
        after = restore(self._context, self._source, seen)
        self._take(after, seen)
        ours = {escape_path(path) for path in self._writes | besides}
        changed = [*after.touched, *_put_back(self._source, before, seen)]
        return tuple(change for change in changed if change.path not in ours)[:_CHANGES_LIMIT]

    @contextmanager
    def replaced(self, path: str, text: str) -> Generator[None]:
        """Replace a tracked file by another text within the block, then restore the file."""
        executable = any(file.is_executable for file in self._source.files if file.path == path)
        stand_in = Member(path=path, content=text.encode(), executable=executable)
        protect(self._context, pack([stand_in]))
        try:
            yield
        finally:
            protect(self._context, pack_files(self._source, [path]))

    def _survey(self) -> Survey:
        python = self._interpreter.path if self._interpreter else None
        return survey(self._context, self._source, python=python)

    def _take(self, restored: Restored, seen: Survey) -> None:
        self._stamps = restored.stamps
        self.fault = restored.fault
        if self.fault is None and self._interpreter is not None:
            known, path = self._interpreter.identity, self._interpreter.path
            self.fault = describe_change(path, known, seen.interpreter)


def _put_back(source: Source, before: tuple[int, ...], seen: Survey) -> Iterator[Touched]:
    """Yield the files that are as at the commit and yet were changed since the last look."""
    touched = {index for index, _ in seen.touched}
    pairs = zip(before, seen.stamps, strict=False)
    for index, (stamp, now) in enumerate(pairs):
        if stamp != now and index not in touched:
            yield Touched(path=escape_path(source.files[index].path), change=Change.PUT_BACK)
