"""Judge the agent documented: do the repository's own instructions still work?"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, cast

from reb_action.model.evidence import Evidence
from reb_action.model.manifest import Level, Outcome
from reb_action.model.observation import RunObservation, StageObservation
from reb_action.model.report import Report
from reb_action.model.verdict import LevelResult, SetupAnswer, SetupResult

AGENT: Final = "documented"
_RECORD: Final = "setup-record: "
_LINE_CHARACTERS: Final = 300
_ERROR: Final = re.compile(r"^(E  |FAILED|ERROR)|\b\w*(Error|Exception)\b")

_Attempt = Mapping[str, object]


def judge_setup(evidence: Evidence, results: Iterable[LevelResult]) -> SetupResult | None:
    """Return the answer of the agent documented; None for any other agent.

    Where the instructions end comes from the agent's record, as it alone saw the installation. That
    they work rests on C1 and on the stages, which the harness ran.
    """
    if evidence.trial.agent != AGENT:
        return None
    record = _read_record(evidence)
    return replace(_judge(evidence, results, _list_attempts(record)), packages=_packages(record))


def list_changed_packages(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    """Return the packages whose versions differ, each with both; `absent` stands for no version."""
    return tuple(
        f"{name} {before.get(name, 'absent')} to {now.get(name, 'absent')}"
        for name in sorted({*before, *now})
        if before.get(name) != now.get(name)
    )


def _judge(
    evidence: Evidence, results: Iterable[LevelResult], attempts: tuple[_Attempt, ...]
) -> SetupResult:
    if not attempts:
        return _unknown("the agent left no record of what it ran; see agent.log")
    run = next((one for one in attempts if one.get("reported") is True), attempts[0])
    command = {result.level: result for result in results}[Level.C1]
    stage = find_failed_stage(evidence)
    python = str(run.get("python", ""))
    if run.get("stage") == "environment":
        return _unknown(_clip(str(run.get("line", ""))))
    if run.get("stage") == "install":
        return SetupResult(
            answer=SetupAnswer.INSTALL_FAILED, reason=_explain(run, python), python=python
        )
    if command.outcome is Outcome.FAILED or command.outcome is Outcome.BLOCKED:
        line = command.diagnosis.line if command.diagnosis else ""
        reason = f"on Python {python}: {'; '.join(filter(None, (command.reason, line)))}"
        return SetupResult(answer=SetupAnswer.COMMAND_FAILED, reason=reason, python=python)
    if command.outcome is not Outcome.PASSED:
        return _unknown(f"it installs; C1 was not measured: {command.reason}")
    if stage is not None:
        return SetupResult(answer=SetupAnswer.STAGE_FAILED, reason=stage, python=python)
    if run is not attempts[0]:
        first = attempts[0]
        newer = str(first.get("python", ""))
        reason = f"works on Python {python}, not on {newer}: {_explain(first, newer)}"
        return SetupResult(answer=SetupAnswer.OLDER_PYTHON, reason=reason, python=python)
    return SetupResult(
        answer=SetupAnswer.WORKS, reason=f"the instructions work on Python {python}", python=python
    )


def find_failed_stage(evidence: Evidence) -> str | None:
    """Return why the first stage of the manifest that failed did so, or None."""
    seen = evidence.observations.get(Level.C1)
    ran = {one.name: one for one in seen.stages} if isinstance(seen, RunObservation) else {}
    for name in evidence.trial.manifest.stages:
        fault = _stage_fault(ran[name]) if name in ran else "it was not run"
        if fault is not None:
            return f"{name}: {fault}"
    return None


def _stage_fault(stage: StageObservation) -> str | None:
    if stage.fault is not None:
        return stage.fault
    if stage.timed_out:
        return f"it had not ended after {stage.seconds:.0f} s"
    line = _decisive(stage.tail)
    if stage.exit_code != 0:
        return f"it ended with exit code {stage.exit_code}: {line}"
    broken = [proof.detail for proof in stage.proofs if not proof.satisfied]
    return f"exit code 0, but without proof: {'; '.join(broken)}" if broken else None


def _decisive(log: str) -> str:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    telling = [line for line in lines if _ERROR.search(line)]
    return _clip((telling or lines or ["no output"])[-1])


def _explain(attempt: _Attempt, python: str) -> str:
    step = _clip(str(attempt.get("step", "")))
    return f"`{step}` on Python {python} ended with {attempt.get('code')}: " + _clip(
        str(attempt.get("line", ""))
    )


def _read_record(evidence: Evidence) -> Mapping[str, object]:
    """Return the record in the notes of the report; the agent's text, so any shape is possible."""
    notes = evidence.report.notes if isinstance(evidence.report, Report) else None
    last = (notes or "").rpartition("\n")[2]
    if not last.startswith(_RECORD):
        return {}
    try:
        record: object = json.loads(last.removeprefix(_RECORD))
    except (ValueError, RecursionError):
        return {}
    return cast(Mapping[str, object], record) if isinstance(record, dict) else {}


def _packages(record: Mapping[str, object]) -> dict[str, str]:
    found = record.get("packages")
    if not isinstance(found, dict):
        return {}
    listed = cast(Mapping[object, object], found)
    return {str(name)[:100]: str(version)[:100] for name, version in listed.items()}


def _list_attempts(record: Mapping[str, object]) -> tuple[_Attempt, ...]:
    attempts = record.get("attempts")
    if not isinstance(attempts, list):
        return ()
    listed = cast(list[object], attempts)
    return tuple(cast(_Attempt, one) for one in listed if isinstance(one, dict))


def _clip(text: str) -> str:
    return text[:_LINE_CHARACTERS]


def _unknown(reason: str) -> SetupResult:
    return SetupResult(answer=SetupAnswer.UNKNOWN, reason=reason)
