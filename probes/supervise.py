"""Runs one command of the sandbox, ends all its processes, and reports what it observed.

Run by the sandbox's own trusted interpreter, never by the agent's: `python3 -I -S supervise.py`.
The request is JSON on standard input: nonce, argv, cwd, env, timeout_seconds, out, collect,
answer, libraries, outside (the harness's namespaces). The answer is one line of JSON on standard
error; the command's two streams both go to standard output. This process protects itself before it
reads the request: from then on no other process of its user can trace it, read its memory or open
its descriptors, so nothing that it starts can read the nonce or write to that channel.
"""

import ctypes
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

# The interpreter runs isolated, so the folder of the probes is not on its path.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from run_files import answer_of, described, fresh, matches, same  # noqa: E402

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER, IPC_RMID = 4, 36, 0
NAMES_LIMIT, END_SECONDS = 100, 15
libc = ctypes.CDLL(None)


def descendants():
    """Return {pid: (parent, is alive, cpu ticks, resident pages)} of all that descends from this.

    A process of which only the main thread has ended shows state Z; its other threads run on.
    """
    found, me = {}, os.getpid()
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as stream:
                    fields = stream.read().rpartition(b")")[2].split()
            except OSError:
                continue
            ticks = int(fields[11]) + int(fields[12])
            alive = fields[0] not in (b"Z", b"X") or int(fields[17]) > 1
            found[int(name)] = (int(fields[1]), alive, ticks, int(fields[21]))
    ours, grown = {me}, True
    while grown:
        more = {pid for pid, seen in found.items() if seen[0] in ours} - ours
        ours, grown = ours | more, bool(more)
    return {pid: found[pid] for pid in ours - {me}}


def libraries(pids, pattern, known):
    """Add to `known` {path: size} the mapped files with a matching name, if maps are readable."""
    for pid in pids:
        try:
            with open("/proc/%d/maps" % pid, "rb") as stream:
                paths = {line.split(None, 5)[-1].strip() for line in stream if b"/" in line}
        except OSError:
            continue
        for path in (raw.decode("utf-8", "replace") for raw in paths):
            if path not in known and pattern.search(os.path.basename(path)) and len(known) < 100:
                try:
                    known[path] = os.stat(path).st_size
                except OSError:
                    continue


def is_apart(kind, outside):
    """Return whether a namespace is not the harness's, so that all in it may be ended."""
    try:
        return os.readlink("/proc/self/ns/" + kind) != outside[kind]
    except OSError:
        return False


def end_all(outside):
    """Kill and reap every descendant; return the names of those that outlived the main process.

    In a PID namespace other than the harness's no process is spared: one call ends all processes
    that this user may end, and no process can escape it by forking. As root of a container this
    would also end the processes that keep the container. There only the descendants are ended, and
    the engine ends the rest.
    """
    keeps = os.getuid() == 0 and name_of(1) in ("docker-init", "tini")
    alone = is_apart("pid", outside) and not keeps
    names, deadline = set(), time.monotonic() + END_SECONDS
    while True:
        alive = [pid for pid, seen in descendants().items() if seen[1]]
        names.update(name_of(pid) for pid in alive[: NAMES_LIMIT - len(names)])
        for pid in [-1] if alone else alive:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                continue
        if reap(deadline):
            return sorted(names)
        if time.monotonic() > deadline:
            return [*sorted(names), "(not ended)"]
        # New processes may have been forked meanwhile: check again immediately.
        if alone or not alive:
            time.sleep(0.01)


def name_of(pid):
    """Return the name of a process, or a placeholder if it has just ended."""
    try:
        with open("/proc/%d/comm" % pid, "rb") as stream:
            return stream.read().strip().decode("utf-8", "replace")
    except OSError:
        return "(ended)"


def reap(deadline):
    """Reap the ended children; return whether no child is left."""
    while time.monotonic() < deadline:
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                return False
        except ChildProcessError:
            return True
    return False


def shared_memory():
    """Return [(kind, number or path)] of what outlives processes in memory, System V and POSIX."""
    folders = [folder for folder in ("/dev/shm", "/dev/mqueue") if os.path.isdir(folder)]
    found = [("file", os.path.join(one, name)) for one in folders for name in os.listdir(one)]
    for kind in ("shm", "msg", "sem"):
        with open("/proc/sysvipc/" + kind) as stream:
            found += [(kind, int(line.split()[1])) for line in stream.readlines()[1:]]
    return found


def drop_shared_memory(outside):
    """Remove shared memory and message queues; return whether none is left.

    Only in an IPC namespace other than the harness's: elsewhere they may belong to other programs.
    """
    try:
        for kind, which in shared_memory() if is_apart("ipc", outside) else ():
            if kind == "file":
                os.unlink(which)
            elif kind == "sem":
                libc.semctl(which, 0, IPC_RMID)
            else:
                getattr(libc, kind + "ctl")(which, IPC_RMID, None)
        return not is_apart("ipc", outside) or not shared_memory()
    except OSError:
        return False


def watch(child, request):
    """Wait for the child or its deadline, and sample meanwhile; returns the samples."""
    pattern, known = re.compile(request["libraries"]), {}
    begun, samples, most, memory, mapped_at = time.monotonic(), 0, 0, 0, 0.0
    shm_full = False
    page = os.sysconf("SC_PAGE_SIZE")
    while child.poll() is None:
        now = time.monotonic() - begun
        if now > request["timeout_seconds"]:
            break
        alive = descendants()
        samples, most = samples + 1, max(most, len(alive))
        memory = max(memory, sum(seen[3] for seen in alive.values()) * page)
        shm_full = shm_full or is_full("/dev/shm")
        if now - mapped_at > min(0.2 + now / 20, 2.0):
            libraries(alive, pattern, known)
            mapped_at = now
        time.sleep(min(0.05 + now / 40, 0.5))
    return {
        "seconds": time.monotonic() - begun,
        "timed_out": child.poll() is None,
        "samples": samples,
        "peak_processes": most,
        "peak_memory_mib": memory >> 20,
        # A short run may fill it and end between two samples; its files are still there.
        "shm_full": shm_full or is_full("/dev/shm"),
        "libraries": sorted(known.items()),
    }


def is_full(folder):
    """Return whether less than a hundredth of a file system is free."""
    try:
        seen = os.statvfs(folder)
    except OSError:
        return False
    return 100 * seen.f_bfree < seen.f_blocks


def run(request):
    """Run the request and return the answer."""
    existing = {}
    try:
        fresh(request["out"])
        existing = matches(request["collect"])
        child = subprocess.Popen(
            request["argv"], cwd=request["cwd"], env=request["env"], stdin=subprocess.DEVNULL,
            stdout=1, stderr=1, start_new_session=True, close_fds=True)  # fmt: skip
    except (OSError, ValueError) as error:
        seen = {"error": "%s: %s" % (type(error).__name__, error)}
    else:
        seen = watch(child, request)
        seen["survivors"] = end_all(request["outside"])
        code = child.wait()
        seen["exit_code"] = None if seen["timed_out"] else code
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    seen["cpu_seconds"] = usage.ru_utime + usage.ru_stime
    found = matches(request["collect"]).items()
    seen["files"] = [described(p, s) for p, s in found if not same(existing.get(p), s)]
    seen["answer"] = answer_of(request["answer"])
    seen["memory_dropped"] = drop_shared_memory(request["outside"])
    return dict(seen, nonce=request["nonce"])


if __name__ == "__main__":
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Only now is there anything to steal.
    asked = json.loads(sys.stdin.buffer.read())
    sys.stderr.write(json.dumps(run(asked)) + "\n")
