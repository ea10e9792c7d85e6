"""Prints the table of docs/performance.md: every row with its floor or peer, ratio and spread.

    python -m tests.bench.all [ROW...]

About seven minutes. A row that needs Docker or an index that is not here is left out, with the
reason. REB_BENCH_C0 names cases of C0, separated by spaces, each MIRROR,COMMIT,PYTHON: a git
repository, a commit, and the interpreter of an environment. By default it is this repository.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import docker

from reb_action.corpus import manifests
from reb_action.demo import commit_repository
from reb_action.model.agent import Dialect
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Command, Kind
from reb_action.source import checkout as source_checkout
from tests.bench import gateway, imports, installing, noop, scoreboard
from tests.bench.table import HEAD, Row, cpu_seconds, interleave
from tests.support.sandbox_fixtures import spec_for

ROOT = Path(__file__).parents[2]
REB = (sys.executable, "-m", "reb_action.cli.main")
FILES = 100_000
FILL = f"import os\nfor n in range({FILES}): os.close(os.open(f'f{{n}}', os.O_CREAT))"


def compile_modules() -> None:
    """Let Python keep compiled modules, as on a runner, in a folder of this benchmark."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="reb-bench-")


def start_up() -> Iterator[Row]:
    """Processor time of commands that do next to nothing."""
    cpu_seconds(*REB, "validate", "repos")
    bare, shown, valid = interleave(
        9,
        lambda: cpu_seconds(sys.executable, "-c", ""),
        lambda: cpu_seconds(*REB, "--help"),
        lambda: cpu_seconds(*REB, "validate", "repos"),
    )
    yield Row(what="`reb --help`, CPU", ours=shown, peer=bare, peer_name="bare Python", goal="none")
    yield Row(
        what="`reb validate repos`, CPU", ours=valid, peer=shown, peer_name="`reb --help`",
        goal="≤ 0.6 s",
    )  # fmt: skip


def c0() -> Iterator[Row]:
    """C0 against pyright on the checkout and the packages themselves."""
    given = os.environ.get("REB_BENCH_C0", f"{ROOT},HEAD,{sys.executable}")
    for case in given.split():
        mirror, commit, python = case.split(",")
        argv = ["git", "-C", mirror, "rev-parse", commit]
        commit = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()
        mine, full = imports.compare(Path(mirror), commit, Path(python), 3)
        yield Row(
            what=f"C0, {Path(mirror).name}, {Path(python).parents[1].name}, CPU",
            ours=[one.seconds for one in mine], peer=[one.seconds for one in full],
            peer_name=f"full pyright ({max(one.mb for one in full):.0f} MB)", peer_first=True,
            goal="≥ 5, large ≥ 20", note=f"({max(one.mb for one in mine):.0f} MB)",
        )  # fmt: skip


def trials() -> Iterator[Row]:
    """A trial with the agent `nop` against the same bare Docker operations."""
    client = docker.from_env()
    image = next(tag for one in client.images.list("reb-test-base") for tag in one.tags)
    place = Path(tempfile.mkdtemp(prefix="reb-bench-"))
    mirror = place / "mirror"
    commit_repository(noop.DEMO, mirror)
    wanted = manifests.load(noop.DEMO / "manifest.yaml")
    checkout = source_checkout.checkout(
        wanted, folder=place / "checkout", mirror=mirror, tell=lambda _: None
    )
    data = noop.packed(checkout.folder)
    (place / "mount").mkdir()
    noop.noop(wanted, image, mirror, place / "warm")
    names = iter(range(1000))
    work: list[float] = []

    def whole() -> float:
        began = time.process_time()
        seconds = noop.noop(wanted, image, mirror, place / f"trial-{next(names)}")
        work.append(time.process_time() - began)
        return seconds

    def argv() -> list[object]:
        where = ("--image", image, "--mirror", mirror, "--results", place / f"run-{next(names)}")
        return [*REB, "run", noop.DEMO / "manifest.yaml", "--agent", "nop", *where]

    cpu_seconds(*argv())
    bare, trial, process = interleave(
        5,
        lambda: noop.floor(client, image, place / "mount", data),
        whole,
        lambda: cpu_seconds(*argv()),
    )
    yield Row(
        what="no-op trial, wall", ours=trial, peer=bare, peer_name="bare Docker calls",
        goal="≤ 1.3",
    )  # fmt: skip
    rest = [all_of_it - own for all_of_it, own in zip(process, work, strict=True)]
    yield Row(
        what="`reb run` without the trial itself, CPU", ours=rest, peer=work,
        peer_name="the trial's own work", goal="≤ 0.4 s",
    )  # fmt: skip
    one, two, four = interleave(2, *(lambda count=n: together(argv, count) for n in (1, 2, 4)))
    for count, several in ((2, two), (4, four)):
        yield Row(
            what=f"{count} no-op trials at once, wall each", ours=several, peer=one,
            peer_name="one at a time", goal=f"{min(count, os.cpu_count() or 1)} with the cores",
            peer_first=True,
        )  # fmt: skip


def together(argv: Callable[[], list[object]], count: int) -> float:
    """Return the seconds for each of several trials that run at once."""
    began = time.monotonic()
    quiet = subprocess.DEVNULL
    runs = [
        subprocess.Popen([str(word) for word in argv()], stdout=quiet, stderr=quiet)
        for _ in range(count)
    ]
    if any(run.wait() for run in runs):
        raise SystemExit("a trial failed")
    return (time.monotonic() - began) / count


def removal() -> Iterator[Row]:
    """Removal of a sandbox with many files, against an empty one."""

    def remove(*argv: str) -> float:
        with tempfile.TemporaryDirectory() as place:
            sandbox = select.start(spec_for(Kind.DOCKER, Path(place)))
            home = sandbox.layout.home
            sandbox.run(Command(argv=argv, cwd=home, timeout_seconds=120))
            began = time.monotonic()
            sandbox.remove()
            return time.monotonic() - began

    full, empty = interleave(
        3, lambda: remove("/usr/bin/python3", "-c", FILL), lambda: remove("true")
    )
    yield Row(
        what=f"removal of a sandbox with {FILES:,} files, wall", ours=full, peer=empty,
        peer_name="an empty one", goal="nobody waits",
    )  # fmt: skip


def set_up() -> Iterator[Row]:
    """The action's cold set-up against uv from the same lock."""
    with tempfile.TemporaryDirectory() as place:
        found = installing.rows(Path(place))
    yield Row(
        what="set-up of the action, cold, wall", ours=[found["action, cold"]],
        peer=[found["uv, cold"]], peer_name="`uv venv`, `uv pip sync`", goal="≤ uv + 1 s",
    )  # fmt: skip


def calls() -> Iterator[Row]:
    """A short streamed call through the gateway against a direct one."""
    with gateway.running_model() as root, tempfile.TemporaryDirectory() as place:
        for dialect in (Dialect.ANTHROPIC, Dialect.CHAT):
            direct, through = gateway.paired(root, dialect, 60, place, scenario="text", stream=True)
            yield Row(
                what=f"gateway, short stream, {dialect}", ours=through, peer=direct, unit="ms",
                peer_name="direct", goal="≤ 1.5",
            )  # fmt: skip


def verdicts() -> Iterator[Row]:
    """Score and render many verdicts, against ten times fewer."""
    found = {n: scoreboard.measured("in_memory", n) for n in (1_000, 10_000, 100_000)}
    total = {n: one["score"] + one["summary"] + one["terminal"] for n, one in found.items()}
    for count in (10_000, 100_000):
        yield Row(
            what=f"{count:,} verdicts scored and rendered, CPU", ours=[total[count]],
            peer=[total[count // 10]], peer_name=f"{count // 10:,}", goal="linear: 10",
            note=f"({found[count]['mb']:.0f} MB)",
        )  # fmt: skip


ROWS = {each.__name__: each for each in (start_up, c0, trials, removal, set_up, calls, verdicts)}


def main() -> None:
    """Print the table row by row."""
    compile_modules()
    print(HEAD, flush=True)
    for name in sys.argv[1:] or ROWS:
        try:
            for row in ROWS[name]():
                print(row.render(), flush=True)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the other rows matter as well
            print(f"| {name} | left out: {type(error).__name__}: {error} | | | |", flush=True)


if __name__ == "__main__":
    main()
