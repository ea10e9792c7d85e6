"""A program that uses up a container's memory so that the kernel ends even its process 1."""

import base64
import struct

_BASE = 0x400000
_HEADERS_BYTES = 120

# for (;;) { id = shmget(0, 256 KiB, 0600 | IPC_CREAT); at = shmat(id); touch each page; shmdt(at) }
_BEFORE_JUMP = "31ff be00000400 ba80030000 b81d000000 0f05 89c7 31f6 31d2 b81e000000 0f05 4885c0"
_TOUCH = "4889c7 b940000000 c60701 4881c700100000 ffc9 75f2 4889c7 b843000000 0f05"


def eat_memory() -> str:
    """Return a line of shell that fills the memory with detached shared memory, on x86-64.

    It belongs to no process, and this one is smaller than `sleep`, so the kernel ends all others.
    """
    text = base64.b64encode(_program()).decode()
    return f"echo {text} | base64 -d > /tmp/eat; chmod +x /tmp/eat; exec /tmp/eat"


def _program() -> bytes:
    before, touch = (bytes.fromhex(part) for part in (_BEFORE_JUMP, _TOUCH))
    # js and jmp, both to the begin.
    code = before + b"\x78" + struct.pack("b", -(len(before) + 2)) + touch
    code += b"\xeb" + struct.pack("b", -(len(code) + 2))
    size = _HEADERS_BYTES + len(code)
    entry = _BASE + _HEADERS_BYTES
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, entry, 64, 0, 0, 64, 56, 1, 0, 0, 0
    )
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0, _BASE, _BASE, size, size, 4096) + code
