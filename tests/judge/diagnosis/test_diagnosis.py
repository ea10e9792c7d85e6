"""What a diagnosis promises of any log: it never raises, its proof is a bounded line of the log."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reb_action.judge.diagnosis import Cause, Diagnosis, Facts, diagnose
from reb_action.judge.diagnosis.excerpt import (
    HEAD_CHARACTERS,
    LINE_CHARACTERS,
    TAIL_CHARACTERS,
    cut_excerpt,
    split_lines,
)
from reb_action.judge.diagnosis.level import diagnose_level
from reb_action.judge.diagnosis.search import PROOF_CHARACTERS
from tests.judge.diagnosis.labelled import read_messages
from tests.support.evidence import run

FAILED = Facts(exit_code=1)
OOM = "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB"
MISSING = "ModuleNotFoundError: No module named 'einops'"
TRACEBACK = "Traceback (most recent call last):"

FACTS = st.builds(
    Facts,
    exit_code=st.none() | st.integers(-64, 255),
    signal=st.none() | st.integers(1, 64),
    timed_out=st.booleans(),
    hung=st.booleans(),
    oom_killed=st.booleans(),
    has_gpu=st.booleans(),
    agent_gave_up=st.booleans(),
    harness_failed=st.booleans(),
)
FRAGMENTS = st.sampled_from(
    [
        *(message.text for message in read_messages()),
        TRACEBACK,
        "During handling of the above exception, another exception occurred:",
        "\n",
        "\r",
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x00",
        "\u202e",
        "UserWarning: ",
        " " * LINE_CHARACTERS,
        "No module named 'a." * 200,
    ]
)
LOGS = st.lists(FRAGMENTS | st.text(max_size=40), max_size=12).map("".join)


@settings(deadline=None)
@given(log=LOGS, facts=FACTS)
def test_diagnosis_is_bounded_and_proved_by_a_line_of_the_log(log, facts):
    diagnosis = diagnose(log, facts)
    if diagnosis is None:
        return
    assert diagnosis.sentence
    assert len(diagnosis.line) <= PROOF_CHARACTERS
    assert "\n" not in diagnosis.line
    assert diagnosis.line == "" or any(diagnosis.line in line for line in split_lines(log))


@settings(deadline=None)
@given(log=LOGS, facts=FACTS)
def test_diagnosis_depends_on_nothing_but_its_arguments(log, facts):
    assert diagnose(log, facts) == diagnose(log, facts)


@pytest.mark.slow
@settings(deadline=None)
@example(log="x" * 2001 + "\n")
@example(log="x" * LINE_CHARACTERS + "\n")
@example(log="x" * (LINE_CHARACTERS + 1) + "\n")
@example(log="a warning falls: Warning\r")
@given(log=LOGS)
def test_searched_text_is_bounded_whatever_the_log_is(log):
    repeats = 1 + 2 * (HEAD_CHARACTERS + TAIL_CHARACTERS) // max(1, len(log))
    searched = cut_excerpt(log * min(repeats, 20_000))
    # Only the cut between head and tail may add a character, a line break.
    limit = HEAD_CHARACTERS + TAIL_CHARACTERS + 1
    assert len(searched.errors) + len(searched.warnings) <= limit
    assert len(searched.last_failure) <= limit


@given(log=st.text())
def test_lines_have_no_controls_and_no_more_characters_than_allowed(log):
    for line in split_lines(log):
        assert 0 < len(line) <= LINE_CHARACTERS
        assert not any(ord(character) < 32 and character != "\t" for character in line)


def test_every_cause_has_a_sentence():
    assert all(Diagnosis(cause=cause).sentence for cause in Cause)


def test_proof_is_the_line_without_colours():
    log = f"epoch 1\n\x1b[31m{MISSING}\x1b[0m\n"
    assert diagnose(log, FAILED) == Diagnosis(cause=Cause.MISSING_DEPENDENCY, line=MISSING)


def test_last_traceback_counts_when_an_earlier_one_was_handled():
    log = f"{TRACEBACK}\n{MISSING}\ncontinuing without einops\nepoch 1\n{TRACEBACK}\n{OOM}\n"
    assert diagnose(log, FAILED) == Diagnosis(cause=Cause.OUT_OF_MEMORY_GPU, line=OOM)


def test_root_of_a_chained_traceback_counts_over_its_consequence():
    root = "ImportError: flash_attn_2_cuda.so: undefined symbol: _ZN3c105Error"
    chain = "The above exception was the direct cause of the following exception:"
    end = "RuntimeError: Failed to import transformers.models.llama, please pip install it"
    log = f"{TRACEBACK}\n{root}\n\n{chain}\n\n{TRACEBACK}\n{end}"
    assert diagnose(log, FAILED) == Diagnosis(cause=Cause.ABI_MISMATCH, line=root)


def test_launcher_traceback_does_not_hide_the_cause():
    launcher = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"
    log = f"{TRACEBACK}\n{MISSING}\n{TRACEBACK}\n{launcher}"
    assert diagnose(log, FAILED) == Diagnosis(cause=Cause.MISSING_DEPENDENCY, line=MISSING)


def test_cause_is_found_at_both_ends_of_a_long_log():
    filler = "step 1 loss 0.1\n" * 700_000
    for log in (f"{MISSING}\n{filler}", f"{filler}{MISSING}"):
        assert diagnose(log, FAILED) == Diagnosis(cause=Cause.MISSING_DEPENDENCY, line=MISSING)


def test_cause_is_found_at_the_end_of_a_line_without_end():
    found = diagnose("=" * 10_000_000 + MISSING.replace("ModuleNotFoundError", "Error"), FAILED)
    assert found is not None
    assert found.cause is Cause.MISSING_DEPENDENCY


@pytest.mark.parametrize(
    ("facts", "log", "cause"),
    [
        (Facts(harness_failed=True), OOM, Cause.HARNESS_FAULT),
        (Facts(oom_killed=True), MISSING, Cause.OUT_OF_MEMORY_HOST),
        (Facts(agent_gave_up=True), MISSING, Cause.AGENT_GAVE_UP),
        (Facts(timed_out=True), MISSING, Cause.TIMED_OUT),
        (Facts(timed_out=True), OOM, Cause.OUT_OF_MEMORY_GPU),
    ],
)
def test_facts_outrank_the_log(facts, log, cause):
    found = diagnose(log, facts)
    assert found is not None
    assert found.cause is cause


def test_warnings_count_only_once_it_is_known_that_the_run_failed():
    log = "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old"
    assert diagnose(log, Facts()) is None
    assert diagnose(log, Facts(exit_code=0)) is None
    assert diagnose(log, FAILED) == Diagnosis(cause=Cause.DRIVER_TOO_OLD, line=log)


def test_asking_for_a_gpu_is_the_repository_when_there_was_never_to_be_one():
    log = "AssertionError: Torch not compiled with CUDA enabled"
    with_gpu = diagnose(log, FAILED)
    without_gpu = diagnose(log, replace(FAILED, has_gpu=False))
    assert with_gpu == Diagnosis(cause=Cause.WRONG_CUDA_BUILD, line=log)
    assert without_gpu == Diagnosis(cause=Cause.REPOSITORY_DEFECT, line=log)


@pytest.mark.parametrize(
    "log",
    [
        "ImportError: cannot import name 'Config' from 'omegaconf'",
        "AttributeError: module 'omegaconf.base' has no attribute 'Config'",
        "ModuleNotFoundError: No module named 'omegaconf.base'",
    ],
)
def test_what_a_module_of_the_repository_lacks_is_the_repository(log):
    own = replace(FAILED, own_modules=frozenset({"omegaconf"}))
    assert diagnose(log, FAILED) == Diagnosis(cause=Cause.MIXED_FRAMEWORKS, line=log)
    assert diagnose(log, own) == Diagnosis(cause=Cause.REPOSITORY_DEFECT, line=log)


@pytest.mark.parametrize(
    "log",
    [
        "ImportError: cannot import name 'Config' from 'strange'",
        "AttributeError: module 'strange.base' has no attribute 'Config'",
        "ModuleNotFoundError: No module named 'strange.base'",
    ],
)
def test_what_a_package_lacks_is_another_version_of_it(log):
    listed = replace(FAILED, own_modules=frozenset({"train"}))
    own = replace(FAILED, own_modules=frozenset({"strange"}))
    assert diagnose(log, listed) == Diagnosis(cause=Cause.MIXED_FRAMEWORKS, line=log)
    assert diagnose(log, own) == Diagnosis(cause=Cause.REPOSITORY_DEFECT, line=log)


def test_what_the_standard_library_lacks_is_no_package_of_another_version():
    listed = replace(FAILED, own_modules=frozenset({"train"}))
    assert diagnose("AttributeError: module 'queue' has no attribute 'Many'", listed) is None


def test_interface_that_a_release_removed_is_found_and_a_promise_to_remove_it_is_not():
    removed = "AttributeError: thing.walk was removed in thing v0.6.0: use thing.tree.walk"
    promised = "ValueError: bad rate (thing.walk will be removed in v0.6.0)"
    assert diagnose(removed, FAILED) == Diagnosis(cause=Cause.MIXED_FRAMEWORKS, line=removed)
    assert diagnose(promised, FAILED) is None


def test_argument_is_a_packages_when_the_last_call_of_the_line_is_a_packages():
    error = "TypeError: __init__() got an unexpected keyword argument 'gpus'"
    theirs = f"{TRACEBACK}\n    trainer = pl.Trainer(gpus=1, logger=logger)\n{error}\n"
    ours = f"{TRACEBACK}\n    model = nn.DataParallel(Model(gpus=1))\n{error}\n"
    assert diagnose(theirs, FAILED) == Diagnosis(cause=Cause.MIXED_FRAMEWORKS, line=error)
    assert diagnose(ours, FAILED) is None


RETRY = "urllib3: Max retries exceeded with url: /bert/resolve/main/config.json"
COMPILING = "[3/40] /usr/local/cuda/bin/nvcc -c fused.cu"
LONG = f"{COMPILING} {'-I/usr/include ' * 400}-o fused.o"


@pytest.mark.parametrize(
    ("log", "cause", "line"),
    [
        ("", Cause.NCCL, ""),
        ("rank 1 step 0 loss 62.3921\n", Cause.NCCL, ""),
        (f"{RETRY}\nretrying in 60 s\n", Cause.NETWORK_NEEDED, RETRY),
        (f"{OOM}\n", Cause.OUT_OF_MEMORY_GPU, OOM),
        (f"{TRACEBACK}\n{MISSING}\n", Cause.MISSING_DEPENDENCY, MISSING),
        (f"{TRACEBACK}\n{MISSING}\ngoing on\n{TRACEBACK}\nValueError: bad\n", Cause.NCCL, ""),
        (f"Building extension module fused...\n{COMPILING}\n", Cause.TIMED_OUT, COMPILING),
        (f"[2/40] c++ -c fused.cpp\n{LONG}\n", Cause.TIMED_OUT, LONG[:PROOF_CHARACTERS]),
        (f"{COMPILING}\nLoading extension module fused...\n", Cause.NCCL, ""),
        ("[3/40] loss 0.1\n", Cause.NCCL, ""),
    ],
)
def test_ranks_that_never_met_could_not_talk_only_where_nothing_else_is_named(log, cause, line):
    seen = run(exit_code=None, timed_out=True, ranks=())
    found = diagnose_level(seen, log=log, has_gpu=True, own_modules=frozenset(), ranks=2)
    assert found == Diagnosis(cause=cause, line=line)


@pytest.mark.parametrize("end", ["KeyError: 'lr'", "AssertionError", "[rank0]: ValueError: bad"])
@pytest.mark.parametrize(
    "caught",
    [
        f"{TRACEBACK}\n{MISSING}\neinops is optional, going on",
        "ConnectionError: retrying\nloaded",
        "sh: 1: nvidia-smi: not found",
    ],
)
def test_what_was_caught_is_no_cause_of_an_error_of_the_program_itself(caught, end):
    launcher = f"{TRACEBACK}\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError:"
    failed = f'{caught}\n{TRACEBACK}\n  File "/r/train.py", line 9, in <module>\n{end}\n'
    assert diagnose(failed, FAILED) is None
    assert diagnose(f"{failed}{launcher}\n", FAILED) is None
    assert diagnose(failed.replace(end, "RuntimeError: the engine died"), FAILED) is not None


ABSENT = "it cannot be started: FileNotFoundError: [Errno 2] No such file or directory: '{}'"


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (ABSENT.format("lightly-train"), Cause.MISSING_DEPENDENCY),
        # The folder that it is to run in.
        (ABSENT.format("/workspace/repo/tools"), None),
        ("it ended its supervisor", None),
    ],
)
def test_command_that_no_package_installed_is_a_missing_dependency(fault, cause):
    seen = run(argv=("lightly-train", "train"), exit_code=None, proofs=(), fault=fault)
    found = diagnose_level(seen, log="", has_gpu=False, own_modules=frozenset())
    assert (found and found.cause) == cause
