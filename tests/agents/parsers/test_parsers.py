"""Events of agents, recorded from runs against the scripted model, become one account.

`tests/recorded/AGENT/SCENARIO` is what `reb` keeps of such a run, without what nobody reads.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.agents.parsers import read, reading
from reb_action.agents.parsers.steps import Reading, Speaker
from reb_action.agents.run.trajectory import Source, Trajectory, build_atif
from reb_action.agents.spec import Parser
from reb_action.documents import Json
from reb_action.model.agent import Account, AgentRun, Ending, Usage
from tests.support.atif import demand_valid

RECORDED = Path(__file__).parents[2] / "recorded"
PARSERS = [parser for parser in Parser if parser is not Parser.NONE]

# What the scripted model says of four calls of which three ask for a tool, in its own terms.
MULTI = Usage(
    input_tokens=32070,
    cache_read_tokens=24060,
    output_tokens=1004,
    turns=4,
    tool_calls=3,
)
USED = {
    Parser.CLAUDE_CODE: replace(MULTI, input_tokens=33670, cache_write_tokens=1600),
    # Neither says how often it asked; Codex's session files, which do, were not recorded.
    Parser.CODEX: replace(MULTI, turns=None),
    Parser.GEMINI_CLI: replace(MULTI, turns=None),
    # The request for a title had the first numbers; it is in none of the events.
    Parser.OPENCODE: replace(
        MULTI, input_tokens=32114, cache_read_tokens=24100, output_tokens=1404
    ),
    # It was asked twice more for a command, as its task is to end with one.
    Parser.MINI_SWE_AGENT: replace(
        MULTI, input_tokens=48171, cache_read_tokens=36150, output_tokens=2106, turns=6
    ),
}
VERSIONS = {
    Parser.CLAUDE_CODE: "2.1.332",
    Parser.QWEN_CODE: "0.24.4",
    Parser.MINI_SWE_AGENT: "2.4.6",
}
ERRORS = {
    (Parser.CLAUDE_CODE, "e401"): "its model failed: Failed to authenticate. API Error: 401",
    (Parser.CLAUDE_CODE, "e429"): "its model failed: API Error: Request rejected (429)",
    (Parser.CLAUDE_CODE, "e500"): "its model failed: API Error: 500 scripted error 500.",
    (Parser.CODEX, "e401"): "its turn failed: unexpected status 401 Unauthorized: scripted error",
    (Parser.CODEX, "e429"): "its turn failed: exceeded retry limit, last status: 429 Too Many",
    (Parser.OPENCODE, "e401"): "its model failed with 401: scripted error 401",
    (Parser.OPENCODE, "e429"): "its model failed with 429: scripted error 429",
    (Parser.OPENCODE, "cut"): "it ended with an error: Connection reset by server",
    (Parser.GEMINI_CLI, "e401"): 'it ended with an error: [API Error: {"error":{"code":401,',
    (Parser.QWEN_CODE, "e401"): "its model failed: [API Error: 401 scripted error 401]",
    (Parser.MINI_SWE_AGENT, "e401"): "it ended with AuthenticationError",
    (Parser.MINI_SWE_AGENT, "e429"): "it ended with RateLimitError",
    (Parser.NEXAU, "e401"): "it ended with an error: Error: Error code: 401 - {'error'",
    (Parser.NEXAU, "e500"): "it ended with an error: Error: Error code: 500 - {'error'",
}
# Ended by the clock while they asked again and again: nothing closes their events.
STILL_ASKING = [
    (Parser.GEMINI_CLI, "e429"),
    (Parser.QWEN_CODE, "e429"),
    (Parser.OPENCODE, "e500"),
]
SUBMITS = "it ended with RepeatedFormatError"


def place(parser: Parser, scenario: str) -> Path:
    return RECORDED / parser / scenario


@pytest.mark.parametrize("parser", PARSERS)
def test_usage_is_what_the_model_said(parser: Parser) -> None:
    account = read(parser, place(parser, "multi"))
    assert account is not None
    assert account.usage == USED.get(parser, MULTI)
    assert account.version == VERSIONS.get(parser)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("scenario", ["multi", "no-report"])
def test_closing_event_is_an_ending(parser: Parser, scenario: str) -> None:
    account = read(parser, place(parser, scenario))
    assert account is not None
    mini = parser is Parser.MINI_SWE_AGENT
    wanted = (Ending.GAVE_UP, SUBMITS) if mini else (Ending.DONE, None)
    assert (account.ending, account.detail) == wanted


@pytest.mark.parametrize(("parser", "scenario"), ERRORS)
def test_error_of_the_model_is_told(parser: Parser, scenario: str) -> None:
    account = read(parser, place(parser, scenario))
    assert account is not None
    assert account.ending is Ending.MODEL_ERROR
    assert str(account.detail).startswith(ERRORS[parser, scenario])


@pytest.mark.parametrize(
    ("parser", "detail"),
    [
        (Parser.GEMINI_CLI, "it stopped: Loop detected, stopping execution"),
        (Parser.QWEN_CODE, "it stopped: Loop detection halted the run (consecutive_ident"),
    ],
)
def test_loop_that_an_agent_ends_itself_is_a_limit(parser: Parser, detail: str) -> None:
    account = read(parser, place(parser, "loop"))
    assert account is not None
    assert account.ending is Ending.LIMIT
    assert str(account.detail).startswith(detail)


@pytest.mark.parametrize(("parser", "scenario"), STILL_ASKING)
def test_events_that_break_off_have_no_ending(parser: Parser, scenario: str) -> None:
    account = read(parser, place(parser, scenario))
    assert account is not None
    assert (account.ending, account.usage) == (None, None)


@pytest.mark.parametrize("parser", PARSERS)
def test_steps_hold_each_call_with_its_answer(parser: Parser) -> None:
    found = reading(parser, place(parser, "multi"))
    assert found is not None
    calls = [call for step in found.steps for call in step.calls]
    assert ["../venv" in str(call.arguments) for call in calls] == [True, True, False]
    assert "report.json" in str(calls[2].result)
    said = [step.message for step in found.steps if step.speaker is Speaker.AGENT]
    assert "# Done\n\nThe environment is ready and the report is written." in said


@pytest.mark.parametrize("parser", PARSERS)
def test_every_cut_of_the_events_is_read(parser: Parser, tmp_path: Path) -> None:
    sessions = parser is Parser.MINI_SWE_AGENT
    name = "sessions/trajectory.json" if sessions else "stdout"
    whole = (place(parser, "multi") / name).read_bytes()
    (tmp_path / name).parent.mkdir(exist_ok=True)
    for size in range(0, len(whole) - 2, 97):
        (tmp_path / name).write_bytes(whole[:size])
        account = read(parser, tmp_path)
        assert account is not None
        # OpenCode has no closing event; its last step is one.
        assert account.ending in ((None, Ending.DONE) if parser is Parser.OPENCODE else (None,))


@pytest.mark.parametrize("parser", PARSERS)
def test_nothing_is_an_account_of_nothing(parser: Parser, tmp_path: Path) -> None:
    assert read(parser, tmp_path) == Account()


HOSTILE = (
    b"",
    b"\xff\xfe{}\n",
    b"{" * 100_000,
    b'{"type":' + b"[" * 100_000 + b"\n",
    b'{"type": "result", "usage": [], "is_error": "yes", "result": {"a": 1}}\n',
    b'{"type": "result", "usage": {"input_tokens": -1, "output_tokens": true}}\n',
    b'{"type": "result", "usage": {"input_tokens": 1e99, "output_tokens": 12345678901234567890}}\n',
    b'{"type": "turn.completed", "usage": {"input_tokens": "8", "output_tokens": NaN}}\n',
    b'{"type": "assistant", "message": {"content": [1, {"type": "tool_use", "input": 1}]}}\n',
    b'{"type": "step_finish", "part": {"reason": 7, "tokens": {"input": {}}}}\n',
    b'{"type": "item.completed", "item": {"type": ["x"], "id": 1}}\n',
    b'{"type": "tool_use", "part": null, "tool_id": {}, "parameters": "x"}\n',
    b'{"type": "USAGE_UPDATE", "usage": 3, "timestamp": -5}\n',
    b'{"info": [], "messages": [{"role": "assistant", "extra": {"response": {"usage": 1}}}, 3]}\n',
    b'{"info": {"exit_status": {}}, "messages": {"role": "user"}}\n',
)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("content", HOSTILE)
def test_hostile_events_make_no_numbers(parser: Parser, content: bytes, tmp_path: Path) -> None:
    (tmp_path / "stdout").write_bytes(content)
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "trajectory.json").write_bytes(content)
    found = reading(parser, tmp_path)
    assert found is not None
    used = found.account.usage or Usage()
    counts = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cost_usd)
    assert counts == (None, None, None, None)
    demand_valid(atif(found, trial="t", prompt="p"))


RUN = AgentRun(
    agent="codex",
    version="1",
    ending=Ending.DONE,
    exit_code=0,
    seconds=1.0,
    setup_seconds=1.0,
    model="scripted-1",
    usage=Usage(input_tokens=10, output_tokens=2),
)


def atif(found: Reading, **names: str) -> Json:
    """Return the trajectory of a run that only its events tell of."""
    trajectory = Trajectory(steps=found.steps, source=Source.EVENTS)
    return build_atif(trajectory, RUN, **names)


def test_trajectory_is_in_the_shared_form(tmp_path: Path) -> None:
    events = (
        {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}},
        {
            "type": "item.completed",
            "item": {
                "type": "command_execution",
                "id": "item_1",
                "command": "ls",
                "aggregated_output": "a\n",
                "exit_code": 2,
                "status": "failed",
            },
        },
    )
    (tmp_path / "stdout").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    found = reading(Parser.CODEX, tmp_path)
    assert found is not None
    call = {
        "tool_call_id": "item_1",
        "function_name": "command_execution",
        "arguments": {"command": "ls"},
    }
    result = {"source_call_id": "item_1", "content": "a\n\n[exit code 2]"}
    assert atif(found, trial="o__n.codex.1", prompt="# Task") == {
        "schema_version": "ATIF-v1.7",
        "session_id": "o__n.codex.1",
        "agent": {"name": "codex", "version": "1", "model_name": "scripted-1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "# Task"},
            {
                "step_id": 2,
                "source": "agent",
                "message": "",
                "reasoning_content": "hm",
                "tool_calls": [call],
                "observation": {"results": [result]},
            },
        ],
        "final_metrics": {
            "total_prompt_tokens": 10,
            "total_completion_tokens": 2,
            "total_steps": 2,
        },
        "extra": {"source": "events"},
    }


def rollout(*payloads: tuple[str, Json]) -> str:
    """Return lines of a session file of Codex, a second apart."""
    lines = (
        {"timestamp": f"2026-01-01T00:00:{n:02}Z", "type": kind, "payload": payload}
        for n, (kind, payload) in enumerate(payloads)
    )
    return "".join(f"{json.dumps(line)}\n" for line in lines)


def spent(tokens: int) -> tuple[str, Json]:
    usage = {"input_tokens": tokens, "cached_input_tokens": 1, "output_tokens": 2}
    return "token_usage_record", {"usage": usage}


def called(name: str) -> tuple[str, Json]:
    call = {"type": "function_call", "name": "exec_command", "call_id": name}
    return "response_item", {**call, "arguments": json.dumps({"cmd": name})}


def printed(name: str) -> tuple[str, Json]:
    return "response_item", {"type": "function_call_output", "call_id": name, "output": "x"}


def test_session_of_codex_is_one_step_for_each_turn(tmp_path: Path) -> None:
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    task = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "t"}]}
    said = {"type": "message", "role": "assistant", "content": [{"text": "Done."}]}
    folder = tmp_path / "sessions" / "2026"
    folder.mkdir(parents=True)
    (folder / "rollout-1.jsonl").write_text(
        rollout(
            ("response_item", task),
            *(("response_item", reasoning), called("a"), called("b"), spent(10)),
            *(printed("a"), printed("b"), ("response_item", said), spent(20), called("c")),
        )
    )
    found = reading(Parser.CODEX, tmp_path)
    assert found is not None
    assert [
        (step.message, step.reasoning, [(call.id, call.result) for call in step.calls], step.time)
        for step in found.steps
    ] == [
        ("", "hm", [("a", "x"), ("b", "x")], "2026-01-01T00:00:01Z"),
        ("Done.", None, [], "2026-01-01T00:00:07Z"),
        # The answer was cut before its usage was known.
        ("", None, [("c", None)], "2026-01-01T00:00:09Z"),
    ]
    used = [step.usage and step.usage.input_tokens for step in found.steps]
    assert used == [10, 20, None]
    assert found.account.usage is not None
    assert found.account.usage.turns == 2


@pytest.mark.parametrize("parser", [Parser.CLAUDE_CODE, Parser.QWEN_CODE])
def test_blocks_of_one_message_are_one_step(parser: Parser, tmp_path: Path) -> None:
    def block(message: str, /, **content: Json) -> Json:
        return {"type": "assistant", "message": {"id": message, "content": [content]}}

    call = {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}
    result = {"type": "tool_result", "tool_use_id": "b", "content": "out"}
    events = (
        block("1", type="thinking", thinking="hm"),
        block("1", type="text", text="I look."),
        block("1", **call, id="a"),
        block("1", **call, id="b"),
        {"type": "user", "message": {"content": [result]}},
        block("2", type="text", text="Done."),
    )
    (tmp_path / "stdout").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    found = reading(parser, tmp_path)
    assert found is not None
    assert [(step.message, len(step.calls)) for step in found.steps] == [
        ("I look.", 2),
        ("Done.", 0),
    ]
    assert [call.result for call in found.steps[0].calls] == [None, "out"]


LONG = "9.9\n::error::x \x1b[31m<b>\u202e" + "v" * 5000
TOLD = {
    Parser.CLAUDE_CODE: {"type": "system", "subtype": "init", "claude_code_version": LONG},
    Parser.QWEN_CODE: {"type": "system", "qwen_code_version": LONG},
    Parser.MINI_SWE_AGENT: {"info": {"mini_version": LONG, "exit_status": LONG}},
}


@pytest.mark.parametrize("parser", TOLD)
def test_version_that_an_agent_tells_is_one_short_line(parser: Parser, tmp_path: Path) -> None:
    for name in ("stdout", "sessions/trajectory.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(TOLD[parser]))
    account = read(parser, tmp_path)
    assert account is not None
    assert account.version == "9.9 ::error::x <b>" + "v" * 61 + "…"
    if parser is Parser.MINI_SWE_AGENT:
        assert account.detail == "it ended with 9.9 ::error::x <b>" + "v" * 367 + "…"


def test_version_that_shows_nothing_is_none(tmp_path: Path) -> None:
    event = {"type": "system", "subtype": "init", "claude_code_version": "\u202e\n"}
    (tmp_path / "stdout").write_text(json.dumps(event))
    assert read(Parser.CLAUDE_CODE, tmp_path) == Account()
