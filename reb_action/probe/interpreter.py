"""Observes the reported interpreter: whether it is a CPython, its version and its content."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from reb_action.documents import answer_of
from reb_action.judge import challenge
from reb_action.judge.challenge import Challenge
from reb_action.model.manifest import Framework
from reb_action.model.observation import FrameworkFacts, Interpreter
from reb_action.model.report import Report
from reb_action.probe.answers import ask_interpreter
from reb_action.probe.context import ProbeContext, build_environment, make_nonce
from reb_action.probe.supervisor import Request, Supervised, supervise
from reb_action.probe.survey import InterpreterFile
from reb_action.probe.version import ask_version, describe_other_version

_TIMEOUT_SECONDS: Final = 300
_TEXT_LIMIT: Final = 500
_CUSTOMS_LIMIT: Final = 200
# An honest environment searches far fewer folders, and Linux opens no longer path.
_PATHS_LIMIT: Final = 1000
_PATH_LIMIT: Final = 4096
_KINDS: Final = {
    "missing": "does not exist",
    "broken link": "is a link to nothing",
    "not a file": "is not a file",
    "not executable": "is not executable",
    "not readable": "cannot be read, so it is not known whether it is CPython",
    "script": "is a script, not CPython; name the interpreter's own binary",
    "other": "is not a program of this machine",
}

_CANNOT_RUN: Final = ("missing", "broken link", "not a file", "not executable")


@dataclass(frozen=True, kw_only=True, slots=True)
class _FrameworkTold:
    error: str | None = None
    version: str | None = None
    file: str | None = None
    native: str | None = None
    drawn: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    nonce: str
    worked_out: str
    implementation: str
    executable: str
    running: str
    prefix: str
    prefix_bytes: int
    search_paths: tuple[str, ...]
    extension: str | None
    customs: tuple[str, ...]
    frameworks: Mapping[Framework, _FrameworkTold] = field(
        default_factory=dict[Framework, _FrameworkTold]
    )


def observe_interpreter(
    context: ProbeContext, report: Report, file: InterpreterFile
) -> Interpreter:
    """Return the observed interpreter; `file` is the survey's result without running it."""
    strict = _examine(context, report, file)
    if strict.fault is None or file.kind in _CANNOT_RUN:
        return strict
    answers, left = ask_interpreter(context, report)
    survivors = (*strict.survivors, *left)
    return replace(
        strict, path_is_good=answers is not None, answers=answers, survivors=_sorted(survivors)
    )


def _examine(context: ProbeContext, report: Report, file: InterpreterFile) -> Interpreter:
    path = report.python_path
    if file.kind != "elf" or not file.cpython:
        kind = _KINDS[file.kind] if file.kind != "elf" else "is not CPython"
        return _refused(path, f"{path} {kind}")
    question = challenge.create_challenge(make_nonce())
    seen = _ask(context, report, question)
    told = answer_of(seen.answer, _Told)
    if told is None or told.nonce != question.nonce or told.prefix_bytes < 0:
        return _refused(path, _silence(path, seen), seen.survivors)
    fault = _impostor(path, told, question, file.resolved) or _excess(path, told)
    if fault is not None:
        return _refused(path, fault, seen.survivors)
    version, left = ask_version(context, report)
    survivors = _sorted((*seen.survivors, *left))
    if version is None:
        fault = f"{path} is not Python 3 (started with -I -S)"
        return _refused(path, fault, survivors)
    fault = describe_other_version(path, version, file)
    if fault is not None:
        return _refused(path, fault, survivors)
    frameworks = _frameworks(_wanted(context, report), told, question, seen)
    return replace(_interpreter(path, version, told, frameworks), survivors=survivors)


def _refused(path: str, fault: str, survivors: tuple[str, ...] = ()) -> Interpreter:
    return Interpreter(path=path, path_is_good=False, fault=fault, survivors=survivors)


def _sorted(survivors: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(survivors)))


def _wanted(context: ProbeContext, report: Report) -> tuple[Framework, ...]:
    claimed = () if report.torch_version is None else (Framework.TORCH,)
    return tuple(dict.fromkeys((*context.manifest.frameworks, *claimed)))


def _ask(context: ProbeContext, report: Report, question: Challenge) -> Supervised:
    asked = context.ask(
        question.nonce,
        {
            "nonce": question.nonce,
            "program": question.program,
            "seed": question.seed,
            "frameworks": list(_wanted(context, report)),
        },
    )
    out = f"{context.layout.runs}/{question.nonce}"
    request = Request(
        argv=(report.python_path, context.probe("facts"), asked, f"{out}/answer.json"),
        cwd=context.layout.workspace,
        env=build_environment(context, report, {"CUDA_VISIBLE_DEVICES": ""}),
        timeout_seconds=_TIMEOUT_SECONDS,
        out=out,
        answer=f"{out}/answer.json",
    )
    return supervise(context, request)


def _silence(path: str, seen: Supervised) -> str:
    if seen.lost:
        return f"{path} gave no answer: {seen.lost}"
    if seen.timed_out:
        return f"{path} gave no answer within {seen.seconds:.0f} s"
    return f"{path} ended with exit code {seen.exit_code} and gave no answer"


def _impostor(path: str, told: _Told, question: Challenge, resolved: str) -> str | None:
    if told.worked_out != question.worked_out:
        return f"{path} does not compute what Python computes"
    if told.implementation != "cpython":
        return f"{path} is {_text(told.implementation)} and not CPython"
    if told.running != resolved:
        return f"{path} starts {_text(told.running)}; name that interpreter"
    return None


def _excess(path: str, told: _Told) -> str | None:
    """Return what exceeds the limits of the search: a cut list could hide something."""
    if len(told.search_paths) > _PATHS_LIMIT:
        excess = f"{len(told.search_paths)} folders for modules, more than {_PATHS_LIMIT}"
        return f"{path} searches {excess}"
    longest = max(map(len, (told.prefix, *told.search_paths)))
    if longest > _PATH_LIMIT:
        return f"{path} reports a path of {longest} characters, more than {_PATH_LIMIT}"
    return None


def _interpreter(
    path: str, version: str, told: _Told, facts: tuple[FrameworkFacts, ...]
) -> Interpreter:
    return Interpreter(
        path=path,
        fault=None,
        path_is_good=True,
        version=version,
        prefix=told.prefix,
        prefix_bytes=told.prefix_bytes,
        search_paths=told.search_paths,
        hooks=tuple(_text(name) for name in told.customs[:_CUSTOMS_LIMIT]),
        frameworks=facts,
    )


def _frameworks(
    wanted: tuple[Framework, ...], told: _Told, question: Challenge, seen: Supervised
) -> tuple[FrameworkFacts, ...]:
    facts = tuple(
        _framework(name, one, question, seen) for name, one in sorted(told.frameworks.items())
    )
    # They are imported one after the other: the first without an answer kept the rest from being.
    fatal = next((name for name in wanted if name not in told.frameworks), None)
    if fatal is None:
        return facts
    return (*facts, FrameworkFacts(name=fatal, imported=False, error=_end_of(seen)))


def _end_of(seen: Supervised) -> str:
    if seen.timed_out:
        return f"its import had not ended after {seen.seconds:.0f} s"
    return f"its import ended the interpreter with exit code {seen.exit_code}"


def _framework(
    name: Framework, one: _FrameworkTold, question: Challenge, seen: Supervised
) -> FrameworkFacts:
    if one.error is not None:
        return FrameworkFacts(name=name, imported=False, error=_text(one.error))
    return FrameworkFacts(
        name=name,
        imported=True,
        version=_text(one.version),
        genuine=_is_genuine(name, one, question, seen),
    )


def _is_genuine(
    name: Framework, one: _FrameworkTold, question: Challenge, seen: Supervised
) -> bool:
    mapped = challenge.is_mapped(name, seen.witness.libraries)
    if name is not Framework.TORCH:
        return mapped
    right = challenge.compute_torch_draws(question.seed, len(one.drawn))
    return mapped and len(right) > 0 and challenge.have_equal_numbers(one.drawn, right)


def _text(value: object) -> str:
    return str(value)[:_TEXT_LIMIT]
