"""Lets a call come to its end when an interrupt arrives, so that its effect can be undone."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Call(threading.Thread, Generic[T]):
    def __init__(self, call: Callable[[], T]) -> None:
        super().__init__(daemon=True)
        self._call = call
        self.results: list[T] = []
        self.error: BaseException | None = None
        self.has_ended = threading.Event()

    def run(self) -> None:
        try:
            self.results.append(self._call())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is awaited
            self.error = error
        finally:
            self.has_ended.set()


def finish(call: Callable[[], T], *, seconds: float) -> T:
    """Return what `call` returns; an interrupt is raised when the call has ended.

    It waits no longer than `seconds` for that. Otherwise an engine would finish a request of which
    the caller, which has to undo it, does not know the result yet.
    """
    running = _Call(call)
    running.start()
    try:
        running.has_ended.wait()
    except BaseException:
        running.has_ended.wait(seconds)
        raise
    if running.error is not None:
        raise running.error
    return running.results[0]
