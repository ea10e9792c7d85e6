"""The conversation that the gateway records: every dialect, streamed or not, one line a call."""

import json

import pytest

from reb_action.agents.parsers.conversation import read_steps
from reb_action.agents.parsers.steps import Speaker
from reb_action.agents.run.trajectory import Source, Trajectory, build_atif
from reb_action.gateway.conversation import CONTENT
from reb_action.gateway.conversation.content import AnswerContent, Message
from reb_action.gateway.conversation.record import TEXT_CHARACTERS, cut
from reb_action.model.agent import AgentRun, Dialect, Ending
from tests.support.atif import demand_valid
from tests.support.gateway import COMMANDS
from tests.support.model_server import KEY
from tests.support.model_server.scenarios import TEXT

RUN = AgentRun(
    agent="mine", version="1", ending=Ending.DONE, exit_code=0, seconds=1.0, setup_seconds=0.0
)


def converse(gateway, dialect, *, stream, turns, **fields):
    """Ask as an agent does that brings one more result each time, and return the steps."""
    for results in range(turns):
        gateway.ask(dialect, stream=stream, results=results, **fields)
    return read_steps(gateway.record.with_name("conversation.jsonl"))


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("stream", [False, True])
def test_every_call_is_a_step_with_its_commands_results_and_usage(open_gateway, dialect, stream):
    with open_gateway("multi", dialect, model="scripted-1") as gateway:
        steps = converse(gateway, dialect, stream=stream, turns=4, command="make it")
        truth = gateway.run.usage
    assert [step.speaker for step in steps] == [Speaker.USER, *[Speaker.AGENT] * 4]
    assert steps[0].message == "hello"
    commands = [json.dumps(dict(call.arguments)) for step in steps for call in step.calls]
    for command, wanted in zip(commands, (*COMMANDS, "ls .."), strict=True):
        assert wanted in command
    assert [call.result for step in steps for call in step.calls] == ["out"] * 3
    assert steps[-1].message == TEXT
    agents = steps[1:]
    assert sum(step.usage.input_tokens for step in agents) == truth.input_tokens
    assert sum(step.usage.output_tokens for step in agents) == truth.output_tokens
    assert all(step.time and step.seconds is not None for step in agents)
    trajectory = Trajectory(steps=steps, source=Source.GATEWAY)
    demand_valid(build_atif(trajectory, RUN, trial="t", prompt="hello"))


@pytest.mark.parametrize("dialect", Dialect)
def test_live_view_is_told_of_each_turn(open_gateway, dialect):
    with open_gateway("multi", dialect, model="scripted-1") as gateway:
        converse(gateway, dialect, stream=True, turns=4)
        turns = list(gateway.turns)
    assert [turn.number for turn in turns] == [1, 2, 3, 4]
    assert [len(turn.tools) for turn in turns] == [1, 1, 1, 0]
    assert COMMANDS[0] in turns[0].arguments
    assert turns[-1].text == TEXT
    assert all(turn.tokens and turn.error is None for turn in turns)


@pytest.mark.parametrize("dialect", Dialect)
def test_long_result_is_cut_and_the_loss_is_marked(open_gateway, dialect):
    output = "a" * 600_000 + "the end"
    with open_gateway("multi", dialect, model="scripted-1") as gateway:
        steps = converse(gateway, dialect, stream=False, turns=2, output=output)
    call = steps[1].calls[0]
    assert call.left_out == len(output) - TEXT_CHARACTERS
    assert f"[reb left out {call.left_out} characters]" in call.result
    assert call.result.endswith("the end")
    document = build_atif(
        Trajectory(steps=steps, source=Source.GATEWAY), RUN, trial="t", prompt="hello"
    )
    demand_valid(document)
    assert document["extra"]["left_out_characters"] == call.left_out
    assert str(call.left_out) in document["notes"]


@pytest.mark.parametrize(
    ("scenario", "course"),
    [
        ("e500", "error: scripted error 500"),
        ("cut", "cut: the model's answer was cut short"),
        ("failed", "failed: scripted failure"),
    ],
)
def test_call_that_failed_is_a_step_that_says_so(open_gateway, scenario, course):
    with open_gateway(scenario, Dialect.ANTHROPIC, model="scripted-1") as gateway:
        steps = converse(gateway, Dialect.ANTHROPIC, stream=True, turns=1)
    assert steps[-1].course == course
    document = build_atif(
        Trajectory(steps=steps, source=Source.GATEWAY), RUN, trial="t", prompt="hello"
    )
    assert document["steps"][-1]["extra"]["incomplete"] == course
    demand_valid(document)


def test_result_of_an_unknown_call_is_a_step_of_its_own(open_gateway):
    with open_gateway("text", Dialect.CHAT, model="scripted-1") as gateway:
        gateway.ask(Dialect.CHAT, results=1, output="from nowhere")
        steps = read_steps(gateway.record.with_name("conversation.jsonl"))
    assert [(step.speaker, step.message) for step in steps] == [
        (Speaker.USER, "from nowhere"),
        (Speaker.AGENT, TEXT),
    ]


def test_call_that_is_made_again_repeats_no_message(open_gateway):
    with open_gateway("cut-once", Dialect.CHAT, model="scripted-1") as gateway:
        for results in (0, 1, 1):
            gateway.ask(Dialect.CHAT, stream=True, results=results)
        steps = read_steps(gateway.record.with_name("conversation.jsonl"))
    assert [step.speaker for step in steps] == [Speaker.USER, *[Speaker.AGENT] * 3]
    assert [call.result for call in steps[1].calls] == ["out"]


def test_key_and_placeholder_are_in_no_record(open_gateway):
    with open_gateway("echo-key", Dialect.CHAT, model="scripted-1") as gateway:
        gateway.ask(Dialect.CHAT, says=f"my key is {gateway.gateway.placeholder}")
        record = gateway.record.with_name("conversation.jsonl").read_text()
        placeholder = gateway.gateway.placeholder
    assert KEY not in record
    assert placeholder not in record
    assert record.count("***") == 2


def test_calls_that_count_tokens_are_no_turns(open_gateway):
    with open_gateway("multi", Dialect.ANTHROPIC, model="scripted-1") as gateway:
        gateway.ask(Dialect.ANTHROPIC)
        assert len(gateway.turns) == 1


def test_short_text_is_kept_whole():
    assert cut("abc", 3) == ("abc", 0)
    assert cut("a" * 10 + "z" * 10, 8) == ("aaaaaa\n[reb left out 12 characters]\nzz", 12)


HOSTILE = [
    *(None, 1, "x", [], {}, {"messages": 1}, {"messages": [1, None, {"role": "user"}]}),
    *({"input": [[]]}, {"input": {"a": 1}}, {"contents": [{"parts": "x"}, 3]}, {"choices": [None]}),
    *({"messages": [{"role": "tool", "content": {"a": 1}}]}, {"type": "content_block_delta"}),
    {"candidates": [{"content": {"parts": [{"functionCall": 3}, {"text": 3}]}}]},
    {"type": "response.output_item.done", "item": {"type": "message", "content": 3}},
]


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("value", HOSTILE)
def test_any_shape_is_read(dialect, value):
    content = AnswerContent()
    CONTENT[dialect].read_answer(value, content)
    assert isinstance(content.text, str)
    assert all(isinstance(one, Message) for one in CONTENT[dialect].read_messages(value))


def test_answer_of_endless_text_is_kept_within_bounds():
    content = AnswerContent()
    for _ in range(5):
        content.add_text("0", "x" * 1024 * 1024)
    assert (len(content.text), content.left_out) == (4 * 1024 * 1024, 1024 * 1024)
