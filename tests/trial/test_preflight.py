"""Before an agent starts, its model is asked once: a wrong key, name or address ends the trial."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reb_action.doctor import check_model
from reb_action.errors import ModelError, UsageError
from reb_action.gateway.preflight import ask_once
from reb_action.gateway.prices import Prices
from reb_action.gateway.settings import Upstream
from reb_action.judge.gate import Standing, decide, parse_fail_on
from reb_action.model.agent import AgentRun, Dialect, Ending
from reb_action.model.fault import FaultCause
from reb_action.model.manifest import Level
from reb_action.sandbox.protocol import Kind
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, ModelChoice
from reb_action.trial import agent as trial_agent
from reb_action.trial import start, stop
from tests.support.model_server import KEY, ModelServer
from tests.support.talker import talker
from tests.trial.test_agent import leaks, options, reb
from tests.trial.test_trial import silent


@pytest.fixture
def layout(tmp_path: Path) -> Iterator[SessionLayout]:
    """The folder of a trial, which is stopped at the end."""
    place = SessionLayout(folder=tmp_path / "results")
    yield place
    if place.session.exists():
        stop.stop(place, tell=silent)


def begin(folder: Path, url: str, mirror: Path, *, preflight: bool = True) -> None:
    model = ModelChoice(name="scripted-1", url=url, preflight=preflight)
    choice = AgentChoice(
        name=str(talker(folder)), argument=None, total_seconds=60, setup_seconds=60, model=model
    )
    start.start(options(Kind.LOCAL, choice, mirror, folder), owner=1, tell=silent)


def work(layout: SessionLayout, key: str) -> AgentRun:
    return trial_agent.run_agent(layout, environ={"REB_MODEL_KEY": key}, tell=silent)


@pytest.mark.parametrize("dialect", Dialect)
def test_model_is_asked_once_for_the_least(server: ModelServer, dialect: Dialect, tmp_path: Path):
    url = server.url(dialect, "text", run=tmp_path.name)
    upstream = Upstream(dialect=dialect, base_url=url, key=KEY, model="scripted-1")
    shown = ask_once(upstream, "scripted-1", Prices())
    (seen,) = server.run(tmp_path.name).preflights
    assert (seen.status, shown.tally.trouble, shown.tally.calls) == (200, None, 1)
    body = json.loads(seen.body)
    limit = body.get("generationConfig", {}).get("maxOutputTokens")
    limits = {body.get("max_tokens"), body.get("max_output_tokens"), limit}
    assert limits - {None} == {16 if dialect is Dialect.RESPONSES else 1}


NOT_STARTED = "the agent was not started"
WRONG = {
    "key": (
        FaultCause.KEY_REFUSED,
        f"the vendor refused the API key (401: the key [key] is not valid; {NOT_STARTED});",
    ),
    "model": (
        FaultCause.MODEL_UNKNOWN,
        f"the vendor does not know this model (404: model: scripted-1; {NOT_STARTED}); check",
    ),
    "address": (
        FaultCause.NAME_UNRESOLVED,
        "the name of the model's host does not resolve (502: the model cannot be reached",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_key_model_or_address_ends_the_trial_before_its_agent(
    server: ModelServer, mirror: Path, layout: SessionLayout, tmp_path: Path, wrong: str
):
    scenario = "no-model" if wrong == "model" else "multi"
    url = server.url(Dialect.ANTHROPIC, scenario, run=tmp_path.name)
    key = "sk-wrong-and-secret" if wrong == "key" else KEY
    begin(tmp_path, "http://models.invalid" if wrong == "address" else url, mirror)
    begun = time.monotonic()
    with pytest.raises(ModelError) as caught:
        work(layout, key)
    assert time.monotonic() - begun < 20
    verdict = session_verdict.conclude(layout)
    cause, words = WRONG[wrong]
    assert str(caught.value).startswith(f"not the agent's fault (model): {words}")
    assert verdict.agent_run is not None
    assert (verdict.agent_run.ending, verdict.agent_run.cause) == (Ending.MODEL_ERROR, cause)
    assert verdict.result(Level.C1).reason == str(caught.value)
    decision = decide(verdict, (Level.C0, Level.C1), parse_fail_on("invalid"))
    assert (decision.standing, decision.closed is None) == (Standing.INVALID, False)
    # Nothing is spent, and the agent was not started.
    assert server.run(tmp_path.name).seen == []
    assert not layout.agent_log.exists()
    assert leaks(layout.folder, key) == []


def test_same_command_starts_the_agent_with_a_right_key(
    server: ModelServer, mirror: Path, layout: SessionLayout, tmp_path: Path
):
    begin(tmp_path, server.url(Dialect.ANTHROPIC, "multi", run=tmp_path.name), mirror)
    with pytest.raises(ModelError):
        work(layout, "sk-wrong")
    run = work(layout, KEY)
    assert (run.ending, run.cause) == (Ending.DONE, None)


def test_preflight_can_be_left_out(
    server: ModelServer, mirror: Path, layout: SessionLayout, tmp_path: Path
):
    url = server.url(Dialect.ANTHROPIC, "e401", run=tmp_path.name)
    begin(tmp_path, url, mirror, preflight=False)
    run = work(layout, KEY)
    assert (run.ending, run.cause) == (Ending.MODEL_ERROR, FaultCause.KEY_REFUSED)
    assert (server.run(tmp_path.name).preflights, run.seconds > 0) == ([], True)


def test_doctor_asks_the_model(server: ModelServer, tmp_path: Path):
    url = server.url(Dialect.ANTHROPIC, "text", run=tmp_path.name)
    asked = ("doctor", "--sandbox", "local", "--model", "scripted-1", "--model-url", url)
    asked = (*asked, "--agent", "claude-code")
    done = reb(*asked, environ={"REB_MODEL_KEY": "sk-wrong-and-secret"})
    line = done.stdout.splitlines()[-1]
    assert line.startswith(f"missing: model scripted-1 at {url}: the vendor refused the API key")
    assert line.endswith("check the key of the model")
    assert "sk-wrong" not in done.stdout
    assert done.returncode == 12
    good = reb(*asked, environ={"REB_MODEL_KEY": KEY})
    assert good.stdout.splitlines()[-1].startswith(f"ok: model scripted-1 at {url} answered after")
    assert good.returncode in (0, 4)


@pytest.mark.parametrize(
    ("model", "agent"),
    [
        ("glm-4.7", None),
        ("deepseek-chat", None),
        ("foo", None),
        ("claude-sonnet-4-5", "codex"),
        ("gpt-5.1", "claude-code"),
        (" ", None),
    ],
)
def test_doctor_sends_no_key_to_a_vendor_by_guess(model: str, agent: str | None):
    with pytest.raises(UsageError, match=r"set --model-url to a URL that does$|--model is empty"):
        check_model(model, None, agent, {"REB_MODEL_KEY": "k"})


@pytest.mark.parametrize("model", ["gpt-5.1", "claude-sonnet-4-5", "gpt-5.1-codex"])
def test_doctor_asks_the_vendor_of_a_known_model(model: str):
    # The key is looked at last, so that nothing is asked here.
    with pytest.raises(UsageError, match=r"has a line break"):
        check_model(model, None, None, {"REB_MODEL_KEY": "a\nb"})
