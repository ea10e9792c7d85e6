"""An agent that asks its model's vendor to search, connect or fetch: what reaches the vendor.

The agent is in a container without a network, and sends the same in each dialect. The control has
an open network, where all of it passes and is recorded.
"""

import json
from pathlib import Path

import pytest

from reb_action.corpus import manifests
from reb_action.model.agent import Dialect
from reb_action.sandbox.protocol import Kind, Limits, Network
from reb_action.session.layout import SessionLayout
from reb_action.session.state import AgentChoice, ModelChoice
from reb_action.trial import agent, start, stop
from reb_action.trial.options import Options
from tests.support.model_server import KEY
from tests.support.model_server.client import request
from tests.support.sandbox_fixtures import docker_image
from tests.trial.test_trial import DEMO, silent

PLACE = "https://fetch.example"
SHELL = {
    Dialect.ANTHROPIC: {"name": "bash", "input_schema": {"type": "object"}},
    Dialect.RESPONSES: {"type": "function", "name": "bash", "parameters": {}},
    Dialect.CHAT: {"type": "function", "function": {"name": "bash", "parameters": {}}},
    Dialect.GEMINI: {"functionDeclarations": [{"name": "run_shell_command"}]},
}
# What the agent tries, by the name that the record has for it.
TRIES = {
    Dialect.ANTHROPIC: {
        "web_search_20250305": {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
        "web_fetch_20250910": {"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]},
        "mcp_servers": {"mcp_servers": [{"type": "url", "url": PLACE, "name": "m"}]},
        "image address": {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "image", "source": {"type": "url", "url": PLACE}}],
                }
            ]
        },
    },
    Dialect.RESPONSES: {
        "web_search": {"tools": [{"type": "web_search", "external_web_access": True}]},
        "mcp": {"tools": [{"type": "mcp", "server_label": "m", "server_url": PLACE}]},
        "background": {"background": True},
        "input_image address": {
            "input": [
                {"role": "user", "content": [{"type": "input_image", "image_url": PLACE}]},
            ]
        },
    },
    Dialect.CHAT: {
        "web_search_options": {"web_search_options": {"search_context_size": "high"}},
        "plugins": {"plugins": [{"id": "web"}]},
        "mcp": {"tools": [{"type": "mcp", "server_url": PLACE}]},
        "image_url address": {
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": PLACE}}]}
            ]
        },
    },
    Dialect.GEMINI: {
        "googleSearch": {"tools": [{"googleSearch": {}}]},
        "urlContext": {"tools": [{"urlContext": {}}]},
        "mcpServers": {
            "tools": [{"mcpServers": [{"streamableHttpTransport": {"url": PLACE}}]}],
        },
        "file address": {
            "contents": [{"role": "user", "parts": [{"fileData": {"fileUri": PLACE}}]}],
        },
    },
}
SCRIPT = """
import json, os, sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
for path, headers, body in json.load(open(sys.argv[1])):
    headers = {name: value.replace("KEY", os.environ["ASK_KEY"]) for name, value in headers.items()}
    url = os.environ["ASK_URL"] + path
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    print(opener.open(request, timeout=60).status, flush=True)
"""


def attempts(dialect):
    """Return the requests that an agent sends: one for each try, beside its own shell."""
    for change in TRIES[dialect].values():
        tools = [SHELL[dialect], *change.get("tools", ())]
        yield request(dialect, key="KEY", **{**change, "tools": tools})


def sender(folder, dialect):
    """Write the file of an agent that sends these requests."""
    indent = "".join(f"    {line}\n" for line in SCRIPT.strip().splitlines())
    path = folder / "sender.yaml"
    path.write_text(
        f"name: sender\ntitle: Sender\ndialect: {dialect}\n"
        f"files:\n  sender.py: |\n{indent}"
        f"  requests.json: |\n    {json.dumps(list(attempts(dialect)))}\n"
        "argv: [python3, '{agent}/sender.py', '{agent}/requests.json']\n"
        "env: {ASK_URL: '{base_url}', ASK_KEY: '{key}'}\n"
    )
    return path


def play(server, mirror, folder, dialect, network):
    """Run a trial up to the end of its agent; return the run and what the vendor got."""
    model = ModelChoice(
        name="scripted-1", url=server.url(dialect, "text", run=folder.name), preflight=False
    )
    choice = AgentChoice(
        name=str(sender(folder, dialect)), argument=None, total_seconds=60, setup_seconds=60,
        model=model,
    )  # fmt: skip
    layout = SessionLayout(folder=folder / "trial")
    options = Options(
        manifest=manifests.load(DEMO / "manifest.yaml"),
        agent=choice,
        folder=layout.folder,
        kind=Kind.DOCKER,
        image=docker_image(),
        mirror=mirror,
        network=network,
        limits=Limits(memory_mib=1024, shm_mib=64, processes=200, seconds=600),
    )
    start.start(options, owner=1, tell=silent)
    try:
        run = agent.run_agent(layout, environ={"REB_MODEL_KEY": KEY}, tell=silent)
    finally:
        stop.stop(layout, tell=silent)
    return run, [json.loads(seen.body) for seen in server.run(folder.name).seen]


@pytest.mark.parametrize("dialect", Dialect)
def test_nothing_that_the_vendor_would_do_leaves_a_closed_network(
    server, mirror, tmp_path: Path, dialect
):
    run, got = play(server, mirror, tmp_path, dialect, Network.NONE)
    assert dict(run.vendor.removed) == dict.fromkeys(TRIES[dialect], 1)
    assert dict(run.vendor.offered) == {}
    assert len(got) == len(TRIES[dialect])
    for body, (name, change) in zip(got, TRIES[dialect].items(), strict=True):
        text = json.dumps(body)
        assert PLACE not in text, name
        assert body["tools"] == [SHELL[dialect]], name
        assert not set(change) - {"tools", "messages", "input", "contents"} & set(body), name


@pytest.mark.parametrize("dialect", Dialect)
def test_all_of_it_passes_an_open_network_and_is_recorded(server, mirror, tmp_path: Path, dialect):
    run, got = play(server, mirror, tmp_path, dialect, Network.OPEN)
    assert dict(run.vendor.offered) == dict.fromkeys(TRIES[dialect], 1)
    assert dict(run.vendor.removed) == {}
    assert json.dumps(got).count(PLACE) >= 2
