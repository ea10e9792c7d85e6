"""Carries connections from a loopback port of a sandbox to a socket of the harness.

Started as `python -I -S - PORT SOCKET` with this text as standard input, so that nothing of it
lies in the sandbox. Returns as soon as it listens, and continues in the background.
Standard library only, Python 3.8 syntax: it runs in the sandbox's own Python.
"""

import ctypes
import os
import socket
import sys
import threading
import time

PR_SET_NAME = 15
NAME = b"reb-forward"
CHUNK_BYTES = 64 * 1024
PAUSE_SECONDS = 0.05


def main() -> None:
    """Listen, then leave; a child joins every connection with a new one to the socket."""
    server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
    if os.fork():
        return
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    ctypes.CDLL(None).prctl(PR_SET_NAME, NAME, 0, 0, 0)
    while True:
        welcome(server, sys.argv[2])


def welcome(server: socket.socket, path: str) -> None:
    """Take one connection; one that the limits of the sandbox forbid is closed, and only that."""
    try:
        near, _ = server.accept()
    except OSError:
        time.sleep(PAUSE_SECONDS)
        return
    try:
        threading.Thread(target=join, args=(near, path), daemon=True).start()
    except RuntimeError:
        near.close()


def join(near: socket.socket, path: str) -> None:
    """Copy both ways until each side has closed its output; an error closes both."""
    try:
        with near, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as far:
            far.connect(path)
            back = threading.Thread(target=copy, args=(far, near), daemon=True)
            back.start()
            copy(near, far)
            back.join()
    except (OSError, RuntimeError):
        return


def copy(source: socket.socket, target: socket.socket) -> None:
    """Copy one way, then close the output of the other side."""
    try:
        data = source.recv(CHUNK_BYTES)
        while data:
            target.sendall(data)
            data = source.recv(CHUNK_BYTES)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        # The other side has closed: end both, so that neither waits forever.
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


if __name__ == "__main__":
    main()
