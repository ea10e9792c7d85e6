"""What every sandbox does, shown by the same tests in a container and in a scratch folder."""

import os
import resource
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.errors import SandboxError
from reb_action.sandbox.local.processes import MARKER
from reb_action.sandbox.protocol import Command, FileFault, Kind, Network, Sandbox
from reb_action.sandbox.select import attach, start
from tests.support.sandbox_fixtures import ENV, KINDS, Start, archive, shell

MIB = 1024 * 1024


def test_run_tells_exit_code_and_both_streams(sandbox: Sandbox):
    ended = shell(sandbox, "echo out; echo err >&2; exit 3")
    assert (ended.exit_code, ended.timed_out) == (3, False)
    assert (ended.stdout, ended.stderr) == (b"out\n", b"err\n")


def test_run_tells_the_signal_that_ended_the_command(sandbox: Sandbox):
    assert shell(sandbox, "kill -9 $$").exit_code == 128 + 9


@pytest.mark.parametrize(
    ("argv", "cwd", "code"),
    [(("true",), "/nowhere", 125), (("/etc/passwd",), "/", 126), (("no-such-program",), "/", 127)],
)
def test_run_ends_as_env_does_when_it_cannot_begin(sandbox: Sandbox, argv, cwd, code):
    ended = sandbox.run(Command(argv=argv, cwd=cwd, timeout_seconds=20, env=ENV))
    assert ended.exit_code == code
    assert ended.stderr


def test_output_comes_while_the_command_runs(sandbox: Sandbox):
    came = []
    begun = time.monotonic()
    shell(
        sandbox,
        "echo a; sleep 1; echo b",
        stdout=lambda data: came.append((data, time.monotonic())),
    )
    assert [data for data, _ in came] == [b"a\n", b"b\n"]
    assert came[1][1] - came[0][1] > 0.8
    assert came[0][1] - begun < 5


def test_env_is_complete(sandbox: Sandbox):
    argv = ("/usr/bin/env",)
    ended = sandbox.run(Command(argv=argv, cwd="/", timeout_seconds=20, env={"A": "1", "B": "x y"}))
    lines = ended.stdout.decode().splitlines()
    assert sorted(line for line in lines if not line.startswith(MARKER)) == ["A=1", "B=x y"]


def test_secret_reaches_its_command_alone(sandbox: Sandbox):
    command = Command(
        argv=("/bin/sh", "-c", "echo $KEY; tr '\\0' ' ' </proc/self/cmdline"),
        cwd="/",
        timeout_seconds=20,
        env=ENV,
        secret_env={"KEY": "s3cret"},
    )
    output = sandbox.run(command).stdout
    assert output.startswith(b"s3cret\n")
    assert output.count(b"s3cret") == 1
    assert "s3cret" not in repr(command)
    assert shell(sandbox, "echo $KEY").stdout == b"\n"


def test_stdin_is_at_its_end_when_nothing_is_given(sandbox: Sandbox):
    assert shell(sandbox, "cat; echo done").stdout == b"done\n"


def test_stdin_is_what_is_given(sandbox: Sandbox):
    assert shell(sandbox, "wc -c", stdin=b"x" * MIB).stdout.strip() == str(MIB).encode()


def test_stdin_may_stay_unread(sandbox: Sandbox):
    assert shell(sandbox, "exit 4", stdin=b"x" * 4 * MIB).exit_code == 4


def test_output_keeps_head_and_tail(sandbox: Sandbox):
    ended = shell(sandbox, "echo begin; head -c 5000 /dev/zero; echo end", output_limit_bytes=100)
    assert ended.stdout.startswith(b"begin\n")
    assert ended.stdout.endswith(b"end\n")
    assert (len(ended.stdout), ended.dropped_bytes) == (100, 5000 + 10 - 100)


def test_flood_of_output_does_not_fill_memory(sandbox: Sandbox):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ended = shell(sandbox, "head -c 400M /dev/zero", output_limit_bytes=MIB)
    grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert ended.dropped_bytes == 399 * MIB
    assert grown_mib < 50


@pytest.mark.parametrize("left", ["sleep 60", "yes", "setsid env -i sleep 60"])
def test_run_does_not_wait_for_a_child_that_holds_the_output(sandbox: Sandbox, left):
    ended = shell(sandbox, f"echo done; {left} &")
    assert ended.exit_code == 0
    assert ended.stdout.startswith(b"done\n")
    assert ended.seconds < 6


def test_deadline_ends_everything_inside(sandbox: Sandbox):
    shell(sandbox, "setsid env -i sleep 61 >/dev/null 2>&1 &")
    ended = shell(sandbox, "trap '' TERM HUP INT; echo begun; sleep 62", timeout_seconds=1)
    assert (ended.exit_code, ended.timed_out, ended.stdout) == (None, True, b"begun\n")
    assert 1 <= ended.seconds < 10
    assert shell(sandbox, "echo again").stdout == b"again\n"
    assert sandbox.halt() == ()


def test_deadline_holds_for_a_command_that_closed_its_output(sandbox: Sandbox):
    ended = shell(sandbox, "exec >/dev/null 2>&1; sleep 60", timeout_seconds=1)
    assert ended.timed_out


def test_reason_to_stop_ends_everything_inside(sandbox: Sandbox):
    shell(sandbox, "setsid env -i sleep 61 >/dev/null 2>&1 &")
    reasons = iter([None, "enough"])
    ended = shell(
        sandbox, "trap '' TERM HUP INT; echo begun; sleep 62", until=lambda: next(reasons)
    )
    assert (ended.exit_code, ended.timed_out, ended.stopped) == (None, False, "enough")
    assert ended.stdout == b"begun\n"
    assert 2 <= ended.seconds < 12
    assert shell(sandbox, "echo again").stdout == b"again\n"
    assert sandbox.halt() == ()


def test_reason_to_stop_is_heard_while_output_floods(sandbox: Sandbox):
    assert shell(sandbox, "yes", until=lambda: "enough").stopped == "enough"


def test_without_a_reason_a_command_runs_to_its_end(sandbox: Sandbox):
    asked = []
    ended = shell(sandbox, "sleep 2.5; exit 5", until=lambda: asked.append(1))
    assert (ended.exit_code, ended.timed_out, ended.stopped) == (5, False, None)
    # Asked about once a second, also on a busy machine, where the command takes longer.
    assert 1 <= len(asked) <= ended.seconds


@pytest.mark.parametrize("kind", KINDS)
def test_mounts_show_their_folders(start: Start, tmp_path: Path, kind: Kind):
    for name in ("cli", "gateway"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name, encoding="ascii")
    sandbox = start(
        kind, agent_mount=str(tmp_path / "cli"), gateway_mount=str(tmp_path / "gateway")
    )
    layout = sandbox.layout
    assert shell(sandbox, f"cat {layout.cli}/file {layout.gateway}/file").stdout == b"cligateway"
    sandbox.halt()
    sandbox.resume(network=Network.NONE)
    assert shell(sandbox, f"cat {layout.cli}/file").stdout == b"cli"


def test_halt_ends_and_names_what_was_left(sandbox: Sandbox):
    shell(
        sandbox,
        "sleep 60 >/dev/null 2>&1 & setsid env -i tail -f /dev/null >/dev/null 2>&1 & sleep 1",
    )
    assert sorted(sandbox.halt()) == ["sleep", "tail"]
    assert sandbox.halt() == ()


def test_nothing_runs_between_halt_and_resume(sandbox: Sandbox):
    sandbox.halt()
    with pytest.raises(SandboxError, match="was stopped"):
        shell(sandbox, "true")
    sandbox.resume(network=Network.OPEN)
    assert shell(sandbox, "echo again").stdout == b"again\n"


def test_files_outlive_halt_and_resume(sandbox: Sandbox):
    shell(sandbox, f"echo kept > /tmp/$$; echo kept > {sandbox.layout.home}/x; echo kept > y")
    sandbox.halt()
    sandbox.resume(network=Network.NONE)
    assert shell(sandbox, f"cat {sandbox.layout.home}/x y").stdout == b"kept\nkept\n"


def test_put_and_read_give_the_same_bytes(sandbox: Sandbox):
    content = os.urandom(300_000)
    sandbox.put(sandbox.layout.repository, archive({"a/b.bin": content}))
    path = f"{sandbox.layout.repository}/a/b.bin"
    assert sandbox.read(path, limit_bytes=len(content)) == content
    assert (
        shell(sandbox, f"echo x >> {path}; echo x > {sandbox.layout.repository}/new").exit_code == 0
    )


def test_put_replaces_what_is_there(sandbox: Sandbox):
    shell(sandbox, "mkdir repo elsewhere; echo old > repo/x; mkdir repo/y; echo old > repo/kept")
    shell(sandbox, "ln -s ../elsewhere repo/d; ln -s ../elsewhere/f repo/f")
    sandbox.put(
        sandbox.layout.repository,
        archive(dict.fromkeys(("x", "y", "d/z", "f"), b"new"), {"l": "/etc"}),
    )
    ended = shell(sandbox, "cd repo; cat x y d/z f kept; readlink l; ls ../elsewhere")
    assert ended.stdout == b"newnewnewnewold\n/etc\n"


def test_put_does_not_follow_a_planted_link(sandbox: Sandbox):
    shell(sandbox, "mkdir elsewhere; ln -s elsewhere repo; ln -s elsewhere runs")
    sandbox.put(sandbox.layout.repository, archive({"x": b"new"}))
    sandbox.put(f"{sandbox.layout.runs}/1", archive({"x": b"new"}))
    assert shell(sandbox, "ls elsewhere; cat repo/x runs/1/x").stdout == b"newnew"


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x"])
def test_put_refuses_names_that_lead_outside(sandbox: Sandbox, name):
    with pytest.raises(SandboxError, match="outside"):
        sandbox.put(sandbox.layout.repository, archive({name: b"x"}))


@pytest.mark.parametrize(
    ("made_by", "fault"),
    [
        ("true", FileFault.MISSING),
        ("mkdir report.json", FileFault.NOT_A_FILE),
        ("ln -s /etc/passwd report.json", FileFault.NOT_A_FILE),
        ("ln -s nowhere report.json", FileFault.NOT_A_FILE),
        ("ln -s report.json report.json", FileFault.NOT_A_FILE),
        ("ln -s b a; ln -s a b; ln -s a report.json", FileFault.NOT_A_FILE),
        ("ln -s $(printf %0400d 0) report.json", FileFault.NOT_A_FILE),
        ("echo x > f; ln -s f/x report.json", FileFault.NOT_A_FILE),
        ("ln -s /proc/self/root/etc/passwd report.json", FileFault.NOT_A_FILE),
        ("mkfifo report.json", FileFault.NOT_A_FILE),
        (
            "python3 -c 'import socket as s; s.socket(s.AF_UNIX).bind(\"report.json\")'",
            FileFault.NOT_A_FILE,
        ),
        ("truncate -s 20G report.json", FileFault.TOO_LARGE),
        ("head -c 1001 /dev/zero > report.json", FileFault.TOO_LARGE),
    ],
)
def test_read_distrusts_what_it_finds(sandbox: Sandbox, made_by, fault):
    shell(sandbox, made_by)
    sandbox.halt()
    begun = time.monotonic()
    assert sandbox.read(sandbox.layout.report, limit_bytes=1000) is fault
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("made_by", "content"),
    [
        ("head -c 999 /dev/zero | tr '\\0' a > report.json", b"a" * 999),
        ("head -c 1000 /dev/zero | tr '\\0' a > report.json", b"a" * 1000),
        ("head -c 200000 /dev/zero | tr '\\0' a > report.json", b"a" * 1000),
        ("printf b > report.json; truncate -s 20G report.json", b"b".ljust(1000, b"\0")),
        (": > report.json", b""),
        ("ln -s /etc/passwd report.json", FileFault.NOT_A_FILE),
    ],
)
def test_a_file_can_be_read_as_far_as_wanted(sandbox: Sandbox, made_by, content):
    shell(sandbox, made_by)
    sandbox.halt()
    begun = time.monotonic()
    assert sandbox.read(sandbox.layout.report, limit_bytes=1000, whole=False) == content
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("made_by", "fault"),
    [
        ("mkdir real; echo x > real/f; ln -s real runs", FileFault.NOT_A_FILE),
        ("echo x > runs", FileFault.NOT_A_FILE),
        ("ln -s runs runs", FileFault.NOT_A_FILE),
        ("true", FileFault.MISSING),
    ],
)
def test_read_follows_no_link_on_the_way(sandbox: Sandbox, made_by, fault):
    shell(sandbox, made_by)
    assert sandbox.read(f"{sandbox.layout.runs}/f", limit_bytes=1000) is fault


def test_read_of_a_sandbox_that_is_gone_is_no_fault_of_the_agent(container: Sandbox):
    container.remove()
    for path in (container.layout.report, f"{container.layout.runs}/f"):
        with pytest.raises(SandboxError, match="sandbox still exists"):
            container.read(path, limit_bytes=1)


@pytest.mark.parametrize("closed", ["report.json", ".", "report.json ."])
@pytest.mark.parametrize("mode", ["000", "400", "100"])
def test_read_takes_what_the_agent_itself_may_not_read(sandbox: Sandbox, closed: str, mode: str):
    shell(sandbox, f"echo x > report.json; chmod {mode} {closed}")
    assert sandbox.read(sandbox.layout.report, limit_bytes=2) == b"x\n"


def test_read_changes_no_mode_behind_a_link(sandbox: Sandbox, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.write_text("x")
    outside.chmod(0)
    shell(sandbox, f"ln -s {outside} report.json")
    assert sandbox.read(sandbox.layout.report, limit_bytes=2) is FileFault.NOT_A_FILE
    assert outside.stat().st_mode & 0o777 == 0


def test_mount_shows_what_is_put_there_after_the_start(sandbox: Sandbox):
    assert shell(sandbox, f"ls {sandbox.layout.tools}").stdout == b""
    sandbox.halt()
    (Path(sandbox.spec.mount) / "probe.py").write_text("print('seen')", encoding="ascii")
    sandbox.resume(network=Network.NONE)
    ended = shell(sandbox, f"{sandbox.trusted_python} -I {sandbox.layout.tools}/probe.py")
    assert ended.stdout == b"seen\n"


def test_attach_finds_it_from_elsewhere(sandbox: Sandbox):
    shell(sandbox, "echo mine > x; sleep 60 >/dev/null 2>&1 & sleep 1")
    again = attach(sandbox.spec, sandbox.handle)
    assert shell(again, "cat x").stdout == b"mine\n"
    assert again.halt() == ("sleep",)


def test_attach_refuses_what_is_gone_or_another_session(sandbox: Sandbox, tmp_path: Path):
    other = replace(sandbox.spec, session="other", scratch=str(tmp_path / "other"))
    with pytest.raises(SandboxError):
        attach(other, sandbox.handle)
    sandbox.remove()
    with pytest.raises(SandboxError):
        attach(sandbox.spec, sandbox.handle)


def test_start_replaces_what_is_left_of_the_same_session(sandbox: Sandbox):
    shell(sandbox, "echo old > x; sleep 60 >/dev/null 2>&1 &")
    again = start(sandbox.spec)
    try:
        assert shell(again, "ls").stdout == b""
        assert again.halt() == ()
    finally:
        again.remove()


def test_remove_leaves_nothing_and_may_be_called_again(sandbox: Sandbox):
    shell(sandbox, "mkdir -p a/b; chmod 500 a/b a; sleep 60 >/dev/null 2>&1 &")
    sandbox.remove()
    sandbox.remove()
    with pytest.raises(SandboxError):
        shell(sandbox, "true")
    assert not Path(sandbox.spec.scratch).exists()
