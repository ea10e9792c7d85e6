"""Writes an agent's steps in Harbor's Agent Trajectory Interchange Format (ATIF), version 1.6."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from reb_action.agents.parsers.steps import Call, Reading, Speaker, Step
from reb_action.documents import Json, dump_json, write_bytes
from reb_action.model.agent import AgentRun, Usage

_VERSION: Final = "ATIF-v1.6"


def write(path: Path, reading: Reading, run: AgentRun, *, trial: str, prompt: str) -> None:
    """Write the trajectory of a run; it begins with the task, which some agents do not repeat."""
    write_bytes(path, dump_json(atif(reading, run, trial=trial, prompt=prompt)))


def atif(reading: Reading, run: AgentRun, *, trial: str, prompt: str) -> Json:
    """Return the trajectory as JSON, without what is not known."""
    steps = reading.steps
    if not any(step.speaker is Speaker.USER for step in steps[:2]):
        steps = (Step(speaker=Speaker.USER, message=prompt), *steps)
    agent = {"name": run.agent, "version": run.version, "model_name": run.model}
    return {
        "schema_version": _VERSION,
        "session_id": trial,
        "agent": _known(agent.items()),
        "steps": [_step(number, step) for number, step in enumerate(steps, 1)],
        "final_metrics": {
            **_metrics(run.usage or Usage(), prefix="total_"),
            "total_steps": len(steps),
        },
    }


def _step(number: int, step: Step) -> Json:
    calls = [(call.id or f"call_{number}_{index}", call) for index, call in enumerate(step.calls)]
    results: list[Json] = [
        {"source_call_id": name, "content": call.result}
        for name, call in calls
        if call.result is not None
    ]
    used = _metrics(step.usage, prefix="") if step.usage is not None else None
    return {
        "step_id": number,
        "source": step.speaker,
        "message": step.message,
        **_known(
            (
                ("timestamp", step.time),
                ("reasoning_content", step.reasoning),
                ("tool_calls", [_call(name, call) for name, call in calls] or None),
                ("observation", {"results": results} if results else None),
                ("metrics", used),
            )
        ),
    }


def _call(name: str, call: Call) -> Json:
    return {
        "tool_call_id": name,
        "function_name": call.tool,
        "arguments": dict(call.arguments),
    }


def _metrics(usage: Usage, *, prefix: str) -> dict[str, Json]:
    return _known(
        (
            (f"{prefix}prompt_tokens", usage.input_tokens),
            (f"{prefix}completion_tokens", usage.output_tokens),
            (f"{prefix}cached_tokens", usage.cache_read_tokens),
            (f"{prefix}cost_usd", usage.cost_usd),
        )
    )


def _known(pairs: Iterable[tuple[str, Json]]) -> dict[str, Json]:
    return {name: value for name, value in pairs if value is not None}
