"""The turns of an agent on the page of its trial: readable, folded, escaped, bounded."""

import re

import pytest

from reb_action.render.html.environment import render
from reb_action.render.html.page.timeline import TURNS, build_timeline

STEP = {
    "step_id": 2,
    "source": "agent",
    "message": "I install it.",
    "timestamp": "2026-11-30T12:00:05.123+00:00",
    "reasoning_content": "Hm.",
    "tool_calls": [
        {
            "tool_call_id": "a",
            "function_name": "bash",
            "arguments": {"command": "pip install torch\necho <b>"},
        },
        {"tool_call_id": "b", "function_name": "ls", "arguments": {}},
    ],
    "observation": {"results": [{"source_call_id": "a", "content": "<script>\nok"}]},
    "metrics": {"prompt_tokens": 1500, "completion_tokens": 500, "cost_usd": 0.02},
    "extra": {"seconds": 4.2},
}


def page(*steps, **document):
    timeline = build_timeline({"steps": list(steps), **document})
    return render("page/timeline.html.j2", timeline=timeline)


def test_turn_shows_time_use_command_and_output():
    html = page(STEP)
    for part in ("12:00:05", "4.2 s, 2 k tokens, $0.02", "I install it.", "No result is known."):
        assert part in html
    assert "<summary><code>bash</code> pip install torch</summary>" in html
    assert "command: pip install torch\necho &lt;b&gt;" in html
    assert "&lt;script&gt;\nok" in html
    assert html.count("<details>") == 3


def test_losses_are_marked():
    html = page(
        {**STEP, "extra": {"incomplete": "cut: the model's answer was cut short"}},
        notes="12 characters of long texts were left out; each text says where.",
    )
    assert "12 characters of long texts were left out" in html
    assert '<b class="failed">cut: the model&#39;s answer was cut short</b>' in html


def test_long_output_keeps_head_and_tail():
    result = {"source_call_id": "a", "content": "head\n" + "x\n" * 5000 + "the end"}
    html = page({**STEP, "observation": {"results": [result]}})
    assert re.search(r"\[[\d,]+ characters more in trajectory.json\]", html)
    assert "head\nx" in html
    assert "the end" in html
    shown = html.partition("[")[0].rpartition(">")[2] + html.partition("json]")[2]
    assert shown.count("x\n") < 50


def test_more_turns_than_a_page_takes_are_counted():
    html = page(*[{**STEP, "step_id": number} for number in range(1, TURNS + 6)])
    assert html.count("<li>") == TURNS
    assert "and 5 more in trajectory/trajectory.json" in html


@pytest.mark.parametrize("document", [None, 1, [], {}, {"steps": 3}, {"steps": []}])
def test_what_is_no_trajectory_has_no_timeline(document):
    assert build_timeline(document) is None


@pytest.mark.parametrize(
    "step", [None, 1, [], {}, {"tool_calls": [1]}, {"metrics": 3, "extra": []}]
)
def test_step_of_any_shape_is_shown(step):
    assert page(step).count("<li>") == 1
