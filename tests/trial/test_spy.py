"""An agent that looks everywhere finds no secret but its own, and nothing of the harness."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reb_action.corpus import manifests
from reb_action.demo import commit_repository
from reb_action.model.agent import Dialect
from reb_action.redaction import forms
from reb_action.resources import data_folder
from reb_action.sandbox import select
from reb_action.sandbox.port_forward import PORT
from reb_action.sandbox.protocol import Kind, Limits, Network
from reb_action.session import state
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, ModelChoice
from reb_action.trial import agent, start, stop
from reb_action.trial import options as trial_options
from tests.support.model_server import KEY, ModelServer
from tests.support.sandbox_fixtures import docker_image, shell
from tests.trial.test_trial import DEMO, silent

pytestmark = pytest.mark.docker

RUNNER = {
    "GITHUB_TOKEN": "tok-5b1fe0c2a7d94f6e",
    "ACTIONS_RUNTIME_TOKEN": "run-90aa31c7be554d02",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "oid-7e6d5c4b3a291807",
    "REB_MODEL_KEY": KEY,
}
CANARY = b"Trains and saves a network: "
"""What stands in the checkout, which an agent may read."""

SEEN = {
    *("PATH", "HOME", "TMPDIR", "LANG", "TERM", "CI", "NO_COLOR", "NO_PROXY", "no_proxy"),
    *("REB_REPORT", "REB_REPOSITORY", "REB_PROMPT_FILE", "REB_DEADLINE_SECONDS"),
    *("ASK_URL", "ASK_KEY"),
}


def needles() -> list[bytes]:
    """Return what must stand in no file that the agent can read."""
    secrets = [form for value in RUNNER.values() for form in forms(value)]
    probes = [path.read_bytes() for path in data_folder("probes").glob("*.py")]
    return [CANARY, *secrets, *(text.splitlines()[0] for text in probes)]


def spy(folder: Path) -> Path:
    """Write the file of an agent that has a model, and looks around instead of asking it."""
    script = (Path(__file__).parents[1] / "support" / "spy.py").read_text(encoding="utf-8")
    indented = "".join(f"    {line}\n" for line in script.splitlines())
    words = ",".join(needle.hex() for needle in needles())
    path = folder / "spy.yaml"
    path.write_text(
        "name: spy\ntitle: Spy\ndialect: anthropic-messages\n"
        f"files:\n  spy.py: |\n{indented}"
        f"argv: [python3, '{{agent}}/spy.py', '{{state}}/seen.json', '{words}']\n"
        "env: {ASK_URL: '{base_url}', ASK_KEY: '{key}'}\nsessions: [seen.json]\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionLayout]:
    """A trial whose agent has looked around; it is frozen now."""
    folder = tmp_path_factory.mktemp("spy")
    commit_repository(DEMO, folder / "mirror")
    with ModelServer() as server, pytest.MonkeyPatch.context() as environment:
        for name, value in RUNNER.items():
            environment.setenv(name, value)
        url = server.url(Dialect.ANTHROPIC, "ok", run="spy")
        choice = AgentChoice(
            name=str(spy(folder)),
            argument=None,
            total_seconds=200,
            setup_seconds=60,
            model=ModelChoice(name="scripted-1", url=url),
        )
        options = trial_options.Options(
            manifest=manifests.load(DEMO / "manifest.yaml"),
            agent=choice,
            folder=folder / "results",
            kind=Kind.DOCKER,
            image=docker_image(),
            mirror=folder / "mirror",
            network=Network.NONE,
            limits=Limits(memory_mib=1024, shm_mib=64, processes=200, seconds=900),
        )
        layout = SessionLayout(folder=options.folder)
        start.start(options, owner=1, tell=silent, environ=RUNNER)
        try:
            agent.run_agent(layout, environ=RUNNER, tell=silent)
            yield layout
        finally:
            stop.stop(layout, tell=silent)


@pytest.fixture(scope="module")
def seen(layout: SessionLayout) -> dict:
    text = (layout.trajectory / "sessions" / "seen.json").read_text(encoding="utf-8")
    # What had to be taken out when it left had been there: the placeholder alone.
    assert text.count("***") == 1
    return json.loads(text)


def test_environment_is_what_it_was_given(seen: dict):
    assert set(seen["environment"]) == SEEN
    assert (seen["environment"]["ASK_KEY"], seen["key"]) == ("***", "reb-")
    assert seen["environment"]["ASK_URL"] == f"http://127.0.0.1:{PORT}"


def test_no_other_process_shows_its_environment(seen: dict):
    assert seen["environments"] == {}


def test_no_file_holds_a_secret_or_a_probe(seen: dict):
    assert len(seen["files"]) > 10_000
    # What shows that it can find something.
    assert seen["found"] == ["/workspace/repo/train.py"]


def test_files_of_ours_are_its_own(seen: dict):
    ours = {path for path in seen["files"] if path.startswith(("/opt/", "/home/", "/workspace/"))}
    own = {path for path in ours if not path.startswith("/workspace/repo/")}
    shell_files = {f"/home/agent/{name}" for name in (".bash_logout", ".bashrc", ".profile")}
    files = {"/opt/agent/prompt.md", "/opt/agent/spy.py", "/opt/gateway/reb.sock"}
    assert own - shell_files == files
    assert seen["tools"] == []


def test_only_the_gateway_can_be_talked_to(seen: dict):
    assert seen["sockets"] == ["/opt/gateway/reb.sock"]
    assert seen["reached"] == []
    listening = [line.split()[1] for line in seen["network"]["/proc/net/tcp"].splitlines()[1:]]
    assert listening == [f"0100007F:{PORT:X}"]
    assert seen["network"]["/proc/net/tcp6"].splitlines()[1:] == []
    assert len(seen["network"]["/proc/net/route"].splitlines()) == 1


def test_mounts_of_the_host_are_two_and_read_only(seen: dict):
    fields = [line.split() for line in seen["mounts"].splitlines()]
    ours = {one[4]: one[5].split(",")[0] for one in fields if one[4].startswith(("/opt", "/work"))}
    assert ours == {"/opt/reb": "ro", "/opt/gateway": "ro"}
    assert not any("docker.sock" in line for line in seen["mounts"].splitlines())


def test_nothing_is_inherited_but_three_streams(seen: dict):
    # The third is the folder of descriptors, while it is listed.
    assert seen["descriptors"] == ["0", "1", "2", "3"]


def test_processes_are_the_keepers_and_itself(seen: dict):
    words = sorted(line.split()[0] for line in seen["processes"] if line)
    assert words == ["/sbin/docker-init", "/usr/bin/python3", "python3", "sleep"]


def test_after_the_freeze_the_gateway_is_gone(layout: SessionLayout):
    begun = state.load(layout)
    sandbox = select.attach(begun.spec, begun.handle)
    call = f'import socket; socket.create_connection(("127.0.0.1", {PORT}), 3)'
    ended = shell(sandbox, f"ls -A /opt/gateway; python3 -c '{call}'")
    assert ended.stdout == b""
    assert ended.stderr.strip().endswith(b"Connection refused")
