"""Every outcome of every level, from constructed observations; both scorings, never mixed."""

from dataclasses import replace

import pytest

from reb_action import documents
from reb_action.judge.imports import unobserved_imports
from reb_action.judge.levels import LEVELS, spec_of
from reb_action.model.agent import Change, Touched
from reb_action.model.manifest import Framework, Level, Outcome
from reb_action.session.evidence import kind_of
from reb_action.trial.probe import limit_size
from tests.support.evidence import (
    LIBTORCH,
    MANIFEST,
    cuda,
    cuda_facts,
    decoy,
    device,
    gpu,
    imports,
    proved,
    rank,
    run,
    witness,
)

PASSED, FAILED, INVALID = Outcome.PASSED, Outcome.FAILED, Outcome.INVALID
HOLDS = "the entry point ran and its proofs hold"
TWO_FRAMEWORKS = replace(MANIFEST, frameworks=(Framework.TORCH, Framework.JAX))
NO_FRAMEWORK = replace(MANIFEST, frameworks=())

# observation, strict, paper, reason, strict missing of total
C0 = {
    "all there": (imports(), PASSED, PASSED, "every third-party import resolves", (0, 2)),
    "one missing": (
        *(imports(missing=("numpy",)), FAILED, FAILED, "1 not installed: numpy", (1, 2)),
    ),
    "own module missing": (
        imports(missing=("mypackage",)),
        *(PASSED, FAILED, "every third-party import resolves", (0, 2)),
    ),
    "stub hides an absent package": (
        imports(third_party=("yaml",), stub_only=("yaml",)),
        *(FAILED, PASSED, "1 not installed: yaml", (1, 1)),
    ),
    "hollow package": (
        imports(hollow=("torch",)),
        *(FAILED, PASSED, "1 not installed: torch", (1, 2)),
    ),
    "nothing needed": (
        imports(third_party=()),
        *(PASSED, PASSED, "every third-party import resolves", (0, 0)),
    ),
    "many missing": (
        imports(third_party=tuple("abcdefghij"), missing=tuple("abcdefghij")),
        *(FAILED, FAILED, "10 not installed: a, b, c, d, e, f, g, h and 2 more", (10, 10)),
    ),
    "nothing can be seen": (imports(fault="pyright died"), FAILED, FAILED, "pyright died", (2, 2)),
    "editable install": (
        imports(missing=("numpy",), stub_only=("torch",), editable=("numpy", "torch")),
        *(PASSED, FAILED, "every third-party import resolves", (0, 2)),
    ),
    "editable install without code": (
        imports(missing=("numpy",), hollow=("torch",), editable=("torch",)),
        *(FAILED, FAILED, "2 not installed: numpy, torch", (2, 2)),
    ),
    "nothing read": (imports(files=0), INVALID, INVALID, "no file was read", None),
}


@pytest.mark.parametrize("name", C0)
def test_imports(name):
    seen, strict, paper, reason, counts = C0[name]
    result = spec_of(Level.C0).judge(MANIFEST, seen)
    assert (result.outcome, result.paper, result.reason) == (strict, paper, reason)
    shown = (result.imports.strict_missing, result.imports.strict_total)
    assert shown == (counts or (None, None))


def test_paper_never_counts_more_missing_than_its_total():
    seen = imports(missing=tuple(f"m{number}" for number in range(30)))
    count = spec_of(Level.C0).judge(MANIFEST, seen).imports
    assert (count.missing, count.total) == (10, 10)


@pytest.mark.parametrize("outcome", [Outcome.BLOCKED, Outcome.INVALID])
def test_unobserved_imports_all_count_as_missing_and_none_as_found(outcome):
    count = unobserved_imports(MANIFEST, outcome, "why").imports
    assert (count.missing, count.total) == (10, 10)
    assert (count.strict_missing, count.strict_total) == (None, None)


UNSEEN = "NVML saw the probe's work on {} of 2 GPUs but the frameworks reported work on each"
LIBJAX = replace(LIBTORCH, path="/venv/jaxlib/libjax_common.so")

# manifest, observation, strict, paper, reason
C2 = {
    "right": (MANIFEST, cuda(), PASSED, PASSED, "every framework computes correctly on every GPU"),
    "CPU-only build": (
        MANIFEST,
        cuda(cuda_facts(available=False, build=None, devices=())),
        *(FAILED, FAILED, "torch finds no CUDA (built for the CPU only)"),
    ),
    "driver too old": (
        MANIFEST,
        cuda(cuda_facts(available=False, devices=())),
        *(FAILED, FAILED, "torch finds no CUDA (built for 12.4)"),
    ),
    "torch does not import": (
        MANIFEST,
        cuda(cuda_facts(available=False, build=None, devices=(), error="ImportError: no torch")),
        *(FAILED, FAILED, "torch: ImportError: no torch"),
    ),
    "wrong product": (
        MANIFEST,
        cuda(cuda_facts(devices=(device(0), device(1, computed=False)))),
        *(FAILED, PASSED, "torch does not compute on GPU 1: the product is wrong"),
    ),
    "no kernel image": (
        MANIFEST,
        cuda(cuda_facts(devices=(device(0, computed=False, error="no kernel image"), device(1)))),
        *(FAILED, PASSED, "torch does not compute on GPU 0: no kernel image"),
    ),
    "a device missing": (
        MANIFEST,
        cuda(cuda_facts(devices=(device(0),))),
        *(FAILED, PASSED, "torch sees 1 of 2 GPUs"),
    ),
    "a device told twice": (
        MANIFEST,
        cuda(cuda_facts(devices=(device(0), device(0)))),
        *(FAILED, PASSED, "torch sees 1 of 2 GPUs"),
    ),
    "one framework of two": (
        TWO_FRAMEWORKS,
        cuda(),
        *(FAILED, PASSED, "jax gave no answer"),
    ),
    "the second on the CPU": (
        TWO_FRAMEWORKS,
        cuda(cuda_facts(), cuda_facts(framework=Framework.JAX, available=False, devices=())),
        *(FAILED, PASSED, "jax finds no CUDA (built for 12.4)"),
    ),
    "no framework": (
        NO_FRAMEWORK,
        cuda(frameworks=()),
        *(FAILED, FAILED, "no framework was probed"),
    ),
    "no library loaded": (
        MANIFEST,
        cuda(witness=witness(gpu(0), libraries=())),
        FAILED,
        PASSED,
        "no process of the run had the native library of torch loaded",
    ),
    "NVML saw nothing": (
        MANIFEST,
        cuda(witness=witness(gpu(0, memory=0), gpu(1, memory=0))),
        *(FAILED, PASSED, UNSEEN.format(0)),
    ),
    "NVML saw no GPU to see": (
        MANIFEST,
        cuda(witness=witness(), gpus_present=0),
        *(FAILED, PASSED, UNSEEN.format(0).replace("2 GPUs", "1 GPUs")),
    ),
    "NVML saw one GPU of two": (
        MANIFEST,
        cuda(witness=witness(gpu(0), gpu(1, memory=0, utilisation=0))),
        *(FAILED, PASSED, UNSEEN.format(1)),
    ),
    "NVML saw a context, and no work": (
        MANIFEST,
        cuda(witness=witness(gpu(0), gpu(1, memory=400, utilisation=1))),
        *(FAILED, PASSED, UNSEEN.format(1)),
    ),
    "NVML saw memory of what is not kept at work": (
        replace(MANIFEST, frameworks=(Framework.JAX,)),
        cuda(
            cuda_facts(framework=Framework.JAX),
            witness=witness(gpu(0, utilisation=0), gpu(1, utilisation=0), libraries=(LIBJAX,)),
        ),
        *(PASSED, PASSED, "every framework computes correctly on every GPU"),
    ),
    "library of one framework of two": (
        TWO_FRAMEWORKS,
        cuda(cuda_facts(), cuda_facts(framework=Framework.JAX)),
        FAILED,
        PASSED,
        "no process of the run had the native library of jax loaded",
    ),
    "no answer": (
        MANIFEST,
        cuda(frameworks=(), fault="the frameworks gave no answer: exit code -11"),
        *(FAILED, FAILED, "the frameworks gave no answer: exit code -11"),
    ),
}


@pytest.mark.parametrize("name", C2)
def test_cuda(name):
    manifest, seen, strict, paper, reason = C2[name]
    result = spec_of(Level.C2).judge(manifest, seen)
    assert (result.outcome, result.paper, result.reason) == (strict, paper, reason)


def touched(path, change):
    return Touched(path=path, change=change)


# what is wrong with any run, whatever its level: observation, paper, reason
RUNS = {
    "cannot be started": (
        run(exit_code=None, fault="it cannot be started: OSError: [Errno 8]"),
        *(FAILED, "it cannot be started: OSError: [Errno 8]"),
    ),
    "timed out": (
        run(exit_code=None, timed_out=True, seconds=600.2),
        *(FAILED, "the entry point had not ended after 600 s"),
    ),
    "exit code": (run(exit_code=1), FAILED, "the entry point ended with exit code 1"),
    "signal": (run(exit_code=-9), FAILED, "the entry point ended with exit code -9"),
    "no exit code": (run(exit_code=None), FAILED, "the entry point ended with exit code None"),
    "no proof": (
        run(proofs=(proved(), proved(holds=False))),
        *(PASSED, "exit code 0, but without proof: the log lacks ^done"),
    ),
    "no proof looked for": (run(proofs=()), PASSED, "no proof was looked for"),
    "no decoy run": (run(decoy=None), PASSED, "the decoy run was not made"),
    "decoy that did not end": (
        run(decoy=decoy(exit_code=None)),
        PASSED,
        "the decoy run did not end, so it is not known whether the proofs are staged",
    ),
    "proofs staged": (
        run(decoy=decoy(proofs_satisfied=True)),
        PASSED,
        "the proofs hold even without the repository's code: they are staged",
    ),
    "repository's file not run": (
        run(decoy=decoy(token_seen=False)),
        *(PASSED, "the interpreter does not run the repository's file when asked to"),
    ),
    "source changed while it ran": (
        run(changed=(touched("a.py", Change.MODIFIED),)),
        *(FAILED, "a.py was modified while the entry point ran"),
    ),
    "source put back": (
        run(changed=(touched("a.py", Change.PUT_BACK), touched("b.py", Change.MODIFIED))),
        *(FAILED, "a.py was changed and restored while the entry point ran, and 1 more"),
    ),
    "module put in the place of a source": (
        run(changed=(touched("a", Change.SHADOWED),)),
        *(FAILED, "a replaced a tracked module while the entry point ran"),
    ),
    "source removed while the decoy ran": (
        run(decoy=decoy(changed=(touched("a.py", Change.DELETED),))),
        *(PASSED, "a.py was deleted while the decoy ran"),
    ),
    "framework not loaded": (
        run(witness=witness(gpu(0), gpu(1), libraries=())),
        *(PASSED, "no process of the run had the native library of torch loaded"),
    ),
}


@pytest.mark.parametrize("level", [Level.C1, Level.C3, Level.C4])
@pytest.mark.parametrize("name", RUNS)
def test_run_that_fails(level, name):
    seen, paper, reason = RUNS[name]
    result = spec_of(level).judge(MANIFEST, seen)
    assert (result.outcome, result.paper, result.reason) == (FAILED, paper, reason)


@pytest.mark.parametrize("level", [Level.C1, Level.C3, Level.C4])
@pytest.mark.parametrize(
    ("manifest", "mapped", "absent"),
    [
        (MANIFEST, (LIBJAX,), "torch"),
        (MANIFEST, (replace(LIBTORCH, size_bytes=3000), LIBJAX), "torch"),
        (MANIFEST, (replace(LIBTORCH, path="/venv/libtorch_cpu.so/other.so"),), "torch"),
        (TWO_FRAMEWORKS, (LIBTORCH,), "jax"),
        (TWO_FRAMEWORKS, (LIBJAX,), "torch"),
        (TWO_FRAMEWORKS, (), "torch or jax"),
        (TWO_FRAMEWORKS, (LIBJAX, LIBTORCH), None),
    ],
)
def test_library_of_each_framework_of_the_manifest_is_asked_for(level, manifest, mapped, absent):
    seen = run(witness=witness(gpu(0), gpu(1), libraries=mapped))
    said = f"no process of the run had the native library of {absent} loaded"
    assert spec_of(level).judge(manifest, seen).reason == (said if absent else HOLDS)


def test_library_is_asked_for_only_where_a_framework_is_named():
    seen = run(witness=witness(libraries=()))
    assert spec_of(Level.C1).judge(NO_FRAMEWORK, seen).outcome is PASSED


@pytest.mark.parametrize("level", [Level.C1, Level.C3, Level.C4])
def test_run_that_holds(level):
    result = spec_of(level).judge(MANIFEST, run())
    assert (result.outcome, result.paper, result.reason) == (PASSED, PASSED, HOLDS)


LONG = "x" * 9000
TOO_LARGE = {
    Level.C0: (imports(missing=(LONG,)), FAILED),
    Level.C2: (cuda(cuda_facts(build=LONG)), FAILED),
    Level.C3: (run(witness=witness(libraries=(replace(LIBTORCH, path=LONG),))), FAILED),
    Level.C4: (run(ranks=(rank(0, device=LONG),)), FAILED),
}


@pytest.mark.parametrize("level", TOO_LARGE)
def test_observation_too_large_to_be_read_is_judged_by_that(level, monkeypatch):
    seen, outcome = TOO_LARGE[level]
    kind = kind_of(level)[1]
    assert limit_size(seen, kind) == seen
    monkeypatch.setattr("reb_action.documents.files.LIMIT_BYTES", 9000)
    kept = limit_size(seen, kind)
    assert len(documents.encode(kept, kind=kind)) < 2000
    result = spec_of(level).judge(MANIFEST, kept)
    assert result.outcome is outcome
    assert result.reason == (
        "the observations of the environment could not be stored: "
        f"the document {kind} would have more than 9000 bytes"
    )


def test_cpu_run_needs_no_gpu():
    seen = run(witness=witness(), gpus_present=0, ranks=())
    assert spec_of(Level.C1).judge(MANIFEST, seen).outcome is PASSED


IDLE = "NVML saw no kernel on any GPU while the entry point ran"
BARELY = (
    "NVML saw no GPU busier than 2 %, which a CUDA context alone causes; work shows 3 % or more"
)


@pytest.mark.parametrize(
    ("gpus", "outcome", "reason"),
    [
        ((gpu(0),), PASSED, HOLDS),
        ((gpu(0, memory=0, utilisation=0), gpu(1)), PASSED, HOLDS),
        ((), FAILED, IDLE),
        ((gpu(0, utilisation=0),), FAILED, IDLE),
        ((gpu(0, memory=0, utilisation=0),), FAILED, IDLE),
        ((gpu(0, utilisation=1), gpu(1, utilisation=2)), FAILED, BARELY),
        # A neighbour at work: its memory was there before and does not count.
        ((gpu(0, memory=0, utilisation=99), gpu(1, memory=-3, utilisation=99)), FAILED, IDLE),
    ],
)
def test_single_gpu_run_is_witnessed(gpus, outcome, reason):
    result = spec_of(Level.C3).judge(MANIFEST, run(witness=witness(*gpus)))
    assert (result.outcome, result.paper, result.reason) == (outcome, PASSED, reason)


FEW = "{} of 2 ranks took part in a collective, each on its own GPU"
BOTH = witness(gpu(0), gpu(1))
SOME_BUSY = "NVML saw {} of 2 GPUs busy, which is at 3 % or more"


@pytest.mark.parametrize(
    ("ranks", "seen", "reason"),
    [
        ((), BOTH, FEW.format(0)),
        ((rank(0),), BOTH, FEW.format(1)),
        ((rank(0), rank(1, collectives=0)), BOTH, FEW.format(1)),
        ((rank(0, collectives=0), rank(1, collectives=0)), BOTH, FEW.format(0)),
        ((rank(0, device="1000"), rank(1, device="1000")), BOTH, FEW.format(1)),
        ((rank(0, ranks=4), rank(1, ranks=4)), BOTH, FEW.format(0)),
        ((rank(0), rank(1)), witness(gpu(0)), SOME_BUSY.format(1)),
        ((rank(0), rank(1)), witness(), SOME_BUSY.format(0)),
        (
            (rank(0), rank(1)),
            witness(gpu(0), gpu(1, utilisation=0)),
            SOME_BUSY.format(1),
        ),
    ],
)
def test_distributed_run_is_witnessed_by_ranks_and_nvml(ranks, seen, reason):
    result = spec_of(Level.C4).judge(MANIFEST, run(ranks=ranks, witness=seen))
    assert (result.outcome, result.paper, result.reason) == (FAILED, PASSED, reason)


def test_distributed_run_needs_as_many_gpus_as_ranks():
    entrypoint = replace(MANIFEST.entrypoints[Level.C4], ranks=4)
    manifest = replace(MANIFEST, entrypoints={Level.C4: entrypoint})
    needed = {spec.level: spec.gpus_needed(manifest) for spec in LEVELS}
    assert needed == {"C0": 0, "C1": 0, "C2": 1, "C3": 1, "C4": 4, "C5": 0}
