"""What a log and fresh files prove of an entry point, and what they do not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action.judge.log_search import LogSearch
from reb_action.judge.proofs import WrittenFile, check_proofs, may_explode
from reb_action.model.manifest import FileKind, FileProof, LogProof, MetricProof, StepsProof

LOSS = MetricProof(metric=r"loss (\S+)", minimum=0, maximum=10)


def searched(proofs, *pieces, **options):
    """Return the search of a log that came in these pieces."""
    search = LogSearch(proofs, **options)
    for piece in pieces:
        search.feed(piece)
    return search


def of_log(proof, log):
    (seen,) = check_proofs(
        searched([proof], log if isinstance(log, bytes) else log.encode()), files=()
    )
    assert seen.proof == proof
    return seen.satisfied, seen.detail


def of_file(proof, *files):
    (seen,) = check_proofs(searched([proof], b""), files=files)
    return seen.satisfied, seen.detail


def written(path="/out/a.bin", size=100, head=b"data"):
    return WrittenFile(path=path, size_bytes=size, head=head)


@pytest.mark.parametrize(
    ("pattern", "log", "satisfied"),
    [
        ("^done$", "step 1\ndone\n", True),
        ("^done$", "step 1\r\ndone\r\n", True),
        ("^done$", "progress\rdone\rmore", True),
        ("^done$", "\x1b[32mdone\x1b[0m\n", True),
        ("^done$", b"\xff\xfe\ndone\n", True),
        ("^done$", "not done\n", False),
        ("^done$", "", False),
        ("^a.*b$", "a\nb\n", False),
        ("done", "x" * 4090 + "done", True),
        ("done", "x" * 5000 + "done", True),
    ],
)
def test_log_is_searched_line_by_line_without_colours(pattern, log, satisfied):
    assert of_log(LogProof(log=pattern), log)[0] is satisfied


def test_log_proof_tells_what_it_looked_for():
    assert of_log(LogProof(log="^done"), "done")[1] == "the log has ^done"
    assert of_log(LogProof(log="^done"), "")[1] == "the log lacks ^done"


@pytest.mark.parametrize(("log", "satisfied"), [("step\n" * 3, True), ("step\nstep", False)])
def test_steps_are_counted(log, satisfied):
    proof = StepsProof(steps="step", at_least=3)
    assert of_log(proof, log)[0] is satisfied


def test_steps_of_ranks_that_share_a_line_are_counted_each():
    # Seen on two GPUs: the line break of one rank came after the other's line.
    log = b"rank 1 step 500 loss 0.09rank 0 step 500 loss 0.10\n\nrank 1 step 1000 loss 0.08\n"
    detail = r"3 of 3 steps in the log (step \d+ loss \d)"
    assert of_log(StepsProof(steps=r"step \d+ loss \d", at_least=3), log) == (True, detail)


def test_steps_are_counted_in_the_detail():
    proof = StepsProof(steps="step", at_least=3)
    assert of_log(proof, "step\n") == (False, "1 of 3 steps in the log (step)")


@pytest.mark.parametrize(
    ("log", "satisfied", "detail"),
    [
        ("loss 0.5", True, r"loss (\S+) gave 0.5"),
        ("loss 0.5\nloss 0.25", True, r"loss (\S+) gave 0.25"),
        ("loss 1e-3", True, r"loss (\S+) gave 1e-3"),
        ("loss 0", True, r"loss (\S+) gave 0"),
        ("loss 10", True, r"loss (\S+) gave 10"),
        ("", False, r"the log lacks loss (\S+)"),
        ("loss nan", False, r"loss (\S+) gave 'nan', which is not finite or out of bounds"),
        ("loss inf", False, r"loss (\S+) gave 'inf', which is not finite or out of bounds"),
        ("loss -Infinity", False, "not finite"),
        ("loss 1e999", False, "not finite"),
        ("loss low", False, r"loss (\S+) gave 'low', which is not finite or out of bounds"),
        ("loss -0.1", False, "'-0.1', which is not finite or out of bounds"),
        ("loss 10.1", False, "'10.1', which"),
        ("loss 0.5\nloss nan\nloss 0.1", False, "'nan', which"),
        ("loss 0.5 loss nan", False, "'nan', which"),
    ],
)
def test_every_number_of_a_metric_is_finite_and_within_bounds(log, satisfied, detail):
    found = of_log(LOSS, log)
    assert found[0] is satisfied
    assert detail in found[1]


def test_group_that_takes_no_part_is_no_number():
    proof = MetricProof(metric=r"loss(?: (\d+))?")
    assert of_log(proof, "loss unknown")[0] is False


def test_long_wrong_number_is_cut():
    assert len(of_log(LOSS, "loss " + "9x" * 2000)[1]) < 200


HEADS = {
    "json": (b' \n{"a": 1}', b"<html>"),
    "zip": (b"PK\x03\x04rest", b"PK\x05\x06"),
    "png": (b"\x89PNG\r\n\x1a\n\x00", b"\x89PNG"),
    "jpeg": (b"\xff\xd8\xff\xe0", b"\xff\xd8"),
    "npy": (b"\x93NUMPY\x01\x00", b"NUMPY"),
    "wav": (b"RIFF\x24\x00\x00\x00WAVEfmt ", b"RIFF\x24\x00\x00\x00AVI LIST"),
    "pdf": (b"%PDF-1.7", b"PDF"),
    "text": (b"epoch 1\n", b"\x00\x01"),
    "safetensors": (b"\x40\x00\x00\x00\x00\x00\x00\x00{", b"\x40\x00\x00\x00\x00\x00\x00\x00["),
    "any": (b"\x00", None),
}


@pytest.mark.parametrize("kind", FileKind)
def test_file_is_of_its_kind_by_its_first_bytes(kind):
    right, wrong = HEADS[kind]
    proof = FileProof(file="/out/*", kind=kind)
    assert of_file(proof, written(head=right))[0] is True
    if wrong is not None:
        told = of_file(proof, written(head=wrong))
        assert told == (False, f"/out/a.bin is not of kind {kind}")
        assert of_file(proof, written(head=b""))[0] is (kind is FileKind.TEXT)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/out/a.bin", "/out/a.bin", True),
        ("/out/*.bin", "/out/a.bin", True),
        ("/out/*", "/out/deep/a.bin", True),
        ("/out/A.bin", "/out/a.bin", False),
        ("/out/*.bin", "/elsewhere/a.bin", False),
    ],
)
def test_file_is_found_by_its_pattern(pattern, path, matches):
    assert of_file(FileProof(file=pattern), written(path))[0] is matches


@pytest.mark.parametrize(
    ("files", "satisfied", "detail"),
    [
        ((), False, "/out/* was not written"),
        ((written(size=0),), False, "/out/a.bin has 0 of at least 50 bytes"),
        ((written(size=49),), False, "/out/a.bin has 49 of at least 50 bytes"),
        ((written(size=50),), True, "/out/a.bin was written, 50 bytes"),
        (
            (written(size=10), written("/out/b", 60)),
            True,
            "/out/b was written, 60 bytes",
        ),
    ],
)
def test_largest_of_the_files_counts(files, satisfied, detail):
    assert of_file(FileProof(file="/out/*", min_bytes=50), *files) == (satisfied, detail)


@given(log=st.binary(max_size=300), head=st.binary(max_size=20), size=st.integers(0, 9))
def test_any_run_is_checked_proof_by_proof(log, head, size):
    proofs = [
        LOSS,
        LogProof(log="done"),
        StepsProof(steps="step", at_least=1),
        *(FileProof(file="/out/*", kind=kind) for kind in FileKind),
    ]
    seen = check_proofs(searched(proofs, log), files=[written(size=size, head=head)])
    assert [one.proof for one in seen] == proofs
    assert all(one.detail for one in seen)


@pytest.mark.parametrize(
    ("pattern", "explodes"),
    [
        (r"(a+)+$", True),
        (r"(a*)*b", True),
        (r"(?:\w+\s?)*$", True),
        (r"(a|aa)+$", True),
        (r"((ab)+c)*", True),
        (r"(\d+){10}x", True),
        (r"(a+){2,}", True),
        (r"(a+)?b", False),
        (r"(a+){1}b", False),
        (r"(a|b)c+", False),
        (r"(abc)+", False),
        (r"\(a+\)+", False),
        (r"[(a+)]+", False),
        (r"loss (\S+), step \d+", False),
        (r"^\[\['[^']+', [0-9.]+, [0-9.]+\]", False),
        (r"[]a)]+(b)+", False),
        (r"(\))+", False),
    ],
)
def test_pattern_that_repeats_what_repeats_is_told_apart(pattern, explodes):
    assert may_explode(pattern) is explodes


@given(st.text(alphabet="ab()[]|*+?{}1,\\ ", max_size=30))
def test_any_text_is_told_apart(pattern):
    assert may_explode(pattern) in (True, False)


def test_hostile_line_is_searched_in_bounded_time():
    proof = MetricProof(metric=r"Epoch\(train\).* loss: (\S+)")
    # CPU seconds, which a busy machine does not change. The line as a whole would take hours.
    begun = time.process_time()
    check_proofs(searched([proof], b"Epoch(train) loss:" * 40_000), files=())
    assert time.process_time() - begun < 60
