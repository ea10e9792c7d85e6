"""The evidence in the session folder of one trial: read, sealed, hashed."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar, cast

from reb_action import documents
from reb_action.documents import Json
from reb_action.errors import DocumentError
from reb_action.gateway.ledger_state import LedgerState
from reb_action.model.agent import AgentRun, Freeze
from reb_action.model.evidence import Evidence
from reb_action.model.manifest import RUN_LEVELS, Level
from reb_action.model.observation import (
    CudaObservation,
    ImportsObservation,
    Interpreter,
    Observation,
    RunObservation,
)
from reb_action.model.qualification import Qualification
from reb_action.model.report import Report, ReportFault
from reb_action.model.verdict import Verdict
from reb_action.redaction import redact
from reb_action.session import report, state
from reb_action.session import secrets as session_secrets
from reb_action.session.layout import SessionLayout
from reb_action.session.progress import AgentProgress
from reb_action.session.state import Session

T = TypeVar("T")

_HEAD_BYTES: Final = 128 * 1024
_TAIL_BYTES: Final = 512 * 1024

DOCUMENTS: Final[Mapping[str, type]] = {
    "session": Session,
    "ledger": LedgerState,
    "progress": AgentProgress,
    "agent_run": AgentRun,
    "freeze": Freeze,
    "interpreter": Interpreter,
    "imports": ImportsObservation,
    "cuda": CudaObservation,
    "run": RunObservation,
    "verdict": Verdict,
    "qualification": Qualification,
}
"""Every document that we write, by the name of its schema."""


def read(layout: SessionLayout) -> Evidence:
    """Read everything that a verdict rests on; a missing file is missing evidence."""
    begun = state.load(layout)
    raw = layout.report
    data = documents.read_bytes(raw, limit=report.LIMIT_BYTES + 1) if raw.exists() else None
    freeze = _optional(layout.freeze, Freeze, kind="freeze")
    return Evidence(
        trial=begun.trial,
        gpus_promised=begun.spec.gpus,
        levels=begun.levels,
        limits=state.find_limits(layout),
        qualified_limits=begun.qualified_limits,
        agent_run=_optional(layout.agent_run, AgentRun, kind="agent_run"),
        freeze=freeze,
        report=_report(freeze, data),
        interpreter=_optional(layout.interpreter, Interpreter, kind="interpreter"),
        observations=dict(_observations(layout)),
        logs=dict(_logs(layout)),
        hashes=hashes(layout),
        amended=begun.amended,
    )


def seal(layout: SessionLayout) -> None:
    """Redact credentials in the files that become evidence; a second call changes nothing.

    Only the agent's log is searched for the forms of credentials, because hashes in documents look
    similar. The values of secrets that the sandbox was given are removed from all files.
    """
    secrets = session_secrets.values(layout)
    everything = layout.folder.rglob("*") if secrets else ()
    for path in {layout.agent_log, *everything}:
        if path.is_symlink() or not path.is_file() or path.is_relative_to(layout.work):
            continue
        data = documents.read_bytes(path)
        clean = redact(data, secrets)
        if clean != data:
            documents.write_bytes(path, clean)


def hashes(layout: SessionLayout) -> dict[str, str]:
    """Return the SHA-256 of every evidence file of the folder, by its relative path.

    The hash of the session covers its constant part only, not its phase and its process.
    """
    single = (layout.agent_run, layout.report, layout.freeze, layout.interpreter, layout.agent_log)
    levels = sorted((layout.folder / "levels").glob("C?.*"))
    files = [*single, layout.model_calls, *levels, *sorted(layout.trajectory.rglob("*"))]
    found = {
        _name(file.relative_to(layout.folder)): _sha256(file)
        for file in files
        if file.is_file() and not file.is_symlink()
    }
    return {**found, layout.session.name: _session_sha256(layout)}


def _session_sha256(layout: SessionLayout) -> str:
    """Return the hash of what never changes in a session, as the release that wrote it has it.

    A session of an older release lacks fields that have been added since.
    """
    state.load(layout)
    written = documents.parse_json(documents.read_bytes(layout.session))
    begun = cast(dict[str, Json], cast(dict[str, Json], written)["value"])
    variable: dict[str, Json] = {
        "phase": state.Phase.STARTED,
        "busy": None,
        "handle": "",
        "owner": {"pid": 0, "started": 0},
    }
    return hashlib.sha256(documents.dump_json({**begun, **variable})).hexdigest()


def excerpt(log: Path) -> str:
    """Return the head and the tail of a log, which may be long; empty if there is no log."""
    if not log.is_file() or log.is_symlink():
        return ""
    return _head_and_tail(log).decode("utf-8", "replace")


def kind_of(level: Level) -> tuple[type[Observation], str]:
    """Return the type and the document kind of a level's observation."""
    if level in RUN_LEVELS:
        return RunObservation, "run"
    return (CudaObservation, "cuda") if level is Level.C2 else (ImportsObservation, "imports")


def _report(freeze: Freeze | None, data: bytes | None) -> Report | ReportFault | None:
    if freeze is None:
        return None
    if freeze.report is not None and data is None:
        return freeze.report
    if data is None or hashlib.sha256(data).hexdigest() != freeze.report_sha256:
        raise DocumentError(
            "report.json differs from the one that was read at the freeze; the folder was changed"
        )
    return report.parse(data)


def _observations(layout: SessionLayout) -> Iterator[tuple[Level, Observation]]:
    for level in Level:
        path = layout.observation(level)
        if level is not Level.C5 and path.is_file():
            kind_of_value, kind = kind_of(level)
            yield level, documents.read(path, kind_of_value, kind=kind)


def _logs(layout: SessionLayout) -> Iterator[tuple[Level, str]]:
    for level in RUN_LEVELS:
        if layout.log(level).is_file():
            yield level, excerpt(layout.log(level))


def _head_and_tail(path: Path) -> bytes:
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
        begin = max(len(head), path.stat().st_size - _TAIL_BYTES)
        stream.seek(begin)
        cut = b"\n" if begin > len(head) else b""
        return head + cut + stream.read(_TAIL_BYTES)


def _optional(path: Path, kind_of_value: type[T], *, kind: str) -> T | None:
    return documents.read(path, kind_of_value, kind=kind) if path.exists() else None


def _name(path: Path) -> str:
    r"""Return a path as text of JSON: an agent names files, in bytes (`\xff`) that are not text."""
    whole = path.as_posix().replace("\\", "\\\\")
    return whole.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
