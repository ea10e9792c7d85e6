"""Writes an agent's run in Harbor's Agent Trajectory Interchange Format (ATIF), version 1.7."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from reb_action.agents.parsers.steps import Call, Speaker, Step
from reb_action.documents import Json, dump_json, write_bytes
from reb_action.model.agent import AgentRun, Usage

_VERSION: Final = "ATIF-v1.7"


class Source(StrEnum):
    """The source of a trajectory: the gateway (with times, usage, cost) or the agent's events."""

    GATEWAY = "gateway"
    EVENTS = "events"


@dataclass(frozen=True, kw_only=True, slots=True)
class Trajectory:
    """The steps of a run and their source; `lost_bytes` counts the lost bytes of the events."""

    steps: tuple[Step, ...]
    source: Source
    lost_bytes: int = 0


def write(path: Path, trajectory: Trajectory, run: AgentRun, *, trial: str, prompt: str) -> None:
    """Write the trajectory of a run; it begins with the task, which some agents do not repeat."""
    write_bytes(path, dump_json(build_atif(trajectory, run, trial=trial, prompt=prompt)))


def build_atif(trajectory: Trajectory, run: AgentRun, *, trial: str, prompt: str) -> Json:
    """Return the trajectory as JSON, without unknown values, and with all losses marked."""
    steps = trajectory.steps
    if not any(step.speaker is Speaker.USER for step in steps[:2]):
        steps = (Step(speaker=Speaker.USER, message=prompt), *steps)
    agent = {"name": run.agent, "version": run.version, "model_name": run.model}
    left_out = sum(step.left_out + sum(call.left_out for call in step.calls) for step in steps)
    lost: dict[str, Json] = {
        "left_out_characters": left_out or None,
        "lost_bytes": trajectory.lost_bytes or None,
    }
    return {
        "schema_version": _VERSION,
        "session_id": trial,
        "agent": _known(agent.items()),
        "steps": [_step(number, step) for number, step in enumerate(steps, 1)],
        **_known((("notes", _note(left_out, trajectory.lost_bytes)),)),
        "final_metrics": {
            **_metrics(run.usage or Usage(), prefix="total_"),
            "total_steps": len(steps),
        },
        "extra": {"source": str(trajectory.source), **_known(lost.items())},
    }


def _note(left_out: int, lost_bytes: int) -> str | None:
    notes = (
        f"{left_out} characters of long texts were left out; each text says where."
        if left_out
        else "",
        f"{lost_bytes} bytes of the agent's events were lost, and with them whole steps."
        if lost_bytes
        else "",
    )
    return " ".join(filter(None, notes)) or None


def _step(number: int, step: Step) -> Json:
    calls = [(call.id or f"call_{number}_{index}", call) for index, call in enumerate(step.calls)]
    results = [_result(name, call) for name, call in calls if call.result is not None]
    extra: dict[str, Json] = {
        "seconds": step.seconds,
        "incomplete": step.course,
        "left_out_characters": step.left_out or None,
    }
    is_agent = step.speaker is Speaker.AGENT
    return {
        "step_id": number,
        "source": step.speaker,
        "message": step.message,
        **_known(
            (
                ("timestamp", step.time),
                ("model_name", step.model if is_agent else None),
                ("reasoning_content", step.reasoning),
                ("tool_calls", [_call(name, call) for name, call in calls] or None),
                ("observation", {"results": results} if results else None),
                ("metrics", _metrics(step.usage, prefix="") if step.usage else None),
                ("llm_call_count", 1 if is_agent and step.usage else None),
                ("extra", _known(extra.items()) or None),
            )
        ),
    }


def _call(name: str, call: Call) -> Json:
    return {
        "tool_call_id": name,
        "function_name": call.tool,
        "arguments": dict(call.arguments),
    }


def _result(name: str, call: Call) -> Json:
    lost: dict[str, Json] = {"extra": {"left_out_characters": call.left_out}}
    return {
        "source_call_id": name,
        "content": call.result,
        **(lost if call.left_out else {}),
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
