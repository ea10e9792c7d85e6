"""Challenges that only a real interpreter can answer, with the expected answers."""

import hashlib
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from reb_action.model.manifest import Framework
from reb_action.model.observation import Library

FRAMEWORK_LIBRARIES: Final = {
    Framework.TORCH: r"^libtorch_cpu\.so",
    Framework.TENSORFLOW: r"^(libtensorflow_cc\.so|_pywrap_tensorflow_internal\.so)",
    Framework.JAX: r"^(libjax_common\.so|xla_extension\.so|_jax\..*\.so|_jax\.so)",
}
"""The native library that a process maps when it uses a framework."""

LIBRARY_BYTES: Final = 20_000_000
"""Every release of these libraries is larger: they have hundreds of megabytes."""


def is_mapped(framework: Framework, libraries: Iterable[Library]) -> bool:
    """Return whether a process had mapped the native library of a framework."""
    pattern = re.compile(FRAMEWORK_LIBRARIES[framework])
    return any(
        pattern.search(library.path.rpartition("/")[2]) and library.size_bytes >= LIBRARY_BYTES
        for library in libraries
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Challenge:
    """A Python expression for the interpreter; `worked_out` is the repr of its value."""

    nonce: str
    program: str
    worked_out: str
    seed: int


def create_challenge(nonce: str) -> Challenge:
    """Return the challenge for a nonce; equal nonces give equal challenges."""
    source = random.Random(nonce)  # noqa: S311
    numbers = [source.getrandbits(80) for _ in range(5)]
    text = "".join(chr(source.randrange(0x3B1, 0x3C9)) for _ in range(12))
    program = (
        f"sorted(__import__('hashlib').sha256(repr((n ** 7 % {numbers[0]}, {text!r}.upper()[::-1]))"
        f".encode()).hexdigest()[:9] for n in {numbers!r})"
    )
    answer = sorted(
        hashlib.sha256(repr((n**7 % numbers[0], text.upper()[::-1])).encode()).hexdigest()[:9]
        for n in numbers
    )
    return Challenge(
        nonce=nonce, program=program, worked_out=repr(answer), seed=source.getrandbits(31)
    )


def compute_torch_draws(seed: int, count: int) -> tuple[float, ...]:
    """Return what torch draws: `torch.rand(count, generator=CPU generator seeded with seed)`.

    The CPU generator is MT19937 (Matsumoto and Nishimura 1998); a 32-bit float takes the low 24
    bits. Valid for count < 16, where torch draws one by one.
    """
    return tuple((number & 0xFFFFFF) / (1 << 24) for number in islice(_mt19937(seed), count))


def have_equal_numbers(left: Sequence[object], right: Sequence[float]) -> bool:
    """Return whether an untrusted list has exactly these numbers, within float precision."""
    if len(left) != len(right):
        return False
    pairs = zip(left, right, strict=True)
    return all(isinstance(a, float) and abs(a - b) < 1e-7 for a, b in pairs)


def _mt19937(seed: int) -> Iterator[int]:
    state = [seed & 0xFFFFFFFF]
    for index in range(1, 624):
        last = state[-1]
        state.append((1812433253 * (last ^ (last >> 30)) + index) & 0xFFFFFFFF)
    while True:
        for index in range(624):
            joined = (state[index] & 0x80000000) | (state[(index + 1) % 624] & 0x7FFFFFFF)
            mixed = (joined >> 1) ^ (0x9908B0DF if joined & 1 else 0)
            state[index] = state[(index + 397) % 624] ^ mixed
        yield from map(_temper, state)


def _temper(number: int) -> int:
    number ^= number >> 11
    number ^= (number << 7) & 0x9D2C5680
    number ^= (number << 15) & 0xEFC60000
    return number ^ (number >> 18)
