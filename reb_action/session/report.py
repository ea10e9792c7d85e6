"""Reads the agent's self-report with suspicion: bytes in, a Report or a ReportFault out.

One mistake must not lose a whole trial. Only a report that names no interpreter blocks the levels;
any other field that breaks the contract is named, taken as not given, and the rest is used.
"""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from reb_action.documents import (
    Json,
    NotJsonError,
    TolerantJson,
    find_field_problems,
    find_oddity,
    find_problem,
    parse_tolerantly,
    replace_surrogates,
    show,
)
from reb_action.model.report import (
    PAPER_FIELDS,
    FieldFault,
    Report,
    ReportFault,
    ReportFaultKind,
    make_report_fault,
)

LIMIT_BYTES: Final = 1024 * 1024
"""A report above this size is not read."""

ENVIRONMENT: Final = (
    "PATH",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "CONDA_PREFIX",
    "VIRTUAL_ENV",
    "XLA_FLAGS",
    "NLTK_DATA",
    "ESPEAK_DATA_PATH",
    "PHONEMIZER_ESPEAK_LIBRARY",
)
"""Variables that a report's `environment` may set; PATH is prepended. No LD_PRELOAD, no PYTHON*."""

FAULTS_SHOWN: Final = 40
"""A report has 15 fields of its own and 10 variables; a hostile one may have any number."""

_VERSION_LIMIT: Final = 200
_TEXT_LIMIT: Final = 4096
_NOTES_LIMIT: Final = 100_000
_WHOLE: Final = "report.json"


def parse(data: bytes) -> Report | ReportFault:
    """Return the agent's claims, or the exact reason why its report is unusable; never raises."""
    if len(data) > LIMIT_BYTES:
        return fault(ReportFaultKind.TOO_LARGE)
    try:
        text = parse_tolerantly(data)
    except NotJsonError as error:
        return ReportFault(kind=ReportFaultKind.NOT_JSON, message=f"report.json: {error}")
    if not isinstance(text.value, dict):
        return make_report_fault(find_problem(text.value, "report") or "it is not an object")
    return _report(text, text.value)


def fault(kind: ReportFaultKind) -> ReportFault:
    """Return the fault of a report that was not even read."""
    return ReportFault(kind=kind, message=f"report.json {_WHY[kind]}")


def _report(text: TolerantJson, value: Mapping[str, Json]) -> Report:
    problems = find_field_problems(value, "report")
    odd = {name: why for name in value if (why := find_oddity([name, value[name]]))}
    path, tool, variables = map(value.get, ("python_path", "env_tool", "environment"))
    environment = variables if isinstance(variables, dict) else {}
    if environment:
        # Each variable is named on its own.
        problems.pop("environment", None)
        odd.pop("environment", None)
    return Report(
        python_path="" if "python_path" in {*problems, *odd} else cast(str, path),
        python_version=_text(value.get("python_version"), _VERSION_LIMIT),
        torch_version=_text(value.get("torch_version"), _VERSION_LIMIT),
        cuda_available=_boolean(value.get("cuda_available")),
        gpu_count=_whole(value.get("gpu_count")),
        ddp_expected_ok=_boolean(value.get("ddp_expected_ok")),
        env_tool=None if "env_tool" in problems else cast(str, tool),
        env_name=_text(value.get("env_name"), _TEXT_LIMIT),
        notes=_text(value.get("notes"), _NOTES_LIMIT),
        environment={
            name: cast(str, environment[name])
            for name in ENVIRONMENT
            if name in environment and _variable_fault(name, environment[name]) is None
        },
        faults=_first([*_field_faults(text, problems, odd), *_variable_faults(environment)]),
    )


def _field_faults(
    text: TolerantJson, problems: Mapping[str, str], odd: Mapping[str, str]
) -> Iterator[FieldFault]:
    yield from (FieldFault(field=name, message=message) for name, message in problems.items())
    for name, why in odd.items():
        yield FieldFault(field=_name(name), message=f"{_name(name)}: {why}")
    for name in text.repeated:
        message = f"the key {show(name)} occurs twice; its last value is used"
        yield FieldFault(field=_name(name), message=message)
    yield from (FieldFault(field=_WHOLE, message=message) for message in text.faults)


def _variable_faults(environment: Mapping[str, Json]) -> Iterator[FieldFault]:
    for name, value in environment.items():
        if (why := _variable_fault(name, value)) is not None:
            yield FieldFault(field="environment", message=f"environment.{_name(name)}: {why}")


def _first(faults: list[FieldFault]) -> tuple[FieldFault, ...]:
    """Return the first faults: those that matter to C5, then the others, which may be many."""
    ordered = sorted(faults, key=lambda one: one.field not in PAPER_FIELDS)
    more = len(faults) - FAULTS_SHOWN
    rest = FieldFault(field=_WHOLE, message=f"{more} more faults are not listed")
    return (*ordered[:FAULTS_SHOWN], rest) if more > 0 else tuple(ordered)


def _variable_fault(name: str, value: Json) -> str | None:
    if name not in ENVIRONMENT:
        return "this variable may not be set; it is ignored"
    if not isinstance(value, str):
        return f"{show(value)} is not of type string; it is not set"
    if len(value) > _TEXT_LIMIT or "\0" in value:
        return f"{show(value)} is too long or holds a NUL character; it is not set"
    why = find_oddity(value)
    return None if why is None else f"{why}; it is not set"


def _text(value: Json, limit: int) -> str | None:
    """Return a text that can be shown and compared: one that is cut equals no observed one."""
    if not isinstance(value, str):
        return None
    text = replace_surrogates(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _boolean(value: Json) -> bool | None:
    return value if isinstance(value, bool) else None


def _whole(value: Json) -> int | None:
    # JSON Schema calls 2.0 an integer. Python calls True one.
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _name(name: str) -> str:
    """Return a key of the agent's for a message: printable, and no longer than one should be."""
    return show(name)[1:-1]


_WHY: Final = {
    ReportFaultKind.MISSING: "does not exist: the agent wrote none",
    ReportFaultKind.NOT_A_FILE: "is not a regular file; links and devices are not followed",
    ReportFaultKind.TOO_LARGE: f"is larger than {LIMIT_BYTES} bytes and was not read",
    ReportFaultKind.NOT_JSON: "is not JSON",
    ReportFaultKind.NOT_VALID: "breaks the contract",
}
