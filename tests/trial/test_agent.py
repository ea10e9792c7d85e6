"""The agent phase with a model: through the gateway, within limits, leaking nothing."""

import http.server
import json
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.agents.run import stop_conditions
from reb_action.agents.run.access import find_key
from reb_action.corpus import manifests
from reb_action.errors import UsageError
from reb_action.gateway.gateway import Gateway
from reb_action.gateway.prices import Prices
from reb_action.gateway.settings import Budget, Upstream
from reb_action.model.agent import AgentRun, Dialect, Ending
from reb_action.model.agent import Key as KeyPlace
from reb_action.model.fault import FaultCause
from reb_action.model.manifest import Level
from reb_action.redaction import forms
from reb_action.sandbox.protocol import Kind, Limits, Network
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, ModelChoice
from reb_action.trial import agent as trial_agent
from reb_action.trial import options as trial_options
from reb_action.trial import run, start, stop
from tests.support.model_server import KEY, ModelServer
from tests.support.model_server.client import ask
from tests.support.model_server.scenarios import COMMANDS, REPORT
from tests.support.sandbox_fixtures import KINDS, docker_image
from tests.support.talker import STAY, talker
from tests.trial.test_trial import DEMO, silent

ENVIRON = {"REB_MODEL_KEY": KEY}

_NO_REPORT = "it ended with exit code 1 and left no report"


def scenario(choice: AgentChoice, name: str, **other: object) -> AgentChoice:
    """Return the choice with another scenario of the model, and another budget; no preflight."""
    url = choice.model.url.replace("/multi/", f"/{name}/")
    return replace(choice, model=replace(choice.model, url=url, preflight=False, **other))


def options(
    kind: Kind, choice: AgentChoice, mirror: Path, tmp_path: Path, **other: object
) -> trial_options.Options:
    return trial_options.Options(
        manifest=manifests.load(DEMO / "manifest.yaml"),
        agent=choice,
        folder=tmp_path / "results",
        kind=kind,
        image=docker_image() if kind is Kind.DOCKER else None,
        mirror=mirror,
        limits=Limits(memory_mib=1024, shm_mib=64, processes=200, seconds=900),
        **other,
    )


def work(chosen: trial_options.Options) -> AgentRun:
    """Run a trial to the end of its agent, then remove its sandbox."""
    layout = SessionLayout(folder=chosen.folder)
    start.start(chosen, owner=1, tell=silent)
    try:
        return trial_agent.run_agent(layout, environ=ENVIRON, tell=silent)
    finally:
        stop.stop(layout, tell=silent)


def kept(folder: Path) -> dict[str, bytes]:
    """Return every file that a trial leaves."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_agent_works_with_a_model_that_it_never_reaches(
    kind: Kind, choice: AgentChoice, server: ModelServer, mirror: Path, tmp_path: Path
):
    network = Network.NONE if kind is Kind.DOCKER else Network.OPEN
    done = work(options(kind, choice, mirror, tmp_path, network=network))
    truth = server.run(tmp_path.name)
    assert (done.ending, done.detail, done.exit_code) == (Ending.DONE, None, 0)
    assert (done.model, done.key, done.network) == ("scripted-1", KeyPlace.GATEWAY, str(network))
    assert done.usage == truth.usage
    assert truth.statuses == [200] * (len(COMMANDS) + 2)
    layout = SessionLayout(folder=tmp_path / "results")
    assert len(layout.model_calls.read_text().splitlines()) == len(truth.statuses)
    assert len((layout.trajectory / "sessions" / "session.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("name", "budget", "ending", "detail"),
    [
        ("text", {}, Ending.GAVE_UP, "it ended with exit code 0 and left no report"),
        (
            "e401",
            {},
            Ending.MODEL_ERROR,
            f"{_NO_REPORT}; its model answered 401 1 times; last: 401: scripted error 401",
        ),
        ("loop", {"calls": 3}, Ending.LIMIT, "the budget of 3 model calls is used up"),
        ("loop", {"tokens": 20_000}, Ending.LIMIT, "the budget of 20000 tokens is used up"),
        ("loop", {"repeats": 5}, Ending.LIMIT, "the same tool call had the same result 5 times"),
    ],
)
def test_ending_is_told_and_usage_is_kept(
    choice: AgentChoice,
    server: ModelServer,
    mirror: Path,
    tmp_path: Path,
    name: str,
    budget: dict[str, int],
    ending: Ending,
    detail: str,
):
    chosen = scenario(choice, name, budget=Budget(**budget))
    done = work(options(Kind.LOCAL, chosen, mirror, tmp_path))
    assert (done.ending, done.detail) == (ending, detail)
    assert done.usage == server.run(tmp_path.name).usage
    assert done.seconds < 30


@pytest.mark.parametrize(
    ("cache", "known"), [(", cache_read: 0, cache_write: 9", True), ("", False)]
)
def test_price_of_the_user_ends_a_budget_in_dollars(
    choice: AgentChoice, mirror: Path, tmp_path: Path, cache: str, known: bool
):
    prices = tmp_path / "prices.yaml"
    # Of each answer some 2,000 tokens are not from the cache: 2 dollars, or 8 where the price of
    # the cache is unknown and so taken to be that of other tokens.
    prices.write_text(f"models:\n  scripted-1: {{input: 1000, output: 10{cache}}}\n")
    budget = Budget(cost_usd=10.0)
    chosen = scenario(choice, "loop", budget=budget, prices=str(prices))
    done = work(options(Kind.LOCAL, chosen, mirror, tmp_path))
    assert (done.ending, done.detail) == (Ending.LIMIT, "the budget of 10.0 USD is used up")
    assert done.usage is not None
    assert done.usage.turns == (5 if known else 2)
    assert (done.usage.cost_usd is not None) is known


def test_agent_that_has_finished_and_stays_is_ended_as_finished(
    choice: AgentChoice, mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stop_conditions, "_FINISHED_SECONDS", 2.0)
    stays = replace(choice, name=str(talker(tmp_path, last=STAY, parser="claude-code")))
    done = work(options(Kind.LOCAL, stays, mirror, tmp_path))
    assert (done.ending, done.detail) == (Ending.DONE, "it had finished, but did not exit")
    assert done.seconds < 60


@pytest.mark.parametrize(("parser", "name"), [("none", "multi"), ("claude-code", "no-report")])
def test_agent_that_stays_without_final_event_or_report_is_idle(
    choice: AgentChoice,
    mirror: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    parser: str,
    name: str,
):
    monkeypatch.setattr(stop_conditions, "_FINISHED_SECONDS", 1.0)
    stays = replace(choice, name=str(talker(tmp_path, last=STAY, parser=parser)), idle_seconds=5)
    done = work(options(Kind.LOCAL, scenario(stays, name), mirror, tmp_path))
    assert done.ending is Ending.IDLE


@pytest.mark.parametrize(
    ("name", "accepts", "invalid"),
    [
        (
            "other-model",
            False,
            "1 of 1 answers came from cheap-model-9, not from scripted-1",
        ),
        ("other-model", True, None),
        ("dated-model", False, None),
    ],
)
def test_answer_of_another_model_makes_a_trial_invalid(
    choice: AgentChoice,
    mirror: Path,
    tmp_path: Path,
    name: str,
    accepts: bool,
    invalid: str | None,
):
    chosen = scenario(choice, name, any_model=accepts)
    done = work(options(Kind.LOCAL, chosen, mirror, tmp_path))
    assert (done.invalid or "").partition(";")[0] == (invalid or "")
    assert done.vendor is not None
    assert list(done.vendor.models.values()) == [1]


def test_silent_model_is_what_ends_its_agent(choice: AgentChoice, mirror: Path, tmp_path: Path):
    # Longer than the agent needs to start and to ask, also on a busy machine.
    chosen = replace(scenario(choice, "silence", budget=Budget(drain_seconds=1)), idle_seconds=8)
    done = work(options(Kind.LOCAL, chosen, mirror, tmp_path))
    assert (done.ending, done.exit_code) == (Ending.MODEL_ERROR, None)
    assert (done.cause, done.detail) == (
        FaultCause.MODEL_SILENT,
        "its model sent nothing for 8 seconds",
    )
    assert done.seconds < 60


def test_without_a_key_nothing_begins(choice: AgentChoice, mirror: Path, tmp_path: Path):
    chosen = options(Kind.LOCAL, choice, mirror, tmp_path)
    layout = SessionLayout(folder=chosen.folder)
    start.start(chosen, owner=1, tell=silent)
    try:
        with pytest.raises(UsageError) as caught:
            trial_agent.run_agent(layout, environ={"REB_MODEL_KEY": " "}, tell=silent)
    finally:
        stop.stop(layout, tell=silent)
    assert str(caught.value) == "the agent needs the key of a model; set REB_MODEL_KEY"


@pytest.mark.parametrize("key", ["SECRET\nSECOND", "SECRET\x1b[0m", "SECRET\u00e9"])
def test_key_that_no_header_may_have_is_refused_without_showing_it(key: str):
    with pytest.raises(UsageError) as caught:
        find_key({"REB_MODEL_KEY": key})
    assert str(caught.value).startswith("the key in REB_MODEL_KEY has a line break or a character")
    assert "SECRET" not in str(caught.value)


PLANT = """echo "import sys; print('found', open('$PWD/../../../../key').read())" > leak.pth"""
LEAKS = (
    'echo "key $ASK_KEY"; echo "key $ASK_KEY" | base64; printf %s "$ASK_KEY" > ../key',
    'cp ../key "$ASK_STATE/stolen:1.jsonl"; ln -s ../key "$ASK_STATE/link.jsonl"',
    f"python3 -m venv --without-pip ../venv; cd ../venv/lib/python3*/site-packages; {PLANT}",
    REPORT.replace("notes=None", "notes=open('../key').read()"),
)


def leaks(folder: Path, secret: str) -> list[str]:
    """Return the files that hold a secret, in any form."""
    return [
        name for name, data in kept(folder).items() if any(form in data for form in forms(secret))
    ]


@pytest.mark.parametrize("place", KeyPlace)
def test_key_or_placeholder_that_an_agent_was_given_leaves_in_no_form(
    choice: AgentChoice, mirror: Path, tmp_path: Path, place: KeyPlace
):
    with ModelServer(commands=LEAKS) as server:
        url = server.url(Dialect.ANTHROPIC, "multi", run=tmp_path.name)
        model = ModelChoice(name="scripted-1", url=url, key=place)
        chosen = options(
            Kind.LOCAL, replace(choice, model=model), mirror, tmp_path, levels=(Level.C1,)
        )
        verdict = run.run(chosen, environ=ENVIRON, tell=silent)
        told = re.search(rb"key ([\w-]{16,})", server.run(tmp_path.name).seen[-1].body)
    files = kept(chosen.folder)
    agent_run = json.loads(files["agent.json"])["value"]
    assert (agent_run["key"], agent_run["ending"]) == (place, "done")
    assert (agent_run["usage"] is None) is (place is KeyPlace.DIRECT)
    # The agent did print it.
    given = told[1].decode()
    assert (given == KEY) is (place is KeyPlace.DIRECT)
    assert leaks(chosen.folder, given) == []
    assert leaks(chosen.folder, KEY) == []
    assert b"key ***\n" in files["agent.log"]
    assert json.loads(files["report.json"])["notes"] == "***"
    assert files["trajectory/sessions/stolen_1.jsonl"] == b"***"
    assert "trajectory/sessions/link.jsonl" not in files
    assert b"found ***" in files["levels/C1.log"]
    assert session_verdict.judge_again(SessionLayout(folder=chosen.folder)) == verdict


@pytest.mark.parametrize("kind", KINDS)
def test_key_of_the_gateway_is_nowhere(
    kind: Kind, choice: AgentChoice, mirror: Path, tmp_path: Path
):
    chosen = options(kind, choice, mirror, tmp_path, levels=(Level.C1,))
    run.run(chosen, environ=ENVIRON, tell=silent)
    assert leaks(chosen.folder, KEY) == []
    assert not (chosen.folder / "work").exists()


def test_harness_with_a_key_closes_its_memory_to_others_of_its_user():
    ask_kernel = "ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)"
    script = (
        "import ctypes; from reb_action.agents.run.access import find_key;"
        f" before = {ask_kernel}; find_key({{'REB_MODEL_KEY': 'k'}}); print(before, {ask_kernel})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "1 0\n"


def test_interrupt_does_not_wait_for_the_model(server: ModelServer, tmp_path: Path):
    url = server.url(Dialect.ANTHROPIC, "silence", run=tmp_path.name)
    upstream = Upstream(dialect=Dialect.ANTHROPIC, base_url=url, key=KEY)
    gateway = Gateway(
        upstream, Budget(), prices=Prices(), record=tmp_path / "calls.jsonl", listen=None
    )
    gateway.__enter__()
    asking = {"address": gateway.address, "dialect": Dialect.ANTHROPIC}
    call = threading.Thread(target=ask, kwargs={**asking, "key": gateway.placeholder})
    call.start()
    while not server.run(tmp_path.name).asked:
        time.sleep(0.01)
    began = time.monotonic()
    gateway.__exit__(KeyboardInterrupt, None, None)
    assert time.monotonic() - began < 5
    call.join(20)
    assert not call.is_alive()


@pytest.mark.docker
def test_folder_of_a_trial_may_have_a_long_name(choice: AgentChoice, mirror: Path, tmp_path: Path):
    chosen = options(Kind.DOCKER, choice, mirror, tmp_path)
    assert work(replace(chosen, folder=tmp_path / ("x" * 120))).ending is Ending.DONE


def test_steps_of_the_action_pass_on_what_was_asked(
    choice: AgentChoice, mirror: Path, tmp_path: Path
):
    results = tmp_path / "results"
    asked = {
        "REB_REPOSITORY": str(DEMO / "manifest.yaml"),
        "REB_AGENT": choice.name,
        "REB_MODEL": "scripted-1",
        "REB_MODEL_URL": choice.model.url,
        "REB_BUDGET_CALLS": "2",
        "REB_BUDGET_TOKENS": "",
        "REB_IDLE_SECONDS": "60",
        "REB_DIRECT_KEY": "false",
        "REB_DISPOSABLE": "true",
        "REB_SANDBOX": "local",
        "REB_MIRROR": str(mirror),
        "REB_RESULTS": str(results),
    }
    assert reb("start", environ=asked).returncode == 0
    try:
        agent = reb("agent", str(results), environ=ENVIRON)
    finally:
        reb("stop", str(results), environ={})
    assert agent.returncode == 0
    done = json.loads((results / "agent.json").read_text())["value"]
    assert (done["ending"], done["usage"]["turns"]) == ("limit", 2)
    assert leaks(results, KEY) == []


def reb(*arguments: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step with these inputs and nothing else of ours."""
    clean = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "reb_action", *arguments],
        env={**clean, **environ},
        capture_output=True,
        text=True,
        timeout=120,
    )


class Site(http.server.BaseHTTPRequestHandler):
    """A host that an agent may, or may not, reach."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"this is {self.headers['Host']}".encode())

    def log_message(self, *_: object) -> None:
        pass


FETCH = """
import http.client, os, socket, sys, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["HTTP_PROXY"])
for host in sys.argv[1:]:
    call = http.client.HTTPConnection(proxy.hostname, proxy.port, timeout=20)
    call.request("GET", "http://" + host + "/")
    answer = call.getresponse()
    print(answer.status, answer.reason, answer.read().decode() if answer.status == 200 else "")
    try:
        socket.create_connection(host.split(":"), 3)
    except OSError as error:
        print("directly:", type(error).__name__)
"""


@pytest.mark.docker
def test_agent_reaches_the_allowed_hosts_through_the_gateway_alone(mirror: Path, tmp_path: Path):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        allowed = f"127.0.0.1:{site.server_port}"
        choice = AgentChoice(
            name="command",
            argument=shlex.join(["python3", "-c", FETCH, allowed, "example.org:80"]),
            total_seconds=60,
            setup_seconds=60,
            hosts=(allowed,),
        )
        chosen = options(Kind.DOCKER, choice, mirror, tmp_path, network=Network.ALLOWED)
        done = work(chosen)
        site.shutdown()
    assert (done.network, done.usage, done.key) == (f"allowed: {allowed}", None, None)
    assert SessionLayout(folder=chosen.folder).agent_log.read_text().splitlines() == [
        f"200 OK this is {allowed}",
        "directly: ConnectionRefusedError",
        "403 this host is not allowed in this trial ",
        "directly: gaierror",
    ]


@pytest.mark.docker
def test_model_and_allowed_hosts_are_reached_through_one_socket(
    choice: AgentChoice, mirror: Path, tmp_path: Path
):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        allowed = f"127.0.0.1:{site.server_port}"
        commands = (shlex.join(["python3", "-c", FETCH, allowed]), *COMMANDS)
        with ModelServer(commands=commands) as server:
            url = server.url(Dialect.ANTHROPIC, "multi", run=tmp_path.name)
            asking = replace(choice, model=replace(choice.model, url=url), hosts=(allowed,))
            chosen = options(Kind.DOCKER, asking, mirror, tmp_path, network=Network.ALLOWED)
            done = work(chosen)
            truth = server.run(tmp_path.name).usage
        site.shutdown()
    assert (done.ending, done.usage) == (Ending.DONE, truth)
    log = SessionLayout(folder=chosen.folder).agent_log.read_text()
    assert f"\n200 OK this is {allowed}\ndirectly: ConnectionRefusedError\n" in log
