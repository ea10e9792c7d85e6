"""The search of a log: the same whatever pieces it comes in, and however long it and its lines."""

import itertools
import re
import tracemalloc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reb_action.judge.log_search import LogSearch
from reb_action.judge.proofs import check_proofs
from reb_action.model.manifest import LogProof, MetricProof, StepsProof

STEPS = StepsProof(steps=r"step \d+", at_least=4)
SECRET = "s3cr3t-value-of-the-owner"
MIB = 1024 * 1024


def search(*pieces, proof=STEPS, **options):
    """Return whether a proof holds in a log of these pieces, and the detail."""
    log = LogSearch([proof], **options)
    for piece in pieces:
        log.feed(piece)
    (seen,) = check_proofs(log, files=())
    return seen.satisfied, seen.detail


def count(pattern, *pieces):
    told = search(*pieces, proof=StepsProof(steps=pattern, at_least=1))[1]
    return int(told.partition(" ")[0])


@settings(deadline=None)
@given(
    words=st.lists(
        st.sampled_from([*"ab1 \n\r\u2028\x85é", "\r\n", "\x1b[1m", "\x1b[m"]), max_size=60
    ),
    cuts=st.lists(st.integers(0, 120), max_size=6),
    pattern=st.sampled_from(["a", "^a", "b$", "^$", "a+b", r"\d", "é", r"\ba"]),
)
@example(words=["\r", "\x1b[1m", "\n"], cuts=[1], pattern="^$")
@example(words=["\r", "\x1b[1m", "\n"], cuts=[2], pattern="^$")
@example(words=["\r", "\x1b[1m", "\n", "\n"], cuts=[1, 3, 5], pattern="^$")
def test_pieces_make_no_difference(words, cuts, pattern):
    data = "".join(words).encode()
    ends = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(ends)]
    plain = "".join(word for word in words if word[0] != "\x1b")
    wanted = sum(len(re.findall(pattern, line)) for line in plain.splitlines())
    assert count(pattern, *pieces) == wanted


@settings(deadline=None)
@given(
    words=st.lists(st.sampled_from(["step 1", "x" * 700, "step", "9" * 40, " "]), max_size=40),
    size=st.integers(1, 5000),
    pattern=st.sampled_from([r"step \d+", "^step", r"\d$", r"step \d+$", r"\bstep\b", "x{3}"]),
)
def test_long_line_is_searched_as_if_it_were_whole(words, size, pattern):
    line = "".join(words)
    data = line.encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert count(pattern, *pieces) == len(re.findall(pattern, line))


@pytest.mark.parametrize("before", [0, 3000, 3060, 3068, 3071, 3072, 4090, 4096, 7168, 100_000])
def test_match_is_found_once_wherever_a_long_line_is_cut(before):
    data = b"." * before + b"step 1234567" + b"." * 9000
    assert count(r"step \d+", data) == 1
    assert count(r"step \d+", *(data[at : at + 7] for at in range(0, len(data), 7))) == 1


def test_anchors_are_those_of_the_line_and_not_of_a_piece_of_it():
    line = b"ab" * 10_000
    assert (count("^ab", line), count("ab$", line), count("ab", line)) == (1, 1, 10_000)
    assert count("^b|a$", line) == 0


def test_colour_that_is_cut_in_two_is_removed():
    assert count("^done$", b"\x1b[3", b"2mdo\x1b", b"[0mne\n") == 1


def test_metric_keeps_its_last_number_and_the_first_wrong_one():
    proof = MetricProof(metric=r"loss (\S+)", maximum=10)
    assert search(b"loss 2\n", b"lo", b"ss 1\nend", proof=proof) == (True, r"loss (\S+) gave 1")
    wrong = search(b"loss 11\nloss nan\n", b"loss 1\n", proof=proof)
    assert wrong == (False, r"loss (\S+) gave '11', which is not finite or out of bounds")


@pytest.mark.parametrize("line", [f"key {SECRET}\n", f"{'x' * 9000} key {SECRET}\n"])
def test_what_is_taken_out_of_the_log_proves_nothing(line):
    proof = LogProof(log="key s3cr3t")
    assert search(line.encode(), proof=proof)[0] is True
    assert search(line.encode(), proof=proof, hidden=(SECRET,))[0] is False
    metric = MetricProof(metric=r"key (\S+)")
    told = search(line.encode(), proof=metric, hidden=(SECRET,))[1]
    assert told == r"key (\S+) gave '***', which is not finite or out of bounds"


@pytest.mark.slow
def test_proof_in_the_middle_of_a_long_log_is_found_in_bounded_memory():
    block = b"a line of a verbose program\n" * 2000
    tracemalloc.start()
    log = LogSearch([STEPS])
    for number in range(400):
        log.feed(block)
        if number in (100, 150, 200, 250):
            log.feed(b"step %d\n" % number)
    (seen,) = check_proofs(log, files=())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (seen.satisfied, seen.detail) == (True, r"4 of 4 steps in the log (step \d+)")
    assert peak < 4 * MIB


def test_search_that_takes_too_long_ends_and_a_proof_that_fails_says_so():
    ticks = iter(range(0, 1000, 2))
    clock = lambda: next(ticks)  # noqa: E731
    pieces = [b"step 1\n" + bytes(MIB)] * 6
    detail = "; only the first 3 of 6 MiB of the log were searched, which took 5 s"
    told = search(*pieces, seconds=5, clock=clock)
    assert told == (False, rf"3 of 4 steps in the log (step \d+){detail}")
    held = search(*pieces, proof=LogProof(log="step"), seconds=5, clock=clock)
    assert held == (True, "the log has step")
