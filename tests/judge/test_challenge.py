"""Questions whose answers only a real interpreter, and a real torch, work out."""

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reb_action.judge.challenge import (
    FRAMEWORK_LIBRARIES,
    compute_torch_draws,
    create_challenge,
    have_equal_numbers,
)
from reb_action.model.manifest import Framework

# torch.rand(8, generator=torch.Generator().manual_seed(12345)).tolist(), as torch 2.x printed it.
DRAWN = (
    0.9817181825637817,
    0.8796065449714661,
    0.992143452167511,
    0.461067259311676,
    0.08321595191955566,
    0.17843109369277954,
    0.36743152141571045,
    0.5676497220993042,
)


def test_torch_draws_these_numbers():
    assert compute_torch_draws(12345, 8) == DRAWN


def test_as_many_are_drawn_as_asked():
    assert compute_torch_draws(12345, 3) == DRAWN[:3]
    assert compute_torch_draws(12345, 0) == ()


@given(seed=st.integers(0, 2**31 - 1))
@settings(max_examples=20)
def test_drawn_numbers_are_floats_of_24_bits(seed):
    drawn = compute_torch_draws(seed, 15)
    assert all(0 <= number < 1 and (number * 2**24).is_integer() for number in drawn)
    assert drawn != compute_torch_draws(seed + 1, 15)


@pytest.mark.parametrize(
    ("told", "same"),
    [
        (list(DRAWN), True),
        (DRAWN, True),
        ([number + 1e-9 for number in DRAWN], True),
        ([number + 1e-6 for number in DRAWN], False),
        (DRAWN[:7], False),
        ([*DRAWN, 0.5], False),
        ([*DRAWN[:7], "0.5676497220993042"], False),
        ([*DRAWN[:7], None], False),
        ([*DRAWN[:7], float("nan")], False),
        ([*DRAWN[:7], True], False),
        ([], False),
    ],
)
def test_untrusted_numbers_are_held_against_the_drawn_ones(told, same):
    assert have_equal_numbers(told, DRAWN) is same


def test_an_interpreter_works_out_the_answer():
    question = create_challenge("nonce")
    argv = [sys.executable, "-I", "-S", "-c", f"print({question.program})"]
    said = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout.strip() == question.worked_out


@given(nonce=st.text(max_size=40))
@settings(max_examples=50)
def test_equal_nonces_pose_equal_challenges_and_others_do_not(nonce):
    question = create_challenge(nonce)
    assert question == create_challenge(nonce)
    assert question.worked_out != create_challenge(nonce + "x").worked_out
    assert repr(eval(question.program, {})) == question.worked_out
    assert 0 <= question.seed < 2**31


@pytest.mark.parametrize(
    ("framework", "file", "counts"),
    [
        ("torch", "libtorch_cpu.so", True),
        ("torch", "libtorch_cpu.so.2", True),
        ("torch", "libtorch.so", False),
        ("torch", "notlibtorch_cpu.so", False),
        ("tensorflow", "libtensorflow_cc.so.2", True),
        ("tensorflow", "_pywrap_tensorflow_internal.so", True),
        ("tensorflow", "libtensorflow_framework.so.2", False),
        ("jax", "xla_extension.so", True),
        ("jax", "libjax_common.so", True),
        ("jax", "_jax.cpython-312-x86_64-linux-gnu.so", True),
        ("jax", "jax.py", False),
    ],
)
def test_native_libraries_are_known_by_name(framework, file, counts):
    assert bool(re.match(FRAMEWORK_LIBRARIES[Framework(framework)], file)) is counts
