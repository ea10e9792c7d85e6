"""The checkout while runs go on in it: what they cannot change, and what is seen of it."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load
from reb_action.model.agent import Change
from reb_action.model.manifest import Level
from reb_action.model.observation import Interpreter
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.guard import GuardedCheckout, protect_tracked_files
from reb_action.probe.survey import look_at_interpreter
from reb_action.sandbox.protocol import Kind
from reb_action.source.pristine import Source, TrackedFile
from reb_action.source.source_archive import pack_files
from tests.support.sandbox_fixtures import KINDS, shell

DEMO = Path(__file__).parents[1] / "demo" / "manifest.yaml"
FILES = {
    "train.py": b"print('original')\n",
    "run.sh": b"#!/bin/sh\n",
    "pkg/__init__.py": b"",
    "pkg/data.py": b"VALUE = 1\n",
    "pkg/__pycache__/old.pyc": b"old",
    "logs/history.txt": b"commit\n",
}
EDIT = "echo edited > pkg/data.py"
PUT_BACK = (
    "cp -p pkg/data.py ../b; echo edited > pkg/data.py; cat ../b > pkg/data.py; touch -r ../b"
)

pytestmark = pytest.mark.parametrize("sandbox", KINDS, indirect=True)


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "pristine"
    for path, content in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    files = tuple(
        TrackedFile(
            path=path,
            mode="100755" if path == "run.sh" else "100644",
            blob_sha1=hashlib.sha1(
                b"blob %d\0" % len(content) + content, usedforsecurity=False
            ).hexdigest(),
            size_bytes=len(content),
        )
        for path, content in FILES.items()
    )
    return Source(folder=folder, commit="1" * 40, committed_at=2**30, files=files, submodules=())


@pytest.fixture
def context(sandbox, source):
    """A context after the freeze, whose entry point changes one tracked file itself."""
    full = load(DEMO)
    entrypoint = replace(full.entrypoints[Level.C1], writes=("logs/history.txt",))
    manifest = replace(full, entrypoints={Level.C1: entrypoint})
    mount = Path(sandbox.spec.mount)
    reveal(mount, manifest)
    sandbox.put(sandbox.layout.repository, pack_files(source, FILES))
    context = ProbeContext(sandbox=sandbox, mount=mount, manifest=manifest)
    protect_tracked_files(context, source)
    return context


@pytest.fixture
def checkout(context, source):
    checkout = GuardedCheckout(context, source, writes=("logs/history.txt",))
    assert (checkout.fault, checkout.restored) == (None, ())
    return checkout


@pytest.fixture
def run(context):
    """Run a line of shell in the checkout, as an entry point is run."""
    return lambda script: shell(context.sandbox, script, cwd=context.layout.repository)


def pairs(changes):
    return [(one.path, one.change) for one in changes]


def content(context, path):
    return context.sandbox.read(f"{context.layout.repository}/{path}", limit_bytes=1000)


@pytest.mark.parametrize(
    ("script", "change"),
    [
        ("echo edited > pkg/data.py", Change.MODIFIED),
        ("sed -i s/1/2/ pkg/data.py", Change.MODIFIED),
        ("chmod 755 pkg/data.py", Change.MODIFIED),
        ("rm -f pkg/data.py", Change.DELETED),
        (f"{PUT_BACK} pkg/data.py", Change.PUT_BACK),
        ("mv pkg/data.py ../b; echo edited > pkg/data.py; mv ../b pkg/data.py", Change.PUT_BACK),
    ],
)
def test_change_of_a_tracked_file_is_denied_or_seen_and_put_back(
    context, checkout, run, script, change
):
    run(script)
    seen = pairs(checkout.changes())
    denied = context.sandbox.spec.kind is Kind.DOCKER
    assert seen == ([] if denied else [("pkg/data.py", change)])
    assert content(context, "pkg/data.py") == b"VALUE = 1\n"
    assert (checkout.fault, checkout.changes()) == (None, ())


@pytest.mark.parametrize(
    "script",
    [
        "mv pkg old",
        "mv ../repo ../old",
        "mv pkg/__pycache__ old",
        "chmod 777 pkg",
        "ln -f pkg/data.py linked",
        "touch -d 2001-01-01 pkg/data.py",
    ],
)
def test_container_keeps_tracked_folders_and_times(context, run, script):
    if context.sandbox.spec.kind is Kind.DOCKER:
        assert run(script).exit_code != 0


def test_module_put_in_the_place_of_a_tracked_one_is_seen(checkout, run):
    run("mkdir pkg/data && echo VALUE=2 > pkg/data/__init__.py")
    assert pairs(checkout.changes()) == [("pkg/data", Change.SHADOWED)]
    assert checkout.changes() == ()


def test_run_that_adds_files_and_reads_tracked_ones_changes_nothing(checkout, run):
    script = """
set -e
mkdir outputs pkg/__pycache__/more
cp -p pkg/data.py outputs/copy.py
echo compiled > pkg/__pycache__/data.pyc
echo first > results.txt; echo second > new; mv new results.txt; rm results.txt
./run.sh
"""
    assert run(script).exit_code == 0
    assert (checkout.changes(), checkout.fault) == ((), None)


@pytest.mark.parametrize(
    "script",
    [
        "echo run >> logs/history.txt",
        "rm logs/history.txt",
        "echo new > logs/new; mv logs/new logs/history.txt",
    ],
)
def test_file_that_the_entry_point_writes_is_its_own_and_as_at_the_commit_before_the_next_run(
    context, checkout, run, script
):
    assert run(script).exit_code == 0
    assert (checkout.changes(), checkout.fault) == ((), None)
    assert content(context, "logs/history.txt") == b"commit\n"
    assert run(script).exit_code == 0


def test_decoy_stands_in_the_place_of_a_file_and_is_no_change_of_the_run(context, checkout, run):
    with checkout.replaced("train.py", "print('decoy')\n"):
        assert run("cat train.py").stdout == b"print('decoy')\n"
        run(EDIT)
    seen = pairs(checkout.changes(besides=frozenset({"train.py"})))
    denied = context.sandbox.spec.kind is Kind.DOCKER
    assert seen == ([] if denied else [("pkg/data.py", Change.MODIFIED)])
    assert run("cat train.py").stdout == FILES["train.py"]


def test_decoy_gives_way_also_where_the_run_raises(checkout, run):
    with pytest.raises(KeyError), checkout.replaced("train.py", "print('decoy')\n"):
        raise KeyError
    assert run("cat train.py").stdout == FILES["train.py"]
    assert run("test -x run.sh").exit_code == 0


def test_checkout_that_the_agent_changed_is_put_right_first(context, source, run):
    if context.sandbox.spec.kind is Kind.LOCAL:
        run(f"{EDIT}; rm train.py")
        restored = GuardedCheckout(context, source, writes=()).restored
        assert pairs(restored) == [
            ("train.py", Change.DELETED),
            ("pkg/data.py", Change.MODIFIED),
        ]


@pytest.fixture
def interpreter(context):
    """The interpreter of an environment, a link, as examined at the freeze."""
    python = f"{context.layout.home}/venv/bin/python"
    shell(context.sandbox, f"mkdir -p {Path(python).parent}; ln -s /usr/bin/python3 {python}")
    seen = look_at_interpreter(context, python)
    return Interpreter(path=python, fault=None, path_is_good=True, identity=seen.identity)


@pytest.mark.parametrize(
    "swap",
    [
        "echo '#!/bin/sh' > wrapper; chmod +x wrapper; mv wrapper python",
        "cp /usr/bin/env python.new; mv python.new python",
        "ln -sf /usr/bin/env python",
        "echo 'home = /tmp' > ../pyvenv.cfg",
        "rm python",
        "mkfifo fifo; mv fifo python",
    ],
)
def test_interpreter_that_a_run_replaced_is_a_fault(context, source, interpreter, swap):
    checkout = GuardedCheckout(context, source, writes=(), interpreter=interpreter)
    assert checkout.fault is None
    shell(context.sandbox, swap, cwd=str(Path(interpreter.path).parent))
    assert checkout.changes() == ()
    assert checkout.fault.startswith(f"{interpreter.path} is not the program that was examined")
    later = GuardedCheckout(context, source, writes=(), interpreter=interpreter)
    assert later.fault == checkout.fault


def test_interpreter_that_stays_as_it_was_is_no_fault(context, source, interpreter):
    checkout = GuardedCheckout(context, source, writes=(), interpreter=interpreter)
    shell(context.sandbox, f"{interpreter.path} -c 0; touch {interpreter.path}")
    assert (checkout.changes(), checkout.fault) == ((), None)
