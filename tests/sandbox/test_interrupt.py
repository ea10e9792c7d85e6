"""An interrupt waits for a call that has an effect, but not for ever."""

import signal
import time
from contextlib import contextmanager

import pytest

from reb_action.sandbox.interrupt import finish


@contextmanager
def interrupted_after(seconds):
    """Send this process a SIGINT, as Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_interrupt_comes_after_the_call():
    ended = []
    with interrupted_after(0.05), pytest.raises(KeyboardInterrupt):
        finish(lambda: (time.sleep(0.3), ended.append(True)), seconds=20)
    assert ended == [True]


def test_interrupt_does_not_wait_for_ever():
    began = time.monotonic()
    with interrupted_after(0.05), pytest.raises(KeyboardInterrupt):
        finish(lambda: time.sleep(3), seconds=0.1)
    assert time.monotonic() - began < 2


def test_passes_results_and_errors_on():
    assert finish(lambda: 7, seconds=1) == 7
    with pytest.raises(ZeroDivisionError):
        finish(lambda: 1 // 0, seconds=1)
