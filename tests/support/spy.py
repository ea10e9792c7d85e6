"""Looks for all that an agent must not see, and writes what it found; runs inside a sandbox."""

import json
import os
import re
import socket
import sys

LIMIT = 4 << 20
NETWORK = ("/proc/net/tcp", "/proc/net/tcp6", "/proc/net/unix", "/proc/net/route")


def main():
    """Write {"environment", "files", "found", "sockets", "mounts", ...} to the first argument."""
    needles = [bytes.fromhex(text) for text in sys.argv[2].split(",")]
    files, found = [], set()
    for path in everything():
        files.append(path)
        # The image's own programs, which nobody but root writes.
        if not path.startswith("/usr/"):
            text = content(path)
            if any(needle in text for needle in needles):
                found.add(path)
    seen = {
        "environment": dict(os.environ),
        # Too little of it to be taken out when it leaves.
        "key": os.environ["ASK_KEY"][:4],
        "environments": environments(),
        "files": files,
        "found": sorted(found),
        "sockets": [path for path in files if is_socket(path)],
        "mounts": content("/proc/self/mountinfo").decode(),
        "network": {path: content(path).decode("utf-8", "replace") for path in NETWORK},
        "reached": [place for place in PLACES if reaches(*place)],
        "descriptors": sorted(os.listdir("/proc/self/fd")),
        "processes": sorted(names()),
        "tools": sorted(os.listdir("/opt/reb")),
    }
    with open(sys.argv[1], "w") as stream:
        json.dump(seen, stream)


# The engine, the metadata service of a cloud, the runner's host, the world.
PLACES = [
    ["/var/run/docker.sock", 0],
    ["169.254.169.254", 80],
    ["172.17.0.1", 22],
    ["1.1.1.1", 443],
]


def everything():
    """Yield every file that this user can see, those of /proc included."""
    for top, folders, names in os.walk("/"):
        if top == "/":
            folders[:] = [name for name in folders if name != "sys"]
        if re.match(r"/proc/\d+/task/", top) or top.startswith("/proc/sys"):
            folders[:] = []
            continue
        for name in names:
            yield os.path.join(top, name)


def content(path):
    """Return the beginning of a file; what blocks or is forbidden is empty."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.read(handle, LIMIT)
    except OSError:
        return b""
    finally:
        os.close(handle)


def environments():
    """Return the environment of every process that lets itself be read, but this one."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        raw = content("/proc/%s/environ" % pid)
        if raw and int(pid) != os.getpid():
            found[pid] = raw.decode("utf-8", "replace").split("\0")
    return found


def names():
    """Yield the command line of every process."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        yield content("/proc/%s/cmdline" % pid).replace(b"\0", b" ").decode("utf-8", "replace")


def is_socket(path):
    """Say whether a path is a socket."""
    try:
        return os.stat(path).st_mode & 0o170000 == 0o140000
    except OSError:
        return False


def reaches(place, port):
    """Say whether somebody listens there."""
    try:
        if port == 0:
            call = socket.socket(socket.AF_UNIX)
            call.settimeout(3)
            call.connect(place)
        else:
            call = socket.create_connection((place, port), 3)
    except OSError:
        return False
    call.close()
    return True


if __name__ == "__main__":
    main()
