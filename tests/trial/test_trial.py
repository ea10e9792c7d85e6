"""Whole trials in the local sandbox: phases, crashes, and what stays on disk."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from reb_action import documents
from reb_action.cli.main import cli
from reb_action.corpus import manifests
from reb_action.errors import DocumentError, UsageError
from reb_action.model.agent import Ending
from reb_action.model.fault import FaultCause
from reb_action.model.manifest import CurveProof, Level, LogProof, Outcome
from reb_action.model.report import ReportFaultKind
from reb_action.model.verdict import ClaimKind
from reb_action.results import page as results_page
from reb_action.sandbox.protocol import Kind
from reb_action.session import evidence, state
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, Phase
from reb_action.source import pristine as source_pristine
from reb_action.trial import agent, probe, start, stop
from reb_action.trial import options as trial_options
from reb_action.trial import run as trial_run

DEMO = Path(__file__).parents[1] / "demo"
SYSTEM = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable


FAULT = "internal error in reb, please report it: ValueError"


def silent(_line):
    pass


@pytest.fixture
def wanted():
    """A manifest whose entry point needs the standard library only."""
    return simple_manifest()


def simple_manifest():
    full = manifests.load(DEMO / "manifest.yaml")
    entrypoint = full.entrypoints[Level.C1]
    simple = replace(
        entrypoint,
        argv=("{python}", "-c", "import spirals; print('imported', spirals.__doc__)"),
        decoy="spirals/__init__.py",
        proofs=(LogProof(log="^imported Spirals"),),
    )
    return replace(full, entrypoints={Level.C1: simple})


@pytest.fixture
def folder(tmp_path):
    """A player for the replay agent; tests add their script and report."""
    place = tmp_path / "player"
    place.mkdir()
    (place / "notes.txt").touch()
    return place


def report_of(**fields):
    return json.dumps(
        {
            "python_path": "{home}/venv/bin/python",
            "python_version": None,
            "torch_version": None,
            "cuda_available": None,
            "gpu_count": None,
            "ddp_expected_ok": None,
            "env_tool": "venv",
            "env_name": None,
            "notes": None,
            **fields,
        }
    )


def honest(folder):
    (folder / "run.sh").write_text(f'{SYSTEM} -m venv --without-pip "$HOME/venv"\n')
    (folder / "report.json").write_text(report_of())


LEVELS = (Level.C1, Level.C5)
"""What a test measures that asks nothing about imports: C0 takes longer than all the rest."""


def options_of(wanted, folder, mirror, results, *, name="replay", seconds=60, levels=tuple(Level)):
    choice = AgentChoice(
        name=name,
        argument=str(folder) if name == "replay" else None,
        total_seconds=seconds,
        setup_seconds=60,
    )
    return trial_options.Options(
        manifest=wanted,
        agent=choice,
        folder=results,
        kind=Kind.LOCAL,
        mirror=mirror,
        levels=levels,
    )


def run(options):
    return trial_run.run(options, environ={}, tell=silent)


@pytest.fixture(scope="module")
def honest_trial(mirror, tmp_path_factory):
    """The folder and the verdict of a trial that is over; tests that change it use `finished`."""
    place = tmp_path_factory.mktemp("honest")
    player = place / "player"
    player.mkdir()
    honest(player)
    verdict = run(options_of(simple_manifest(), player, mirror, place / "results"))
    return SessionLayout(folder=place / "results"), verdict


@pytest.fixture
def finished(honest_trial, tmp_path):
    """A copy of the honest trial's folder."""
    folder = tmp_path / "results"
    shutil.copytree(honest_trial[0].folder, folder, symlinks=True)
    return SessionLayout(folder=folder)


def test_honest_trial_passes_what_applies(honest_trial):
    _, verdict = honest_trial
    outcomes = {result.level: result.outcome for result in verdict.results}
    assert outcomes == {
        Level.C0: Outcome.FAILED,
        Level.C1: Outcome.PASSED,
        Level.C2: Outcome.NOT_APPLICABLE,
        Level.C3: Outcome.NOT_APPLICABLE,
        Level.C4: Outcome.NOT_APPLICABLE,
        Level.C5: Outcome.PASSED,
    }
    assert verdict.result(Level.C0).reason == "3 not installed: numpy, tqdm, yaml"


@pytest.mark.parametrize(
    ("losses", "outcome", "reason"),
    [
        ("seed * 0.5 ** n", Outcome.PASSED, "the entry point ran and its proofs hold"),
        ("0.5 ** n", Outcome.FAILED, "two seeds gave the same losses"),
        ("time.time() * 0.5 ** (n + time.time() % 1)", Outcome.FAILED, "with the same seed differ"),
        ("float(seed)", Outcome.FAILED, "a fall by at least 50% is asked for"),
    ],
)
def test_losses_must_fall_and_depend_on_the_seed(
    wanted, folder, mirror, tmp_path, losses, outcome, reason
):
    honest(folder)
    code = "import spirals, time; seed = {seed}; print('imported', spirals.__doc__); "
    code += f"[print('loss', {losses}) for n in range(20)]"
    entrypoint = wanted.entrypoints[Level.C1]
    curve = CurveProof(curve=r"^loss (\S+)$", at_least=20, falls=0.5, repeats=0.001)
    entrypoint = replace(
        entrypoint, argv=("{python}", "-c", code), proofs=(*entrypoint.proofs, curve)
    )
    wanted = replace(wanted, entrypoints={Level.C1: entrypoint})
    options = options_of(wanted, folder, mirror, tmp_path / "results")
    result = run(replace(options, levels=(Level.C1,))).result(Level.C1)
    assert (result.outcome, reason in result.reason) == (outcome, True)


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ("print('loss', 1e-9 * (time.time() % 1))", "with the same seed differ"),
        ("sys.exit(os.path.exists(mark) or os.mkdir(mark))", "the same seed: exit code 1"),
    ],
)
def test_second_run_must_end_well_with_the_very_same_losses(
    wanted, folder, mirror, tmp_path, last, reason
):
    honest(folder)
    code = f"import spirals, os, sys, time; mark = {str(tmp_path / 'mark')!r}; "
    code += "print('imported', spirals.__doc__); "
    code += f"[print('loss', 0.5 ** n) for n in range(20)]; {last}"
    curve = CurveProof(curve=r"^loss (\S+)$", at_least=20, falls=0.5, repeats=0)
    entrypoint = wanted.entrypoints[Level.C1]
    entrypoint = replace(
        entrypoint, argv=("{python}", "-c", code), proofs=(*entrypoint.proofs, curve)
    )
    wanted = replace(wanted, entrypoints={Level.C1: entrypoint})
    options = options_of(wanted, folder, mirror, tmp_path / "results")
    result = run(replace(options, levels=(Level.C1,))).result(Level.C1)
    assert result.outcome is Outcome.FAILED
    assert reason in result.reason


def test_verdict_is_recomputed_byte_for_byte(finished):
    before = finished.verdict.read_bytes()
    session_verdict.judge_again(finished)
    session_verdict.conclude(finished)
    assert finished.verdict.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("planted", ["touch", "ln -s /nowhere", "ln -s /usr", "mkfifo"])
def test_what_stands_in_the_place_of_the_runs_folder_goes(
    wanted, folder, mirror, tmp_path, planted
):
    honest(folder)
    with (folder / "run.sh").open("a") as script:
        script.write(f"{planted} ../runs\n")
    verdict = run(options_of(wanted, folder, mirror, tmp_path / "results", levels=LEVELS))
    assert verdict.result(Level.C1).outcome is Outcome.PASSED


@pytest.mark.parametrize("name", ["levels/C1.json", "levels/C1.log", "report.json", "agent.json"])
def test_changed_artifact_is_refused_by_name(finished, name):
    path = finished.folder / name
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(DocumentError, match=name):
        session_verdict.judge_again(finished)


def test_a_fault_that_nobody_foresaw_costs_one_level(wanted, folder, mirror, tmp_path, monkeypatch):
    honest(folder)
    observe = probe.probe_level

    def stumbling(layout, level, *, tell):
        if level is Level.C0 and layout.folder.name == "first":
            raise ValueError("nobody foresaw this")
        return observe(layout, level, tell=tell)

    monkeypatch.setattr(probe, "probe_level", stumbling)
    told = list[str]()
    first = trial_run.run(
        options_of(wanted, folder, mirror, tmp_path / "first"), environ={}, tell=told.append
    )
    assert f"C0 could not be observed: {FAULT}: nobody foresaw this" in told
    assert first.result(Level.C0).outcome is Outcome.INVALID
    assert first.result(Level.C1).outcome is Outcome.PASSED


def test_changed_page_is_told_and_can_be_made_again(honest_trial, finished):
    layout = finished
    results_page.write_page(layout, honest_trial[1])
    page = layout.page.read_bytes()
    unsigned = f"reb: {session_verdict.UNSIGNED}; reb verify checks a signature\n"
    assert (judged(layout).exit_code, judged(layout).stderr) == (0, unsigned)
    layout.page.write_bytes(page.replace(b"failed", b"passed"))
    told = judged(layout)
    assert told.exit_code == 0
    assert told.stderr == (
        "reb: index.html differs from the page that this reb renders: it is from another"
        " release, or was changed; trust this verdict, or rewrite the page with reb judge "
        "--write\n" + unsigned
    )
    assert told.stdout == judged(layout).stdout
    assert judged(layout, "--write").exit_code == 0
    assert layout.page.read_bytes() == page


def test_verdict_with_an_old_reason_is_refused_until_it_is_written_again(honest_trial, finished):
    layout, verdict = finished, honest_trial[1]
    whole = layout.verdict.read_bytes()
    reason = json.dumps(verdict.result(Level.C0).reason, ensure_ascii=False).encode()
    layout.verdict.write_bytes(whole.replace(reason, b'"as an earlier build said it"'))
    refused = judged(layout)
    assert "verdict.json differs from the verdict that its evidence gives" in str(refused.exception)
    assert "run reb judge --write to replace it" in str(refused.exception)
    assert judged(layout, "--write").exit_code == 0
    assert layout.verdict.read_bytes() == whole


def judged(layout, *more):
    return CliRunner().invoke(cli, ["judge", str(layout.folder), *more])


def test_credential_is_nowhere_in_a_folder_that_is_judged_as_it_stands(
    wanted, folder, mirror, tmp_path
):
    token = "gh" + "p_" + "a1B2" * 9
    honest(folder)
    (folder / "report.json").write_text(report_of(notes=f"used {token}"))
    with (folder / "run.sh").open("a") as script:
        script.write(f"echo {token}\n")
    code = "import spirals; print('imported Spirals', 'gh' + 'p_' + 'a1B2' * 9)"
    talkative = replace(
        wanted.entrypoints[Level.C1],
        argv=("{python}", "-c", code),
        proofs=(LogProof(log="^imported Spirals"),),
    )
    wanted = replace(wanted, entrypoints={Level.C1: talkative})
    layout = SessionLayout(folder=tmp_path / "results")
    verdict = run(options_of(wanted, folder, mirror, layout.folder, levels=LEVELS))
    assert verdict.result(Level.C1).outcome is Outcome.PASSED
    assert layout.log(Level.C1).read_text() == "imported Spirals ***\n"
    assert layout.agent_log.read_text() == "***\n"
    assert json.loads(layout.report.read_text())["notes"] == "used ***"
    files = [path for path in layout.folder.rglob("*") if path.is_file()]
    assert [path for path in files if token.encode() in path.read_bytes()] == []
    assert session_verdict.judge_again(layout) == verdict


def test_stop_seals_the_log_of_a_killed_agent(wanted, folder, mirror, tmp_path):
    layout = started(wanted, folder, mirror, tmp_path / "results")
    layout.agent_log.write_text("key " + "gh" + "p_" + "a1B2" * 9)
    stop.stop(layout, tell=silent)
    assert layout.agent_log.read_text() == "key ***"


def test_vanished_observation_is_refused_by_name(finished):
    finished.observation("C1").unlink()
    with pytest.raises(DocumentError, match=r"levels/C1\.json differs from what was judged"):
        session_verdict.judge_again(finished)


def test_unobserved_level_is_invalid_and_never_passed(finished):
    finished.observation("C1").unlink()
    result = session_verdict.conclude(finished).result(Level.C1)
    assert (result.outcome, result.paper) == (Outcome.INVALID, Outcome.INVALID)


def test_nop_agent_is_blocked_everywhere_and_dishonest_nowhere(wanted, folder, mirror, tmp_path):
    verdict = run(options_of(wanted, folder, mirror, tmp_path / "results", name="nop"))
    assert verdict.result(Level.C0).outcome is Outcome.BLOCKED
    assert verdict.result(Level.C0).imports.missing == verdict.result(Level.C0).imports.total
    assert verdict.result(Level.C1).outcome is Outcome.BLOCKED
    assert verdict.result(Level.C5).outcome is Outcome.FAILED
    assert verdict.report_fault.kind is ReportFaultKind.MISSING


def test_agent_that_overstays_is_timed_out_and_still_measured(wanted, folder, mirror, tmp_path):
    honest(folder)
    (folder / "run.sh").write_text(
        f'{SYSTEM} -m venv --without-pip "$HOME/venv"\n'
        f'sed "s|{{home}}|$HOME|" {folder}/report.json > "$REB_REPORT"\nsleep 600\n'
    )
    verdict = run(
        options_of(wanted, folder, mirror, tmp_path / "results", seconds=10, levels=LEVELS)
    )
    assert verdict.agent_run.ending is Ending.TIMED_OUT
    assert verdict.result(Level.C1).outcome is Outcome.PASSED


def test_touched_files_are_told_and_restored(wanted, folder, mirror, tmp_path):
    honest(folder)
    with (folder / "run.sh").open("a") as script:
        script.write("rm README.md; echo 'print(1)' > spirals/__init__.py\n")
    verdict = run(options_of(wanted, folder, mirror, tmp_path / "results", levels=LEVELS))
    told = [(one.path, one.change) for one in verdict.touched]
    assert told == [("README.md", "deleted"), ("spirals/__init__.py", "modified")]
    assert verdict.result(Level.C1).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ('ln -s /etc/passwd "$REB_REPORT"', ReportFaultKind.NOT_A_FILE),
        ('mkfifo "$REB_REPORT"', ReportFaultKind.NOT_A_FILE),
        ('mkdir "$REB_REPORT"', ReportFaultKind.NOT_A_FILE),
        ('head -c 3000000 /dev/zero > "$REB_REPORT"', ReportFaultKind.TOO_LARGE),
        ('truncate -s 100G "$REB_REPORT"', ReportFaultKind.TOO_LARGE),
        ('echo hello > "$REB_REPORT"', ReportFaultKind.NOT_JSON),
        ("true", ReportFaultKind.MISSING),
    ],
)
def test_what_is_no_report_blocks_the_levels(wanted, folder, mirror, tmp_path, command, kind):
    (folder / "run.sh").write_text(f"{command}\n")
    verdict = run(options_of(wanted, folder, mirror, tmp_path / "results"))
    assert verdict.report_fault.kind is kind
    assert verdict.result(Level.C1).outcome is Outcome.BLOCKED
    assert verdict.result(Level.C1).reason == verdict.report_fault.message


def test_slips_of_a_report_block_no_level(wanted, folder, mirror, tmp_path):
    honest(folder)
    slips = report_of(
        env_tool="micromamba",
        installed_packages=["numpy==2.0"],
        environment={"CUDA_HOME": 1, "LD_PRELOAD": "/x.so"},
        notes=["done", "\ud83d"],
    )
    (folder / "report.json").write_text(f"\ufeff{slips}", encoding="utf-8")
    options = options_of(wanted, folder, mirror, tmp_path / "results", levels=LEVELS)
    verdict = run(options)
    assert verdict.result(Level.C1).outcome is Outcome.PASSED
    assert verdict.result(Level.C5).outcome is Outcome.PASSED
    assert {one.field for one in verdict.field_faults} == {
        *("env_tool", "installed_packages", "environment", "notes", "report.json"),
    }
    assert session_verdict.judge_again(SessionLayout(folder=options.folder)) == verdict


def test_report_without_interpreter_blocks_and_keeps_its_claims(wanted, folder, mirror, tmp_path):
    (folder / "run.sh").write_text("true\n")
    (folder / "report.json").write_text(report_of(python_path="venv/bin/python"))
    verdict = run(options_of(wanted, folder, mirror, tmp_path / "results"))
    assert verdict.report_fault.kind is ReportFaultKind.NOT_VALID
    assert verdict.result(Level.C1).reason == verdict.report_fault.message
    assert verdict.audit.hallucinations(ClaimKind.PATH) == 1


def test_script_as_interpreter_confirms_no_version(wanted, folder, mirror, tmp_path):
    (folder / "run.sh").write_text(
        'mkdir -p "$HOME/venv/bin"\nprintf "#!/bin/sh\\nexit 0\\n" > "$HOME/venv/bin/python"\n'
        'chmod +x "$HOME/venv/bin/python"\n'
    )
    claims = {"python_version": "3.9.99", "torch_version": "2.4.0", "cuda_available": True}
    (folder / "report.json").write_text(report_of(**claims, gpu_count=8, ddp_expected_ok=True))
    verdict = run(options_of(wanted, folder, mirror, tmp_path / "results"))
    assert verdict.result(Level.C1).outcome is Outcome.BLOCKED
    counts = tuple(map(verdict.audit.hallucinations, ClaimKind))
    # This runner has no GPU, so that nothing is known of the claims about them.
    assert counts == (0, 2, 0)
    assert verdict.result(Level.C5).paper is Outcome.FAILED


def test_folder_with_a_trial_is_refused_and_kept(wanted, folder, mirror, finished):
    honest(folder)
    before = finished.verdict.read_bytes()
    with pytest.raises(UsageError, match="already has a trial"):
        run(options_of(wanted, folder, mirror, finished.folder))
    assert finished.verdict.read_bytes() == before


def test_unknown_commit_leaves_no_folder(wanted, folder, mirror, tmp_path):
    honest(folder)
    lost = replace(wanted, commit="1" * 40)
    options = options_of(lost, folder, mirror, tmp_path / "results")
    with pytest.raises(Exception, match="does not have commit"):
        run(options)
    assert not options.folder.exists()


def test_decoy_that_is_not_at_the_commit_is_refused_before_the_agent(
    wanted, folder, mirror, tmp_path
):
    (folder / "run.sh").write_text(f"touch {tmp_path}/worked\n")
    (folder / "report.json").write_text(report_of())
    lost = replace(wanted.entrypoints[Level.C1], decoy="nope.py")
    options = options_of(
        replace(wanted, entrypoints={Level.C1: lost}), folder, mirror, tmp_path / "results"
    )
    with pytest.raises(DocumentError, match=r"^the manifest of researchenvbench/spirals: .*nope"):
        run(options)
    assert not (tmp_path / "worked").exists()
    assert not options.folder.exists()


REB = (sys.executable, "-m", "reb_action.cli.main")


def reb(*arguments):
    return subprocess.Popen(
        [*REB, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def processes_with(marker):
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if marker.encode() in place.read_bytes():
                found.append(int(place.parent.name))
        except OSError:
            continue
    return found


def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def started(wanted, folder, mirror, results):
    options = options_of(wanted, folder, mirror, results)
    start.start(options, owner=os.getpid(), tell=silent)
    return SessionLayout(folder=results)


def kill_in(condition, *arguments):
    step = reb(*arguments)
    until(condition)
    step.send_signal(signal.SIGKILL)
    step.wait()


@pytest.mark.parametrize("remedy", ["stop", "start"])
@pytest.mark.parametrize("phase", ["agent", "freeze", "C0", "C1"])
def test_kill_in_a_phase_leaves_nothing_after(wanted, folder, mirror, tmp_path, phase, remedy):
    honest(folder)
    if phase == "agent":
        (folder / "run.sh").write_text("sleep 300\n")
    if phase == "C1":
        slow = replace(
            wanted.entrypoints[Level.C1],
            argv=("{python}", "-c", "import spirals, time; time.sleep(300)"),
        )
        wanted = replace(wanted, entrypoints={Level.C1: slow})
    layout = started(wanted, folder, mirror, tmp_path / "results")
    marker = state.load(layout).spec.session
    if phase == "agent":
        kill_in(lambda: processes_with(marker), "agent", str(layout.folder))
    elif phase == "freeze":
        kill_in(layout.report.exists, "agent", str(layout.folder))
    else:
        agent.run_agent(layout, environ={}, tell=silent)
        kill_in(lambda: processes_with(marker), "probe", str(layout.folder), phase)
    if remedy == "stop":
        stop.stop(layout, tell=silent)
    else:
        other = options_of(wanted, folder, mirror, tmp_path / "other")
        start.start(other, owner=os.getpid(), tell=silent)
        stop.stop(SessionLayout(folder=other.folder), tell=silent)
    assert processes_with(marker) == []


def test_kill_keeps_what_was_known_and_the_rest_can_go_on(wanted, folder, mirror, tmp_path):
    honest(folder)
    layout = started(wanted, folder, mirror, tmp_path / "results")
    agent.run_agent(layout, environ={}, tell=silent)
    probe.probe_level(layout, Level.C1, tell=silent)
    marker = state.load(layout).spec.session
    kill_in(lambda: processes_with(marker), "probe", str(layout.folder), "C0")
    assert session_verdict.conclude(layout).result(Level.C1).outcome is Outcome.PASSED
    assert session_verdict.conclude(layout).result(Level.C0).outcome is Outcome.INVALID
    assert probe.probe_level(layout, Level.C0, tell=silent).outcome is Outcome.FAILED
    stop.stop(layout, tell=silent)


def test_step_on_a_stopped_trial_is_refused(wanted, folder, mirror, tmp_path):
    honest(folder)
    layout = started(wanted, folder, mirror, tmp_path / "results")
    stop.stop(layout, tell=silent)
    assert state.load(layout).phase is Phase.STOPPED
    with pytest.raises(UsageError, match="is stopped"):
        probe.probe_level(layout, Level.C0, tell=silent)


def test_nothing_is_measured_before_the_agent_has_worked(wanted, folder, mirror, tmp_path):
    honest(folder)
    layout = started(wanted, folder, mirror, tmp_path / "results")
    with pytest.raises(
        UsageError, match=r"the agent has not run yet in (.*); run reb agent \1 first"
    ):
        probe.probe_level(layout, Level.C1, tell=silent)
    agent.run_agent(layout, environ={}, tell=silent)
    assert probe.probe_level(layout, Level.C1, tell=silent).outcome is Outcome.PASSED
    stop.stop(layout, tell=silent)


def test_an_agent_at_work_is_left_alone_and_one_that_was_interrupted_can_be_measured(
    wanted, folder, mirror, tmp_path
):
    (folder / "run.sh").write_text("sleep 300\n")
    layout = started(wanted, folder, mirror, tmp_path / "results")
    step = reb("agent", str(layout.folder))
    until(layout.progress.exists)
    for other in (
        lambda: probe.probe_level(layout, Level.C1, tell=silent),
        lambda: agent.run_agent(layout, environ={}, tell=silent),
    ):
        with pytest.raises(UsageError, match=r"another step is running in .*; wait until it has"):
            other()
    step.send_signal(signal.SIGINT)
    step.wait()
    with pytest.raises(UsageError, match="was interrupted; resume it with reb agent"):
        probe.probe_level(layout, Level.C1, tell=silent)
    run = agent.run_agent(layout, environ={}, tell=silent)
    assert (run.ending, run.cause) == (Ending.CRASHED, FaultCause.RUNNER_KILLED)
    with pytest.raises(UsageError, match="has already been started; start a new trial"):
        agent.run_agent(layout, environ={}, tell=silent)
    stop.stop(layout, tell=silent)


def test_source_of_a_started_trial_is_pristine(wanted, folder, mirror, tmp_path):
    layout = started(wanted, folder, mirror, tmp_path / "results")
    pristine = source_pristine.open_existing(layout.source, wanted.commit)
    assert "train.py" in {file.path for file in pristine.files}
    stop.stop(layout, tell=silent)


def test_session_document_that_was_tampered_with_is_one_plain_line(tmp_path):
    layout = SessionLayout(folder=tmp_path)
    documents.write_bytes(layout.session, b'{"document": "session", "schema": 99, "value": {}}')
    with pytest.raises(DocumentError, match=r"session.json is not a session document of schema 1"):
        state.load(layout)


def test_second_trial_in_a_live_folder_is_refused_and_harms_nothing(
    wanted, folder, mirror, tmp_path
):
    honest(folder)
    layout = started(wanted, folder, mirror, tmp_path / "results")
    with pytest.raises(UsageError, match="a trial is running in"):
        run(options_of(wanted, folder, mirror, layout.folder))
    agent.run_agent(layout, environ={}, tell=silent)
    assert probe.probe_level(layout, Level.C1, tell=silent).outcome is Outcome.PASSED
    stop.stop(layout, tell=silent)


def test_names_in_braces_in_a_report_are_never_filled(wanted, folder, mirror, tmp_path):
    (folder / "run.sh").write_text(
        f'{SYSTEM} -m venv --without-pip "$HOME/x{{ranks}}"\n'
        'mkdir -p "$HOME/x1/bin"; echo "echo imported Spirals" > "$HOME/x1/bin/python"\n'
        'chmod +x "$HOME/x1/bin/python"\n'
    )
    (folder / "report.json").write_text(report_of(python_path="{home}/x{ranks}/bin/python"))
    verdict = run(options_of(wanted, folder, mirror, tmp_path / "results", levels=LEVELS))
    seen = evidence.read(SessionLayout(folder=tmp_path / "results")).observations[Level.C1]
    assert seen.argv[0].endswith("/x{ranks}/bin/python")
    assert verdict.result(Level.C1).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("spoil", "outcome"),
    [
        ("touch x.so; chmod 0 x.so", Outcome.PASSED),
        ('cp "$(readlink -f "$HOME/venv/bin/python")" "$HOME/p"; chmod 0111 "$HOME/p"', None),
        ('chmod 0 "$REB_REPOSITORY/.."', Outcome.PASSED),
    ],
)
def test_what_cannot_be_read_is_the_agents_affair(wanted, folder, mirror, tmp_path, spoil, outcome):
    honest(folder)
    with (folder / "run.sh").open("a") as script:
        script.write(f'sed "s|{{home}}|$HOME|" {folder}/report.json > "$REB_REPORT"\n{spoil}\n')
    verdict = run(options_of(wanted, folder, mirror, tmp_path / "results"))
    assert verdict.result(Level.C1).outcome is not Outcome.INVALID
    if outcome is not None:
        assert verdict.result(Level.C1).outcome is outcome


def test_what_shadows_a_tracked_module_is_removed_and_told(wanted, folder, mirror, tmp_path):
    honest(folder)
    with (folder / "run.sh").open("a") as script:
        script.write("mkdir -p spirals/network spirals/__pycache__\n")
        script.write("echo > spirals/network/__init__.py; echo > spirals/__pycache__/a.pyc\n")
    verdict = run(options_of(wanted, folder, mirror, tmp_path / "results", levels=LEVELS))
    assert [(one.path, one.change) for one in verdict.touched] == [("spirals/network", "shadowed")]


def test_changed_session_is_refused_by_name(finished):
    text = finished.session.read_text().replace('"total_seconds": 60', '"total_seconds": 61')
    finished.session.write_text(text)
    for rewrite in (False, True):
        with pytest.raises(DocumentError, match=r"session\.json differs from what was judged"):
            session_verdict.judge_again(finished, replace=rewrite)


def test_failed_start_leaves_the_users_own_folder(wanted, folder, mirror, tmp_path):
    honest(folder)
    own = tmp_path / "results"
    own.mkdir()
    lost = replace(wanted, commit="1" * 40)
    with pytest.raises(Exception, match="does not have commit"):
        run(options_of(lost, folder, mirror, own))
    assert list(own.iterdir()) == []


def test_folders_of_any_depth_are_measured_and_removed(wanted, folder, mirror, tmp_path):
    honest(folder)
    code = "import os; [(os.mkdir('d'), os.chdir('d')) for _ in range(1500)]"
    with (folder / "run.sh").open("a") as script:
        script.write(f'{SYSTEM} -c "{code}"\n')
    layout = SessionLayout(folder=tmp_path / "results")
    verdict = run(options_of(wanted, folder, mirror, layout.folder))
    assert verdict.result(Level.C1).outcome is Outcome.PASSED
    assert not layout.work.exists()


def test_of_two_runs_in_one_folder_one_is_refused_and_the_other_unharmed(mirror, tmp_path):
    argv = [*REB, "run", str(DEMO / "manifest.yaml"), "--sandbox", "local", "--mirror", str(mirror)]
    argv += ["--agent", "command", "--agent-argument", "sleep 2", "--results", str(tmp_path / "r")]
    silence = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    both = [subprocess.Popen(argv, **silence) for _ in range(2)]
    assert sorted(one.wait(timeout=120) for one in both) == [0, 2]
    run = evidence.read(SessionLayout(folder=tmp_path / "r")).agent_run
    assert run.exit_code == 0


def test_folder_that_was_claimed_a_moment_ago_is_refused(wanted, folder, mirror, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "session.json").touch()
    with pytest.raises(UsageError, match=r"another trial begins in .*; name another folder"):
        run(options_of(wanted, folder, mirror, tmp_path / "results"))
