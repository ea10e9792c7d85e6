"""Which processes of this machine a sandbox calls its own: what the GPU witness goes by."""

import os
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.support.sandbox_fixtures import shell


def pids_of(*argv):
    """Return the processes of this machine that were started with these very words."""
    wanted = "".join(f"{word}\0" for word in argv).encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [int(path.parent.name)] if path.read_bytes() == wanted else []
    return found


def test_own_processes_are_owned_also_without_the_environment(sandbox):
    script = "env -i /bin/sleep 3.25 & wait"
    thread = threading.Thread(target=shell, args=(sandbox, script))
    thread.start()
    deadline = time.monotonic() + 20
    while not (found := pids_of("/bin/sleep", "3.25")) and time.monotonic() < deadline:
        time.sleep(0.05)
    owned = [sandbox.owns(pid) for pid in found]
    thread.join()
    assert any(owned)


def test_other_processes_are_not_owned(sandbox):
    other = subprocess.Popen(["sleep", "30"])
    assert not sandbox.owns(other.pid)
    assert not sandbox.owns(os.getpid())
    other.kill()
    other.wait()
