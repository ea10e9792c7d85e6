"""Processor time and memory of C0, against pyright on the checkout and the packages themselves.

    python -m tests.bench.imports MIRROR COMMIT PYTHON [PAIRS]

MIRROR is a git repository and PYTHON the interpreter of its environment. Both must name the same
missing modules.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from reb_action.corpus.manifests import load
from reb_action.imports import read_unresolved
from reb_action.model.observation import Interpreter
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.imports import Reported, observe_imports
from reb_action.probe.toolchain import SearchPaths, build_command, write_tree
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Kind
from reb_action.source.pristine import read_source
from tests.support.import_world import report_of
from tests.support.pyright_run import complete_toolchain, observed
from tests.support.sandbox_fixtures import spec_for

DEMO = Path(__file__).parent.parent / "demo" / "manifest.yaml"
PEAK = re.compile(r"(\d+) kB")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One run: its seconds of processor time, its peak memory, and the modules that it missed."""

    seconds: float
    mb: float
    missing: frozenset[str]


def ours(source_folder: Path, commit: str, python: Path) -> Answer:
    """Observe C0 once, in a local sandbox of its own."""
    with tempfile.TemporaryDirectory() as place:
        sandbox = select.start(spec_for(Kind.LOCAL, Path(place)))
        mount, manifest = Path(sandbox.spec.mount), load(DEMO)
        reveal(mount, manifest)
        context = ProbeContext(sandbox=sandbox, mount=mount, manifest=manifest)
        search = observed(python)
        interpreter = Interpreter(
            path=str(python), fault=None, path_is_good=True, prefix=search.prefix,
            version=".".join(map(str, (*search.version, 0))), search_paths=search.paths,
        )  # fmt: skip
        source = read_source(source_folder, commit)
        reported = Reported(report=report_of(python), interpreter=interpreter)
        before = os.times()
        seen = observe_imports(context, source, reported, ())
        after = os.times()
        sandbox.remove()
    return Answer(seconds=spent(before, after), mb=peak(), missing=frozenset(seen.missing))


def full(source_folder: Path, python: Path) -> Answer:
    """Run the same pyright on the checkout, as the paper does."""
    with tempfile.TemporaryDirectory() as place:
        search: SearchPaths = observed(python)
        write_tree(Path(place) / "t", files=(), search=search)
        ignored = shutil.ignore_patterns(".git")
        tree = Path(place) / "t" / "tree"
        shutil.copytree(source_folder, tree, symlinks=True, dirs_exist_ok=True, ignore=ignored)
        # pyright's own defaults, as the paper runs it.
        (tree / "pyrightconfig.json").write_text('{"include": ["."]}')
        tools = complete_toolchain(Path(place) / "tools")
        argv = build_command(tools=str(tools), folder=f"{place}/t")
        before = os.times()
        done = subprocess.run(argv, check=False, capture_output=True, env={"LC_ALL": "en"})
        after = os.times()
    seen = read_unresolved(json.loads(done.stdout))
    return Answer(seconds=spent(before, after), mb=peak(), missing=frozenset(seen.missing))


def spent(before: os.times_result, after: os.times_result) -> float:
    """Return the processor time of this process and its children between two moments."""
    return sum(after[:4]) - sum(before[:4])


def peak() -> float:
    """Return the largest memory of a child, in MB."""
    import resource  # noqa: PLC0415

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000


def once(kind: str, folder: Path, commit: str, python: Path) -> Answer:
    """Run one of the two in a process of its own, so that its peak memory is its own."""
    argv = [sys.executable, "-m", "tests.bench.imports", kind, folder, commit, python]
    done = subprocess.run(list(map(str, argv)), check=True, capture_output=True, text=True)
    seconds, mb, missing = json.loads(done.stdout)
    return Answer(seconds=seconds, mb=mb, missing=frozenset(missing))


def compare(
    mirror: Path, commit: str, python: Path, pairs: int
) -> tuple[list[Answer], list[Answer]]:
    """Return the interleaved runs of ours and of pyright on everything."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "source"
        subprocess.run(["git", "clone", "-q", "-n", mirror, folder], check=True)
        subprocess.run(["git", "-C", folder, "checkout", "-q", commit], check=True)
        both = [
            (once("ours", folder, commit, python), once("full", folder, commit, python))
            for _ in range(pairs)
        ]
    mine, theirs = [one for one, _ in both], [one for _, one in both]
    if mine[0].missing != theirs[0].missing:
        raise SystemExit(f"C0 differs: {sorted(mine[0].missing ^ theirs[0].missing)}")
    return mine, theirs


def main() -> None:
    """Print the runs of both."""
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    mine, theirs = compare(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), pairs)
    for a, b in zip(mine, theirs, strict=True):
        print(
            f"C0 {a.seconds:6.2f} s {a.mb:6.0f} MB   pyright {b.seconds:6.2f} s {b.mb:6.0f} MB"
            f"   {b.seconds / a.seconds:.1f} times, {len(a.missing)} missing in both"
        )


if __name__ == "__main__":
    if sys.argv[1] in ("ours", "full"):
        where, revision, interpreter = Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
        one = (
            ours(where, revision, interpreter)
            if sys.argv[1] == "ours"
            else full(where, interpreter)
        )
        print(json.dumps([one.seconds, one.mb, sorted(one.missing)]))
    else:
        main()
