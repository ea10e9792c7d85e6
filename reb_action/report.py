"""Reads the agent's self-report with suspicion: bytes in, a Report or a ReportFault out."""

from collections.abc import Mapping
from typing import Final, cast

from reb_action.documents import Json, NotJsonError, parse_json, problem
from reb_action.model.agent import Report, ReportFault, ReportFaultKind

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
"""What a report's `environment` may set; PATH is put in front. LD_PRELOAD and PYTHON* never."""


def parse(data: bytes) -> Report | ReportFault:
    """Return what the agent claims, or precisely why its report is unusable; never raises."""
    if len(data) > LIMIT_BYTES:
        return fault(ReportFaultKind.TOO_LARGE)
    try:
        value = parse_json(data)
    except NotJsonError as error:
        return ReportFault(kind=ReportFaultKind.NOT_JSON, message=f"report.json: {error}")
    disagreement = problem(value, "report")
    if disagreement is not None:
        message = f"report.json: {disagreement}"
        return ReportFault(kind=ReportFaultKind.NOT_VALID, message=message)
    return _report(cast(Mapping[str, Json], value))


def fault(kind: ReportFaultKind) -> ReportFault:
    """Return the fault of a report that was not even read."""
    return ReportFault(kind=kind, message=f"report.json {_WHY[kind]}")


def lacks_path(data: bytes) -> bool:
    """Tell whether these bytes are a JSON object that names no interpreter at all.

    The paper counts that as a path hallucination, unlike a report that cannot be parsed.
    """
    try:
        value = parse_json(data[: LIMIT_BYTES + 1])
    except NotJsonError:
        return False
    return isinstance(value, dict) and not value.get("python_path")


def _report(value: Mapping[str, Json]) -> Report:
    environment = cast(Mapping[str, str], value.get("environment") or {})
    return Report(
        python_path=cast(str, value["python_path"]),
        python_version=cast(str | None, value["python_version"]),
        torch_version=cast(str | None, value["torch_version"]),
        cuda_available=cast(bool | None, value["cuda_available"]),
        gpu_count=_whole(value["gpu_count"]),
        ddp_expected_ok=cast(bool | None, value["ddp_expected_ok"]),
        env_tool=cast(str, value["env_tool"]),
        env_name=cast(str | None, value["env_name"]),
        notes=cast(str | None, value["notes"]),
        environment={name: environment[name] for name in ENVIRONMENT if name in environment},
    )


def _whole(value: Json) -> int | None:
    # JSON Schema calls 2.0 an integer.
    return None if value is None else int(cast(float, value))


_WHY: Final = {
    ReportFaultKind.MISSING: "does not exist: the agent wrote none",
    ReportFaultKind.NOT_A_FILE: "is not a regular file; links and devices are not followed",
    ReportFaultKind.TOO_LARGE: f"is larger than {LIMIT_BYTES} bytes and was not read",
    ReportFaultKind.NOT_JSON: "is not JSON",
    ReportFaultKind.NOT_VALID: "breaks the contract",
}
