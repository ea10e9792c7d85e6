"""The scripted model does in each dialect what its URL says, and knows what it said."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reb_action.model.agent import Dialect, Usage
from tests.support.model_server import KEY, ModelServer
from tests.support.model_server.client import ask

ROOT = Path(__file__).parents[2]
COMMANDS = ("make it", "say it")


@pytest.fixture(scope="module")
def server():
    with ModelServer(commands=COMMANDS) as running:
        yield running


def asked(server, dialect, scenario, **wanted):
    run = f"{dialect}-{scenario}-{wanted.get('stream', False)}-{wanted.get('results', 0)}"
    prefix = f"/{scenario}/{run}"
    reply = ask(server.root, dialect, prefix=prefix, **{"key": KEY, **wanted})
    return reply, server.run(run)


CALLS = {
    Dialect.ANTHROPIC: lambda value: value["content"][0]["input"],
    Dialect.CHAT: lambda value: json.loads(
        value["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"]
    ),
    Dialect.RESPONSES: lambda value: json.loads(value["output"][0]["arguments"]),
    Dialect.GEMINI: lambda value: value["candidates"][0]["content"]["parts"][0]["functionCall"][
        "args"
    ],
}


@pytest.mark.parametrize("dialect", Dialect)
def test_shell_tool_is_called_by_its_own_schema(server, dialect):
    reply, _ = asked(server, dialect, "ok")
    expected = {"command": "make it && say it", "is_background": False}
    if dialect is Dialect.RESPONSES:
        expected = {"cmd": ["bash", "-c", "make it && say it"]}
    assert CALLS[dialect](reply.json) == expected


@pytest.mark.parametrize("dialect", Dialect)
def test_vendor_keeps_a_connection_alive_with_comments_or_empty_lines(server, dialect):
    stream, _ = asked(server, dialect, "keep-alive", stream=True)
    assert stream.body.count(b": keep-alive\n\n") >= 1
    whole, _ = asked(server, dialect, "keep-alive")
    assert whole.body.startswith(b"\n\n\n{")


@pytest.mark.parametrize("dialect", Dialect)
def test_vendor_that_drips_says_the_same(server, dialect):
    said = [asked(server, dialect, name, stream=True)[0].body for name in ("drip", "ok")]
    assert said[0] == said[1]


@pytest.mark.parametrize("dialect", Dialect)
def test_steps_follow_the_results_that_a_conversation_brings(server, dialect):
    second, _ = asked(server, dialect, "multi", results=1)
    assert next(iter(CALLS[dialect](second.json).values())) in ("say it", ["bash", "-c", "say it"])
    last, run = asked(server, dialect, "multi", results=3)
    assert b"The environment is ready" in last.body
    assert run.usage.tool_calls == 0


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("status", [401, 429, 500])
def test_errors_have_the_shape_of_their_dialect(server, dialect, status):
    reply, run = asked(server, dialect, f"e{status}")
    assert (reply.status, run.statuses) == (status, [status])
    assert reply.json["error"]["message"] == f"scripted error {status}"


@pytest.mark.parametrize("dialect", Dialect)
def test_another_key_is_refused(server, dialect):
    assert asked(server, dialect, "text", key="sk-other")[0].status == 401


def test_request_without_the_shape_of_its_dialect_is_refused(server):
    reply, run = asked(server, Dialect.CHAT, "ok", messages=[])
    assert (reply.status, run.statuses[-1]) == (400, 400)
    assert reply.json["error"]["message"] == "BadRequestError: messages: [] is too short"


def test_truth_is_the_sum_of_what_was_said(server):
    for _ in range(2):
        ask(server.root, Dialect.ANTHROPIC, prefix="/ok/sum", key=KEY, stream=True)
    assert server.run("sum").usage == Usage(
        input_tokens=2001 + 2002 + 6000 + 6010 + 800,
        cache_read_tokens=12010,
        cache_write_tokens=800,
        output_tokens=101 + 201,
        turns=2,
        tool_calls=2,
    )


def test_broken_answers_are_cut_or_hold_bad_bytes(server):
    assert asked(server, Dialect.CHAT, "cut", stream=True)[0].cut
    assert asked(server, Dialect.CHAT, "cut")[0].cut
    assert b"\xff\xfe\x80" in asked(server, Dialect.CHAT, "invalid-utf8", results=1)[0].body
    assert len(asked(server, Dialect.CHAT, "huge", results=1)[0].body) > 4 * 1024 * 1024


def test_program_prints_where_it_listens():
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.support.model_server", "--command", "true"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        root = program.stdout.readline().strip()
        reply = ask(root, Dialect.CHAT, prefix="/ok/1", key=KEY)
        assert CALLS[Dialect.CHAT](reply.json)["command"] == "true"
    finally:
        program.kill()
        program.communicate()
