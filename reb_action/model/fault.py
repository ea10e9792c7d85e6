"""Causes that end an agent or spoil a measurement, and the parties that can be at fault."""

from dataclasses import dataclass
from enum import StrEnum


class Party(StrEnum):
    """Who is at fault. MODEL is the model, its vendor, its key, and the network to it."""

    AGENT = "agent"
    MODEL = "model"
    RUNNER = "runner"


class FaultCause(StrEnum):
    """The cause of a failure, known from the gateway, the engine or the sandbox.

    `judge/faults.py` has the words for each cause and the party at fault.
    """

    KEY_REFUSED = "key_refused"
    PERMISSION_REFUSED = "permission_refused"
    QUOTA_EXHAUSTED = "quota_exhausted"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    SERVER_ERROR = "server_error"
    MODEL_UNKNOWN = "model_unknown"
    ADDRESS_WRONG = "address_wrong"
    NAME_UNRESOLVED = "name_unresolved"
    TLS_FAILED = "tls_failed"
    PROXY_REFUSED = "proxy_refused"
    CONNECTION_REFUSED = "connection_refused"
    UNREACHABLE = "unreachable"
    CONNECTION_CUT = "connection_cut"
    MODEL_SILENT = "model_silent"
    ANSWER_FAILED = "answer_failed"
    MODEL_FAILED = "model_failed"
    REQUEST_REJECTED = "request_rejected"
    REQUEST_REFUSED = "request_refused"
    OUT_OF_MEMORY = "out_of_memory"
    OUT_OF_PROCESSES = "out_of_processes"
    OUT_OF_SHARED_MEMORY = "out_of_shared_memory"
    DISK_FULL = "disk_full"
    SETUP_SLOW = "setup_slow"
    PROGRAM_MISSING = "program_missing"
    RUNNER_KILLED = "runner_killed"
    SANDBOX_LOST = "sandbox_lost"


@dataclass(frozen=True, kw_only=True, slots=True)
class Trouble:
    """Failures of the model since its last complete answer: the last cause, and for how long."""

    cause: FaultCause
    seconds: float
    message: str | None = None
