"""Agents are files; driving one in a local sandbox says how it ended, whatever it did."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from reb_action.agents import catalogue
from reb_action.agents.catalogue import AGENTS, agent, load, load_packaged
from reb_action.agents.environment import Model, base, fill, settings, values
from reb_action.agents.run.execution import describe_run, execute_agent
from reb_action.agents.run.launch import launch, writes_key
from reb_action.agents.run.log import TAIL_BYTES, AgentLog
from reb_action.agents.spec import AgentLimits, AgentSpec, Need, Parser, Source
from reb_action.errors import DocumentError, PlaceError, UsageError
from reb_action.model.agent import AgentRun, Dialect, Ending
from reb_action.sandbox.local.lifecycle import start
from reb_action.sandbox.local.sandbox import LocalSandbox
from reb_action.sandbox.protocol import Kind, SandboxSpec
from reb_action.session.layout import SessionLayout

TASK = "# Task\n\nSet it up.\n"
REPORT = {"python_path": "{home}/venv/bin/python", "notes": "{repo} in {workspace}"}


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[LocalSandbox]:
    made = start(
        SandboxSpec(
            kind=Kind.LOCAL,
            session=tmp_path.name,
            trial="owner__name.test.1",
            image=None,
            mount=str(tmp_path / "mount"),
            scratch=str(tmp_path / "scratch"),
        )
    )
    Path(made.layout.repository).mkdir()
    yield made
    made.remove()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "session" / "agent.log"


def run(
    sandbox: LocalSandbox,
    spec: AgentSpec,
    log: Path,
    *,
    seconds: int = 60,
    idle: int = 60,
    model: Model | None = None,
) -> AgentRun:
    limits = AgentLimits(total_seconds=seconds, setup_seconds=60, idle_seconds=idle)
    started = launch(
        sandbox.layout,
        spec,
        prompt=TASK,
        deadline_seconds=seconds,
        settings={},
        model=model,
    )
    layout = SessionLayout(folder=log.parent)
    driven = execute_agent(
        sandbox, spec, started, limits=limits, gateway=None, secrets=(), layout=layout
    )
    return describe_run(spec, driven, limits=limits, account=None, tally=None)


def shell(script: str) -> AgentSpec:
    """Return the command agent with a shell script of the test's."""
    quoted = script.replace("'", "'\"'\"'")
    return agent("command", argument=f"sh -c '{quoted}'")


def agent_file(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_every_agent_of_the_list_is_a_file_and_no_other() -> None:
    folder = Path(catalogue.__file__).parent / "definitions"
    assert sorted(path.stem for path in folder.glob("*.yaml")) == sorted(AGENTS)
    assert [load(folder / f"{name}.yaml").name for name in AGENTS] == list(AGENTS)


def test_baselines_need_the_network_and_the_others_nothing() -> None:
    needs = {
        name: load(Path(catalogue.__file__).parent / "definitions" / f"{name}.yaml").needs
        for name in AGENTS
    }
    assert {name for name, need in needs.items() if need == (Need.NETWORK,)} == {"pip", "uv"}


def test_agent_of_the_users_own_is_loaded_from_its_file(tmp_path: Path) -> None:
    path = agent_file(
        tmp_path,
        "name: mine\ntitle: Mine\nargv: [codex, exec, -]\nstdin: prompt\n"
        "env: {CODEX_HOME: '{home}/codex'}\n"
        "files: {config.toml: 'model = \"x\"  # {repo}'}\n",
    )
    mine = agent(str(path))
    assert mine.argv == ("codex", "exec", "-")
    assert mine.env == {"CODEX_HOME": "{home}/codex"}
    assert [(file.name, file.text) for file in mine.files] == [("config.toml", True)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("argvs: [x]", 'the document: the key "argvs" is not known; perhaps you meant argv'),
        ("argv: sh -c x", 'argv: "sh -c x" is not of type array'),
        ("argv: []", "argv: the list is empty"),
        ("argv: ['{python}']", "{python} is not known; use one of agent, cli, deadline_seconds,"),
        ("argv: [x]\nenv: {A: '{key}'}", "only an agent with a dialect can use {key}"),
        ("argv: [x]\nparser: regex", 'parser: "regex" is not one of none, claude-code, codex,'),
        (
            "argv: ['{base_url} {keys}']\ndialect: gemini",
            "{keys} is not known; use one of agent, base_url, cli, deadline_seconds, home, key,",
        ),
        ("argv: [x]\ndialect: irc", 'dialect: "irc" is not one of anthropic-messages, openai-'),
        ("argv: [x]\ninstall: {version: '1'}", "install: none of the keys npm, pypi, git is there"),
        ("argv: [x]\ninstall: {npm: x, version: ^1.0.0}", 'install.version: "^1.0.0" does not'),
        (
            "argv: [x]\ninstall: {git: 'https://x/y', version: '1.0'}",
            "install.version: give a commit of 40 digits (git) or a release (package)",
        ),
        ("argv: [x]\nsecrets: [KEY]", 'the document: the key "secrets" is not known'),
        ("argv: [x]\nsessions: [../x]", 'sessions.0: "../x" does not match'),
        (
            "argv: [x]\ntakes: command",
            "{command} must be in argv if takes is command, and only then",
        ),
        ("argv: ['{command}']", "{command} must be in argv if takes is command, and only then"),
        ("argv: [x]\nfiles: {../x: y}", 'files: "../x" does not match'),
        (
            "argv: [x]\nfiles: {a: {packaged: nosuch.py}}",
            'files: there is no packaged file "nosuch',
        ),
        ("argv: [x]\nlimits: {total_seconds: 60}", 'the document: the key "limits" is not known'),
        ("argv: [x]\nname: other", "the agent other belongs in other.yaml"),
        ("argv: [x", "not valid YAML: did not find expected ',' or ']' (line"),
        (
            "argv: [!!python/name:os.system x]",
            'the tag "tag:yaml.org,2002:python/name:os.system" is',
        ),
        ("argv: [x]\nargv: [y]", 'not valid YAML: the key "argv" occurs twice (line 4)'),
    ],
)
def test_wrong_agent_file_is_refused_in_one_line(tmp_path: Path, text: str, fault: str) -> None:
    name = "" if "name:" in text and "python/name" not in text else "name: mine\n"
    with pytest.raises(DocumentError) as caught:
        load(agent_file(tmp_path, f"{name}title: Mine\n{text}\n"))
    assert str(caught.value).startswith(f"mine.yaml: {fault}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("claud", None, 'there is no agent "claud"; name a file ending in .yaml or one of: nop,'),
        ("nop", "x", "the agent nop takes no argument; leave it out"),
        ("command", None, "the agent command needs a command line as its argument"),
        ("command", "sh 'x", "the command line of the agent command: no closing quotation"),
        ("replay", None, 'the agent replay needs a folder as its argument; "" is not a folder'),
        (
            "replay",
            "/nosuch",
            'the agent replay needs a folder as its argument; "/nosuch" is not a folder',
        ),
    ],
)
def test_wrong_agent_or_argument_is_refused(name: str, argument: str | None, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        agent(name, argument=argument)
    assert str(caught.value).startswith(message)


def test_folder_without_a_file_of_its_own_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.sh").symlink_to("/nowhere")
    with pytest.raises(UsageError, match="has no regular file; give replay"):
        agent("replay", argument=str(tmp_path))


@pytest.mark.parametrize("hidden", [".", "data", "data/own.json"])
def test_folder_that_cannot_be_read_is_its_users_to_mend(hidden: str) -> None:
    with TemporaryDirectory(dir="/tmp") as place, ordinary_user(Path(place)):
        (Path(place) / "run.sh").touch()
        (Path(place) / "data").mkdir()
        (Path(place) / "data" / "own.json").touch()
        (Path(place) / hidden).chmod(0)
        with pytest.raises(PlaceError) as caught:
            agent("replay", argument=place)
        (Path(place) / hidden).chmod(0o700)
    path = str(Path(place) / hidden)
    assert str(caught.value) == f"{path} cannot be read: Permission denied; the agent needs it"


@contextmanager
def ordinary_user(folder: Path) -> Iterator[None]:
    """Be somebody whom permissions bind, and whose the folder is."""
    if os.geteuid() != 0:
        yield
        return
    os.chown(folder, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_nop_leaves_no_report_and_so_gave_up(sandbox: LocalSandbox, log: Path) -> None:
    done = run(sandbox, agent("nop"), log)
    assert (done.ending, done.exit_code) == (Ending.GAVE_UP, 0)
    assert done.detail == "it ended with exit code 0 and left no report"
    assert log.read_bytes() == b""


def test_command_gets_the_prompt_and_its_report_counts(sandbox: LocalSandbox, log: Path) -> None:
    script = 'cat; cat "$REB_PROMPT_FILE"; pwd; echo "{home}" >&2; echo {} > "$REB_REPORT"'
    done = run(sandbox, shell(script), log)
    assert (done.ending, done.detail) == (Ending.DONE, None)
    assert sorted(log.read_text().splitlines()) == sorted(
        [*(TASK + TASK).splitlines(), sandbox.layout.repository, "{home}"]
    )


def test_report_counts_whatever_the_exit_code(sandbox: LocalSandbox, log: Path) -> None:
    done = run(sandbox, shell('echo {} > "$REB_REPORT"; exit 3'), log)
    assert (done.ending, done.exit_code) == (Ending.DONE, 3)
    assert done.detail == "it ended with exit code 3 although it left a report"


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        ("true", "it ended with exit code 0 and left no report"),
        (
            'mkdir "$REB_REPORT"',
            "it ended with exit code 0 and left a report that is not a regular file",
        ),
        (
            'ln -s /etc/hosts "$REB_REPORT"',
            "it ended with exit code 0 and left a report that is not a regular",
        ),
        (
            'head -c 2000000 /dev/zero > "$REB_REPORT"',
            "it ended with exit code 0 and left a report of more",
        ),
    ],
)
def test_exit_code_0_alone_is_no_success(
    sandbox: LocalSandbox, log: Path, script: str, detail: str
) -> None:
    done = run(sandbox, shell(script), log)
    assert done.ending is Ending.GAVE_UP
    assert str(done.detail).startswith(detail)


@pytest.mark.parametrize("stale", ["file", "folder", "link"])
def test_stale_report_is_gone_before_the_agent_starts(
    sandbox: LocalSandbox, log: Path, tmp_path: Path, stale: str
) -> None:
    place, elsewhere = Path(sandbox.layout.report), tmp_path / "elsewhere"
    elsewhere.write_text("{}")
    make = {"file": place.touch, "folder": place.mkdir, "link": lambda: place.symlink_to(elsewhere)}
    make[stale]()
    assert run(sandbox, agent("nop"), log).detail == "it ended with exit code 0 and left no report"
    assert elsewhere.exists()


def test_deadline_is_a_result_and_the_log_has_what_came(sandbox: LocalSandbox, log: Path) -> None:
    done = run(sandbox, shell("echo begun; sleep 60"), log, seconds=1)
    assert (done.ending, done.exit_code) == (Ending.TIMED_OUT, None)
    assert done.detail == "it was stopped at its limit of 1 seconds"
    assert log.read_text() == "begun\n"
    assert done.seconds < 30


def test_silence_is_a_result(sandbox: LocalSandbox, log: Path) -> None:
    done = run(sandbox, shell("echo begun; sleep 60"), log, idle=2)
    assert (done.ending, done.exit_code) == (Ending.IDLE, None)
    assert done.detail == "no output from it or its model for 2 seconds"
    assert log.read_text() == "begun\n"
    assert done.seconds < 30


def test_agent_that_says_something_is_not_idle(sandbox: LocalSandbox, log: Path) -> None:
    script = 'for i in 1 2 3 4; do echo $i; sleep 1; done; echo {} > "$REB_REPORT"'
    assert run(sandbox, shell(script), log, idle=3).ending is Ending.DONE


def test_program_that_is_not_there_fails_the_setup(sandbox: LocalSandbox, log: Path) -> None:
    done = run(sandbox, agent("command", argument="nosuch-agent --yes"), log)
    assert (done.ending, done.exit_code, done.seconds) == (Ending.SETUP_FAILED, None, 0.0)
    assert done.detail == "the sandbox has no program nosuch-agent"


def test_environment_of_the_agent_is_complete_and_explicit(
    sandbox: LocalSandbox, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "harness")
    run(sandbox, agent("command", argument="env"), log)
    found = dict(line.split("=", 1) for line in log.read_text().splitlines())
    known = values(sandbox.layout, deadline_seconds=60)
    assert {name: found[name] for name in base(known)} == base(known)
    assert set(found) - set(base(known)) <= {"REB_TRACE", "PWD", "SHLVL", "_"}
    assert Path(found["TMPDIR"]).is_dir()


def test_key_reaches_the_agent_and_not_the_log(sandbox: LocalSandbox, log: Path) -> None:
    spec = replace(
        shell('echo "key $KEY"; test "$KEY" = s3cret && echo {} > "$REB_REPORT"'),
        dialect=Dialect.CHAT,
        env={"KEY": "{key}"},
    )
    done = run(sandbox, spec, log, model=Model(name="m", base_url="http://gate", key="s3cret"))
    assert done.ending is Ending.DONE
    assert log.read_text() == "key ***\n"


def test_files_and_variables_have_their_names_replaced(
    sandbox: LocalSandbox, log: Path, tmp_path: Path
) -> None:
    mine = agent_file(
        tmp_path,
        "name: mine\ntitle: Mine\nenv: {PLACE: '{agent}'}\n"
        'files: {conf/x.json: \'{"repo": "{repo}"}\'}\n'
        "argv: [sh, -c, 'echo $PLACE; cat {agent}/conf/x.json']\n",
    )
    run(sandbox, agent(str(mine)), log)
    layout = sandbox.layout
    assert log.read_text() == f'{layout.agent}\n{{"repo": "{layout.repository}"}}'


@pytest.mark.parametrize(
    ("name", "script"),
    [("run.sh", 'echo played in "$PWD"'), ("run.py", "import os; print('played in', os.getcwd())")],
)
def test_replay_plays_a_script_and_gives_the_recorded_report(
    sandbox: LocalSandbox, log: Path, tmp_path: Path, name: str, script: str
) -> None:
    folder = tmp_path / "recorded"
    folder.mkdir()
    (folder / name).write_text(script)
    (folder / "report.json").write_text(json.dumps(REPORT))
    assert run(sandbox, agent("replay", argument=str(folder)), log).ending is Ending.DONE
    layout = sandbox.layout
    assert log.read_text() == f"played in {layout.repository}\n"
    assert json.loads(Path(layout.report).read_text()) == {
        "python_path": f"{layout.home}/venv/bin/python",
        "notes": f"{layout.repository} in {layout.workspace}",
    }


def test_replay_keeps_the_report_of_its_script(
    sandbox: LocalSandbox, log: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "recorded"
    folder.mkdir()
    (folder / "run.sh").write_text('cp "$(dirname "$0")/data/own.json" "$REB_REPORT"; exit 4')
    (folder / "data").mkdir()
    (folder / "data" / "own.json").write_text('"own"')
    (folder / "report.json").write_text('"recorded"')
    assert run(sandbox, agent("replay", argument=str(folder)), log).exit_code == 4
    assert Path(sandbox.layout.report).read_text() == '"own"'


def test_replay_of_a_folder_that_it_cannot_play_says_what_is_missing(
    sandbox: LocalSandbox, log: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").touch()
    done = run(sandbox, agent("replay", argument=str(tmp_path / "other")), log)
    assert (done.ending, done.exit_code) == (Ending.CRASHED, 2)
    assert "neither run.sh, run.py nor report.json" in log.read_text()


@pytest.mark.slow
def test_baseline_of_an_empty_repository_reports_its_environment(
    sandbox: LocalSandbox, log: Path
) -> None:
    done = run(sandbox, agent("pip"), log, seconds=250)
    assert (done.ending, done.exit_code) == (Ending.DONE, 0)
    report: dict[str, Any] = json.loads(Path(sandbox.layout.report).read_text())
    assert report["python_path"] == f"{sandbox.layout.home}/venv/bin/python"
    assert report["torch_version"] is None


def test_settings_pass_through_by_name() -> None:
    environ = {"PIP_INDEX_URL": "https://example.org/simple", "GITHUB_TOKEN": "x", "HOME": "/root"}
    assert settings(environ) == {"PIP_INDEX_URL": "https://example.org/simple"}


@pytest.mark.parametrize("name", ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "HTTPS_PROXY"])
def test_password_in_a_setting_is_refused(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        settings({name: "https://plain.example.org https://me:hidden@example.org/simple"})
    assert str(caught.value) == (
        f"{name} has a user name or password, which an agent could read; use a URL without them, "
        "or unset it"
    )


def test_braces_that_are_no_names_stay() -> None:
    assert fill('{"a": {}} {x} {repo}', {"repo": "/r"}) == '{"a": {}} {x} /r'


def test_log_keeps_head_and_tail_of_a_flood(log: Path) -> None:
    with AgentLog(log, secrets=(), limit_bytes=10) as written:
        for _ in range(64):
            written.feed("stdout", b"x" * 1_000_000)
        written.feed("stdout", b"the end")
    text = log.read_bytes()
    left_out = 64_000_007 - 10 - TAIL_BYTES
    assert text.startswith(f"xxxxxxxxxx\n[reb left {left_out} bytes out]\nx".encode())
    assert text.endswith(b"the end")


def test_secret_in_pieces_is_hidden_and_other_output_comes_at_once(log: Path) -> None:
    with AgentLog(log, secrets=("abcdef", "abc", "")) as written:
        for piece in (b"1 ab", b"cd"):
            written.feed("stdout", piece)
        written.feed("stderr", b"2 ")
        assert b"2 " in log.read_bytes()
        written.feed("stdout", b"ef 3 ab")
    assert log.read_bytes().count(b"abc") == 0
    assert log.read_bytes().endswith(b" 3 ab")


LOCKED = [name for name in AGENTS if load_packaged(name).install is not None]


@pytest.mark.parametrize("name", LOCKED)
def test_lock_of_an_agent_pins_the_same_release_and_no_address(name: str) -> None:
    pinned = load_packaged(name).install
    assert pinned is not None
    lock = (pinned.lock or b"").decode()
    if pinned.source is Source.NPM:
        packages = json.loads(lock)["packages"]
        assert packages[""]["dependencies"] == {pinned.package: pinned.version}
        assert packages[f"node_modules/{pinned.package}"]["version"] == pinned.version
        assert all("integrity" in one for place, one in packages.items() if place)
        assert not [place for place, one in packages.items() if "resolved" in one]
    elif pinned.source is Source.PYPI:
        assert f"{pinned.package}=={pinned.version} \\\n    --hash=sha256:" in lock


@pytest.mark.parametrize("name", [*LOCKED])
def test_agent_with_a_model_keeps_its_key_in_variables_and_reads_its_events(name: str) -> None:
    spec = load_packaged(name)
    assert [text for text in spec.env.values() if "{key}" in text] == ["{key}"]
    assert not writes_key(spec)
    assert (spec.dialect is None, spec.parser is Parser.NONE) == (False, False)
