"""Confines a command of a local sandbox, also of root, to the processes of its namespaces.

Imported by `supervise.py`, which creates the namespaces. The capabilities and the read-only folders
are those of Docker's default container, except for files: the machine's files stay accessible.
"""

import ctypes
import errno
import os

PR_CAPBSET_DROP = 24
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
CAPABILITIES = 64
CAPABILITY_VERSION = 0x20080522
# chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw,
# sys_chroot, mknod, audit_write, setfcap
KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_NOATIME, MS_NODIRATIME, MS_BIND, MS_RELATIME = 1024, 2048, 4096, 1 << 21
# Of a mount that a user namespace inherited, these cannot be taken away.
OPTIONS = {
    "nosuid": MS_NOSUID, "nodev": MS_NODEV, "noexec": MS_NOEXEC,
    "noatime": MS_NOATIME, "nodiratime": MS_NODIRATIME, "relatime": MS_RELATIME,
}  # fmt: skip
# Who writes here signals or freezes any process of the machine (sysrq, cgroups), or has the kernel
# run a program outside (core_pattern).
KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")
CLONE_NEWUSER = 0x10000000
# By architecture as the kernel names it: numbers of unshare, clone and clone3.
CALLS = {
    0xC000003E: (272, 56, 435), 0x40000003: (310, 120, 435),
    0xC00000B7: (97, 220, 435), 0x40000028: (337, 120, 435),
}  # fmt: skip

libc = ctypes.CDLL(None, use_errno=True)


def demand(result: int) -> None:
    """Raise the error of a call that failed."""
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def protect_places(folder: str | None, writable: str | None) -> None:
    """Make `folder` of the harness read-only except for `writable` in it, and the kernel's files.

    Both are folders of this machine, or None.
    """
    if folder is not None and writable is not None:
        _bind(folder)
        _remount(folder, MS_RDONLY)
        if writable.startswith(folder + "/"):
            _bind(writable)
            _remount(writable, 0)
    for place in KERNEL:
        if os.path.exists(place):  # noqa: PTH110 - pathlib costs 10 ms
            _bind(place)
            _remount(place, MS_RDONLY)
    points = _points("/sys")
    for point in points:
        # One that another mount hides fails, and cannot be reached.
        flags = MS_BIND | MS_REMOUNT | MS_RDONLY | _flags(point)
        libc.mount(None, os.fsencode(point), None, flags, None)
    for point in points:
        if os.path.exists(point) and not os.statvfs(point).f_flag & os.ST_RDONLY:  # noqa: PTH110
            raise OSError(errno.EACCES, f"{point} stays writable")


def drop_capabilities() -> None:
    """Keep no capability but those of Docker's default container, also through a new program."""
    for capability in range(CAPABILITIES):
        if capability not in KEPT:
            # Those that this kernel does not have cannot be dropped.
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    kept = sum(1 << capability for capability in KEPT)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    # Effective, permitted and inheritable, of the first 32 capabilities and then of the others.
    held = (ctypes.c_uint32 * 6)()
    demand(libc.capget(header, held))
    demand(libc.capset(header, (ctypes.c_uint32 * 6)(held[0] & kept, held[1] & kept, 0, 0, 0, 0)))


def forbid_user_namespaces() -> None:
    """Deny new user namespaces: inside one, any user has every capability.

    It may mount the machine's cgroups there, and signal all processes of the harness's own.
    """
    code = _filter()
    lines = (ctypes.c_uint64 * len(code))(*code)
    program = _Program(len(code), ctypes.addressof(lines))
    demand(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("lines", ctypes.c_void_p))


def _filter() -> list[int]:
    """Return a program of the kernel's packet filter that refuses calls with CLONE_NEWUSER.

    If clone3 is refused as unknown, C libraries use clone, and a filter can read its flags.
    """
    allow, refuse = _line(0x06, 0x7FFF0000), _line(0x06, 0x00050000 | errno.EPERM)
    unknown = _line(0x06, 0x00050000 | errno.ENOSYS)
    code: list[int] = []
    for architecture, (unshare, clone, clone3) in CALLS.items():
        code += [
            _line(0x20, 4),
            _line(0x15, architecture, 0, 10),
            _line(0x20, 0),
            # The bit of the x32 calls.
            _line(0x54, 0xBFFFFFFF),
            _line(0x15, unshare, 2, 0),
            _line(0x15, clone, 1, 0),
            _line(0x15, clone3, 4, 3),
            _line(0x20, 16),
            _line(0x45, CLONE_NEWUSER, 0, 1),
            refuse,
            allow,
            unknown,
        ]
    return [*code, allow]


def _line(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> int:
    return operation | if_true << 16 | if_false << 24 | value << 32


def _bind(place: str) -> None:
    demand(libc.mount(place.encode(), place.encode(), None, MS_BIND, None))


def _remount(point: str, read_only: int) -> None:
    flags = MS_BIND | MS_REMOUNT | read_only | _flags(point)
    demand(libc.mount(None, os.fsencode(point), None, flags, None))


def _flags(point: str) -> int:
    options = [line[5].split(b",") for line in _mounts() if _unescape(line[4]) == point][-1]
    return sum(flag for name, flag in OPTIONS.items() if name.encode() in options)


def _points(place: str) -> list[str]:
    """Return a mount point and all that are below it."""
    points = [_unescape(line[4]) for line in _mounts()]
    return [one for one in dict.fromkeys(points) if one == place or one.startswith(place + "/")]


def _mounts() -> list[list[bytes]]:
    with open("/proc/self/mountinfo", "rb") as stream:  # noqa: PTH123 - pathlib costs 10 ms
        return [line.split(b" ") for line in stream.read().splitlines()]


def _unescape(path: bytes) -> str:
    parts = path.split(b"\\")
    rest = (bytes([int(part[:3], 8)]) + part[3:] for part in parts[1:])
    return os.fsdecode(parts[0] + b"".join(rest))
