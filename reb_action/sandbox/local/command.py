"""Runs one command under a supervisor and follows its two streams to the end or the deadline."""

import json
import os
import selectors
import subprocess
import sys
from dataclasses import dataclass
from typing import IO

from reb_action.errors import SandboxError
from reb_action.sandbox.capture import Capture
from reb_action.sandbox.local.isolation import SUPERVISE, Isolation
from reb_action.sandbox.local.processes import MARKER, SUPERVISOR
from reb_action.sandbox.protocol import Command
from reb_action.sandbox.wait import LOOK_SECONDS, Patience

_CHUNK_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Started:
    """A running command: its supervisor, its two streams, and the stream of its exit code."""

    supervisor: subprocess.Popen[bytes]
    streams: tuple[IO[bytes], IO[bytes], IO[bytes]]


def launch(
    command: Command, *, marker: str, mode: Isolation, folder: str, writable: str
) -> Started:
    """Start a command under a supervisor that carries the marker.

    With a mode that isolates, `folder` is read-only to it but for `writable` below.
    """
    env = {**command.env, **command.secret_env, MARKER: marker}
    order = json.dumps(
        {
            "argv": command.argv,
            "cwd": command.cwd,
            "env": env,
            "folder": folder,
            "writable": writable,
        }
    )
    (out, out_end), (err, err_end), (told, told_end) = os.pipe(), os.pipe(), os.pipe()
    order_end, input_end = _filled(order.encode()), _filled(command.stdin)
    try:
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(SUPERVISE), mode, str(order_end), str(told_end)],
            stdin=input_end,
            stdout=out_end,
            stderr=err_end,
            env={MARKER: marker, SUPERVISOR: mode},
            pass_fds=(order_end, told_end),
            start_new_session=True,
            cwd="/",
        )
    finally:
        for descriptor in (out_end, err_end, told_end, order_end, input_end):
            os.close(descriptor)
    streams = (os.fdopen(out, "rb"), os.fdopen(err, "rb"), os.fdopen(told, "rb"))
    return Started(supervisor=supervisor, streams=streams)


def follow(started: Started, out: Capture, err: Capture, *, patience: Patience) -> int | None:
    """Read the output until the command has ended; None if the deadline or a stop came first."""
    told = Capture(64, pass_on=None)
    with selectors.DefaultSelector() as selector:
        for stream, capture in zip(started.streams, (out, err, told), strict=True):
            selector.register(stream, selectors.EVENT_READ, capture)
        while selector.get_map() and patience.left_seconds > 0:
            for key, _ in selector.select(min(patience.left_seconds, LOOK_SECONDS)):
                _take(selector, key, patience)
            if told.kept():
                patience.end()
            patience.look()
    if not told.kept() and patience.left_seconds > 0:
        message = "The supervisor of a command in the local sandbox was killed, so how the command "
        raise SandboxError(message + "ended is not known; run the trial again, or use docker.")
    return int(told.kept()) if told.kept() else None


def let_go(started: Started) -> bool:
    """Close this side of the pipes; return whether the supervisor has ended."""
    for stream in started.streams:
        stream.close()
    try:
        started.supervisor.wait(timeout=0.1)
    except subprocess.TimeoutExpired:
        return False
    return True


def _take(selector: selectors.BaseSelector, key: selectors.SelectorKey, patience: Patience) -> None:
    data = os.read(key.fd, _CHUNK_BYTES)
    if data:
        patience.hear()
        key.data.feed(data)
    else:
        selector.unregister(key.fileobj)


def _filled(content: bytes) -> int:
    """Return a descriptor with this content, which can be read without blocking."""
    descriptor = os.memfd_create("reb")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
