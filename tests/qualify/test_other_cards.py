"""Kernels are found in a library wherever they are, and all of them are changed, in a copy."""

import struct
import subprocess
import sys

import pytest

from reb_action.qualify import other_cards


def entry(architecture, payload):
    head = other_cards.ENTRY.pack(2, 1, 64, len(payload), 0, 0, 0, 0, architecture)
    return head.ljust(64, b"\0") + payload


def fat_binary(*entries):
    text = b"".join(entries)
    return other_cards.HEADER.pack(other_cards.MAGIC, 1, 16, len(text)) + text


def library(*architectures):
    """Return three fat binaries between other things; one has a magic number in a kernel."""
    one, two, three = architectures
    first = fat_binary(entry(one, b"kernel"), entry(two, other_cards.MAGIC + b"inside"))
    return b"\x7fELF" + first + b"between" + fat_binary(entry(three, b"")) + fat_binary() + b"end"


def test_every_kernel_and_nothing_else_is_changed():
    text = bytearray(library(75, 90, 120))
    assert other_cards.change(text) == 3
    assert text == library(*[other_cards.NO_CARD] * 3)


def test_what_a_link_points_to_stays(tmp_path):
    right, link = tmp_path / "right.so", tmp_path / "link.so"
    right.write_bytes(library(75, 90, 120))
    link.symlink_to(right)
    other_cards.main(link)
    assert (link.is_symlink(), right.read_bytes()) == (False, library(75, 90, 120))
    assert link.read_bytes() == library(*[other_cards.NO_CARD] * 3)


def test_a_library_without_kernels_is_refused_and_stays(tmp_path):
    path = tmp_path / "lib.so"
    path.write_bytes(b"\x7fELF" + fat_binary())
    with pytest.raises(SystemExit, match=r"lib\.so has no kernels; name a CUDA library$"):
        other_cards.main(path)
    assert path.read_bytes() == b"\x7fELF" + fat_binary()


def test_a_library_that_ends_early_is_refused(tmp_path):
    path = tmp_path / "lib.so"
    path.write_bytes(library(75, 90, 120)[:60])
    with pytest.raises(struct.error):
        other_cards.main(path)
    assert path.stat().st_size == 60


EMPTY_ENTRY = other_cards.ENTRY.pack(*[0] * 9)
STILL = {
    "entries of no size": other_cards.HEADER.pack(other_cards.MAGIC, 1, 16, 40) + EMPTY_ENTRY,
    "a header of no size": other_cards.HEADER.pack(other_cards.MAGIC, 1, 0, 0),
    "an entry that is all payload": fat_binary(
        other_cards.ENTRY.pack(2, 1, 0, 64, 0, 0, 0, 0, 75).ljust(64, b"\0")
    ),
}


@pytest.mark.parametrize("name", STILL)
def test_what_would_be_walked_for_ever_is_refused(tmp_path, name):
    path = tmp_path / "lib.so"
    path.write_bytes(b"\x7fELF" + STILL[name])
    run = subprocess.run(
        [sys.executable, other_cards.__file__, path], timeout=20, capture_output=True, check=False
    )
    assert run.returncode == 1
    assert b"smaller than what it must hold" in run.stderr
    assert path.read_bytes() == b"\x7fELF" + STILL[name]
