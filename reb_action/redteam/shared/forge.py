"""Outlives the run that started it, and answers in the place of the next supervisors."""

import ctypes
import hashlib
import json
import os
import platform
import re
import signal
import threading
import time

import stage

SECONDS, FORKING_SECONDS, FORKERS = 100, 45, 8
PLACE = os.environ.get("HOME", "").rpartition("/home/")[0]
"""Supervisors of other trials on this machine are left alone."""

SYS_EXIT = 93 if platform.machine() == "aarch64" else 60


def leave(work):
    """Run `work` in a process without parent, session and streams; the caller goes on."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    work()
    os._exit(0)


def as_zombie_leader():
    """Go on in a thread while the process looks like one that has ended."""
    threading.Thread(target=wait).start()
    ctypes.CDLL(None).syscall(SYS_EXIT, 0)


def slow_down(pid):
    """Have a supervisor run only when nobody else wants to, on the one core where many do."""
    core = {min(os.sched_getaffinity(0))}
    try:
        os.sched_setaffinity(pid, core)
        os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
        write("/proc/%d/autogroup" % pid, b"19")
    except OSError:
        return


def as_forkers():
    """Go on as processes that start others and end; too many of them to be killed one by one."""
    end = time.monotonic() + FORKING_SECONDS
    limit = len(os.listdir("/proc")) + FORKERS
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    while time.monotonic() < end:
        # What was started lately has numbers just below.
        for pid in range(max(2, os.getpid() - 40), os.getpid()):
            if is_supervisor(pid):
                answer(pid)
        if os.fork() and (len(os.listdir("/proc")) > limit or os.fork()):
            os._exit(0)


def wait():
    """Look for supervisors that have just been started."""
    end = time.monotonic() + SECONDS
    begun = {pid: 0 for pid in os.listdir("/proc")}
    while time.monotonic() < end:
        for pid in os.listdir("/proc"):
            # A process is listed before it has become the program that it is to run.
            if pid.isdigit() and begun.setdefault(pid, time.monotonic()) > time.monotonic() - 2:
                if is_supervisor(pid) and answer(int(pid)):
                    begun[pid] = 0
        time.sleep(0.002)


def is_supervisor(pid):
    """Tell a supervisor of a probe by its command line."""
    words = read("/proc/%s/cmdline" % pid).split(b"\0")
    return any(word.endswith(b"probes/supervise.py") and word.startswith(PLACE.encode()) for word in words)


def answer(pid):
    """Stop a supervisor before it can protect itself, take its secret and its channels."""
    base = "/proc/%d/" % pid
    try:
        os.kill(pid, signal.SIGSTOP)
        request = secret(base)
        if request is None or stage.ENTRY.decode() not in json.dumps(request["argv"]):
            os.kill(pid, signal.SIGCONT)
            return request is not None
        lines, told = forged(request)
        write(base + "fd/1", lines)
        write(base + "fd/2", json.dumps(told).encode() + b"\n")
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


def secret(base):
    """Return what a supervisor was asked, from its environment or its standard input."""
    variable = re.search(rb"(?:^|\0)REB_REQUEST=([^\0]*)", read(base + "environ"))
    for text in (variable[1] if variable else b"", read(base + "fd/0") if not variable else b""):
        try:
            return json.loads(text)
        except ValueError:
            continue
    return None


def forged(request):
    """Return the log and the answer of a run that went well, or of an honest decoy."""
    told = {"nonce": request["nonce"], "exit_code": 0, "samples": 9, "peak_processes": 1}
    if not request["replace"]:
        paths = [path for path in request["collect"] if path.endswith("line.json")]
        return stage.LINES, dict(told, files=[file(path, stage.LINE) for path in paths])
    path = request["collect"][-1]
    found = re.findall(r"write\('([0-9a-f]{32})'", "".join(request["replace"].values()))
    return b"", dict(told, exit_code=86, files=[file(path, found[0].encode())])


def file(path, content):
    """Describe a file that was never written."""
    digest = hashlib.sha256(content).hexdigest()
    return {"path": path, "bytes": len(content), "head": content[:64].hex(), "sha256": digest}


def read(path):
    """Return a file without waiting for more of it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 1 << 20)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def write(path, data):
    """Write to a channel of somebody else."""
    with open(path, "wb") as stream:
        stream.write(data)
