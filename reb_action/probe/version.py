"""Asks an interpreter for its version, and compares the answer with what its program holds."""

import re
from typing import Final

from reb_action.model.report import Report
from reb_action.probe.context import ProbeContext, build_environment, make_nonce
from reb_action.probe.supervisor import Request, supervise
from reb_action.probe.survey import InterpreterFile

_TIMEOUT_SECONDS: Final = 300
_SHOWN: Final = 3
_PLAIN: Final = "import sys; print(sys.argv[1], sys.hexversion)"
_RELEASE_LEVELS: Final = {0xA: "a", 0xB: "b", 0xC: "rc", 0xF: ""}


def ask_version(context: ProbeContext, report: Report) -> tuple[str | None, tuple[str, ...]]:
    """Return the version and what that run left; nothing that is installed can change it."""
    secret = make_nonce()
    request = Request(
        argv=(report.python_path, "-I", "-S", "-c", _PLAIN, secret),
        cwd=context.layout.workspace,
        env=build_environment(context, report, {}),
        timeout_seconds=_TIMEOUT_SECONDS,
        out=f"{context.layout.runs}/{secret}",
    )
    seen = supervise(context, request)
    told = re.search(rb"^%s (\d{8})$" % secret.encode(), seen.log, re.MULTILINE)
    return parse_hexversion(int(told[1])) if told else None, seen.survivors


def parse_hexversion(number: int) -> str | None:
    """Return the version that `sys.hexversion` says, None if it is of no Python 3."""
    major, minor, micro, last = number.to_bytes(4, "big")
    level = _RELEASE_LEVELS.get(last >> 4)
    if major != 3 or level is None:
        return None
    return f"{major}.{minor}.{micro}" + (f"{level}{last & 15}" if level else "")


def describe_other_version(path: str, version: str, file: InterpreterFile) -> str | None:
    """Return how the answer differs from the program; None where it does not, or is not known.

    What runs first in the interpreter can set the version, but the program keeps its own.
    """
    if not file.versions or version in file.versions:
        return None
    return (
        f"{path} says that it is Python {version}; its program is of"
        f" {' or '.join(file.versions[:_SHOWN])}"
    )
