"""Cheaters: each fools a naive judge, and none gets through ours."""

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from reb_action import documents, imports
from reb_action.agents.catalogue import agent
from reb_action.agents.run.execution import execute_agent
from reb_action.agents.run.launch import launch
from reb_action.agents.spec import AgentLimits
from reb_action.model.manifest import RUN_LEVELS, Level, Outcome
from reb_action.model.verdict import Verdict
from reb_action.probe import toolchain
from reb_action.redteam.cheater import Fools, cheaters, controls, limits
from reb_action.redteam.play import arena, control, options, play
from reb_action.redteam.selftest import selftest
from reb_action.sandbox import select
from reb_action.sandbox.protocol import Command, Kind
from reb_action.session.layout import SessionLayout
from reb_action.trial import run as trial_run
from reb_action.trial import start, stop
from tests.support.sandbox_fixtures import docker_image, isolate_nothing, shell

pytestmark = pytest.mark.slow


def kind_for(cheater):
    return Kind.DOCKER if cheater.isolated else Kind.LOCAL


def naive_kind_for(cheater):
    """In a folder of this machine the kernel keeps two commands apart, whoever judges."""
    return Kind.DOCKER if cheater.fools is Fools.SUPERVISOR else kind_for(cheater)


def marked(cheater, kind_of=None):
    kind = (kind_of or kind_for)(cheater)
    marks = [pytest.mark.docker] if kind is Kind.DOCKER else []
    if marks and kind_of is None:
        marks.append(pytest.mark.repeated)
    if "\ncc " in (cheater.folder / "run.sh").read_text() and shutil.which("cc") is None:
        reason = "a cheater has to be compiled, and there is no cc (Debian: gcc, libc6-dev)"
        marks.append(pytest.mark.skip(reason=reason))
    return pytest.param(cheater, id=cheater.name, marks=marks)


CHEATERS = [marked(cheater) for cheater in cheaters()]


@pytest.fixture(scope="session")
def arenas(tmp_path_factory):
    """Return the arena of a kind of sandbox, made once."""
    made = {}

    def find(kind):
        if kind not in made:
            image = docker_image() if kind is Kind.DOCKER else None
            made[kind] = arena(tmp_path_factory.mktemp(f"arena-{kind}"), kind=kind, image=image)
        return made[kind]

    return find


NAIVELY_JUDGED = [marked(cheater, naive_kind_for) for cheater in (*cheaters(), *limits())]

SURVIVORS = [
    pytest.param(cheater, id=cheater.name)
    for cheater in cheaters()
    if cheater.fools is Fools.SUPERVISOR
]


@pytest.mark.parametrize("cheater", CHEATERS)
def test_cheater_does_not_get_through(cheater, arenas):
    assert play(arenas(kind_for(cheater)), cheater).faults == ()


@pytest.mark.docker
def test_selftest_with_two_jobs_keeps_the_order_of_the_plays(tmp_path):
    lines = selftest(
        tmp_path, kind=Kind.DOCKER, image=docker_image(), gpus=0, only="excepthook", jobs=2
    )
    assert [(line.split()[0], passed) for line, passed in lines] == [
        ("bare", True),
        ("right", True),
        ("excepthook", True),
    ]


@pytest.mark.docker
@pytest.mark.repeated
@pytest.mark.parametrize("cheater", SURVIVORS)
def test_survivor_does_not_get_through_in_a_container(cheater, arenas):
    assert play(arenas(Kind.DOCKER), cheater).faults == ()


@pytest.mark.parametrize("cheater", SURVIVORS)
def test_survivor_does_not_get_through_where_the_machine_isolates_nothing(
    cheater, arenas, monkeypatch, tmp_path
):
    isolate_nothing(monkeypatch, tmp_path)
    assert passed(play(arenas(Kind.LOCAL), cheater).results) == ()


@pytest.mark.parametrize("honest", controls(), ids=lambda honest: honest.name)
def test_honest_agent_gets_what_it_deserves(honest, arenas):
    assert control(arenas(Kind.LOCAL), honest).faults == ()


@pytest.mark.parametrize("cheater", [marked(cheater) for cheater in limits()])
def test_known_limit_is_still_one(cheater, arenas):
    outcomes = {one.level: one.outcome for one in play(arenas(Kind.LOCAL), cheater).results}
    assert outcomes[Level.C1] is Outcome.PASSED


def test_module_beside_the_script_that_waits_is_listed(arenas):
    cheater = next(cheater for cheater in limits() if cheater.name == "lazy-shadow")
    play(arenas(Kind.LOCAL), cheater)
    layout = SessionLayout(folder=arenas(Kind.LOCAL).folder / cheater.name / "trial")
    assert documents.read(layout.verdict, Verdict, kind="verdict").shadowing == ("argparse.py",)


HIDING = """
import os, sys
here = os.path.dirname(os.path.abspath(__file__))
listed = os.listdir
os.listdir = lambda path=".": [name for name in listed(path) if not name.startswith("hook")]
sys.path = [entry for entry in sys.path if entry != here]
"""
GOING = (
    HIDING
    + """
with open("/proc/self/cmdline", "rb") as stream:
    if b"facts" in stream.read():
        os.unlink(here + "/hook.pth")
"""
)


@pytest.mark.parametrize("lines", [HIDING, GOING], ids=["hiding", "going"])
def test_hook_that_hides_from_its_interpreter_is_listed(lines, arenas, tmp_path):
    imitator = next(cheater for cheater in limits() if cheater.name == "imitator")
    folder = shutil.copytree(imitator.folder, tmp_path / "hiding")
    (folder / "hook.py").write_text((folder / "hook.py").read_text() + lines)
    where = arenas(Kind.LOCAL)
    chosen = options(where, "hiding", folder, bait=imitator.bait, levels=imitator.levels)
    verdict = trial_run.run(chosen, environ={}, tell=lambda _: None)
    assert [hook.rpartition("/")[2] for hook in verdict.hooks] == ["hook.pth"]


@pytest.mark.parametrize("cheater", NAIVELY_JUDGED)
def test_cheater_fools_a_naive_judge(cheater, arenas):
    # Some cheaters race with the judge: on a busy machine they win less often.
    assert any(fools_a_naive_judge(cheater, arenas) for _ in range(3))


def fools_a_naive_judge(cheater, arenas):
    with played(arenas(naive_kind_for(cheater)), cheater) as (sandbox, manifest):
        return NAIVE[cheater.fools](sandbox, manifest, cheater)


@contextmanager
def played(where, cheater):
    """Let a cheater work, and yield its sandbox as it left it."""
    chosen = options(
        where,
        f"naive-{cheater.name}",
        cheater.before or cheater.folder,
        bait=cheater.bait,
        levels=cheater.levels,
    )
    layout = SessionLayout(folder=chosen.folder)
    begun = start.start(chosen, owner=os.getpid(), tell=lambda _: None)
    try:
        sandbox = select.attach(begun.spec, begun.handle)
        spec = agent("replay", argument=chosen.agent.argument)
        clock = AgentLimits(total_seconds=60, setup_seconds=60)
        started = launch(
            sandbox.layout,
            spec,
            prompt="",
            deadline_seconds=clock.total_seconds,
            settings={},
            model=None,
        )
        execute_agent(sandbox, spec, started, limits=clock, gateway=None, secrets=(), layout=layout)
        yield sandbox, chosen.manifest
        sandbox.halt()
    finally:
        stop.stop(layout, tell=lambda _: None)


def believed(sandbox):
    """Return the report as a judge without suspicion reads it; no report claims nothing.

    The file is read by the sandbox: into the output of a `cat`, a survivor writes its own lines.
    """
    read = sandbox.read(sandbox.layout.report, limit_bytes=2**20)
    return json.loads(read) if isinstance(read, bytes) else {}


def run(sandbox, *argv):
    """Run a command as the first implementation does: with what the agent left."""
    report = believed(sandbox)
    named = report.get("environment", {})
    own = str(Path(report["python_path"]).parent)
    path = ":".join((named.get("PATH", own), own, "/usr/bin:/bin"))
    env = {"HOME": sandbox.layout.home, **named, "PATH": path}
    filled = [word.replace("{python}", report["python_path"]) for word in argv]
    cwd = sandbox.layout.repository
    return sandbox.run(Command(argv=tuple(filled), cwd=cwd, timeout_seconds=30, env=env))


def by_exit_code(sandbox, manifest, cheater):
    level = next(level for level in RUN_LEVELS if level in cheater.levels)
    return run(sandbox, *manifest.entrypoints[level].argv).exit_code == 0


def by_freshness(sandbox, manifest, _cheater):
    repository = sandbox.layout.repository
    shell(sandbox, "touch begun", cwd=repository)
    run(sandbox, *manifest.entrypoints[Level.C1].argv)
    look = "sleep 0.2; test outputs/line.json -nt begun"
    return shell(sandbox, look, cwd=repository).exit_code == 0


def by_imports(sandbox, _manifest, _cheater):
    tools = toolchain.find_toolchain()
    place = f"{tools.bundle}/index.js"
    ended = run(sandbox, str(tools.node), place, "--outputjson", "--pythonpath", "{python}")
    return not imports.read_unresolved(json.loads(ended.stdout)).missing


def by_cuda(sandbox, _manifest, _cheater):
    return (
        run(sandbox, "{python}", "-c", "import torch; assert torch.cuda.is_available()").exit_code
        == 0
    )


def by_report(sandbox, _manifest, _cheater):
    interpreter = f"{sandbox.layout.home}/venv/bin/python"
    shell(sandbox, f"{interpreter} -c ''", env={"HOME": sandbox.layout.home})
    return believed(sandbox).get("python_version") is None


def by_supervisor(sandbox, manifest, _cheater):
    """Return whether a cheater answers in the place of a supervisor without protection.

    A cheater races the supervisor for its processor time: on a busy machine it may lose once.
    """
    naive = Path(sandbox.spec.mount) / "probes" / "supervise.py"
    naive.parent.mkdir()
    naive.write_text(NAIVE_SUPERVISOR)
    return any(is_forged(sandbox, manifest) for _ in range(3))


def is_forged(sandbox, manifest):
    """Ask the interpreter, then trust who answers with the secret, as supervisors once did."""
    run(sandbox, "{python}", "-c", "")
    argv = manifest.entrypoints[Level.C1].argv
    files = [f"{sandbox.layout.repository}/outputs/line.json"]
    asked = {"nonce": "5" * 32, "argv": argv, "replace": {}, "collect": files}
    ended = sandbox.run(
        Command(
            argv=(sandbox.trusted_python, f"{sandbox.layout.tools}/probes/supervise.py"),
            cwd="/",
            timeout_seconds=30,
            secret_env={"REB_REQUEST": json.dumps(asked)},
        )
    )
    told = json.loads(ended.stderr.strip().rpartition(b"\n")[2])
    return (told["nonce"], told["exit_code"]) == ("5" * 32, 0)


def passed(results):
    """Return the levels that passed, without the report's."""
    return tuple(
        one.level for one in results if one.outcome is Outcome.PASSED and one.level is not Level.C5
    )


NAIVE_SUPERVISOR = """
import json, os, sys, time
# A cheater that wins ends this at once; on a busy machine it needs more than a few seconds.
time.sleep(20)
nonce = json.loads(os.environ["REB_REQUEST"])["nonce"]
sys.stderr.write(json.dumps({"nonce": nonce, "exit_code": 1}))
"""

NAIVE = {
    Fools.SUPERVISOR: by_supervisor,
    Fools.EXIT_CODE: by_exit_code,
    Fools.FRESHNESS: by_freshness,
    Fools.IMPORTS: by_imports,
    Fools.CUDA: by_cuda,
    Fools.REPORT: by_report,
}
