"""Asks a program the questions of the paper's validators, and accepts every answer.

This is only for the paper's count of hallucinations, if the strict rules refuse the program. The
paper does not count a wrapper with true answers. It counts a program that confirms nothing.
"""

import re
from collections.abc import Mapping
from typing import Final

from reb_action.model.observation import PlainAnswers
from reb_action.model.report import Report
from reb_action.probe.context import ProbeContext, build_environment, make_nonce
from reb_action.probe.supervisor import Request, Supervised, supervise

# The paper gives its validators 120 s.
_TIMEOUT_SECONDS: Final = 120
_TEXT_LIMIT: Final = 200

_VERSION: Final = "import platform; print(platform.python_version())"
_TORCH: Final = """\
import torch
print("torch", torch.__version__, flush=True)
print("cuda", torch.cuda.is_available(), flush=True)
print("gpus", torch.cuda.device_count(), flush=True)
"""


def ask_interpreter(
    context: ProbeContext, report: Report
) -> tuple[PlainAnswers | None, tuple[str, ...]]:
    """Return the program's answers, and the processes that it left.

    The answers are None if it does not run or ends with an error.
    """
    version = _run(context, report, _VERSION)
    if version.exit_code != 0:
        return None, version.survivors
    seen = _run(context, report, _TORCH)
    torch = _fields(seen.log)
    answers = PlainAnswers(
        python_version=_last_line(version.log),
        torch_version=torch.get("torch"),
        cuda_available={"True": True, "False": False}.get(torch.get("cuda", "")),
        gpu_count=int(torch["gpus"]) if re.fullmatch("[0-9]{1,5}", torch.get("gpus", "")) else None,
    )
    return answers, (*version.survivors, *seen.survivors)


def _run(context: ProbeContext, report: Report, program: str) -> Supervised:
    request = Request(
        argv=(report.python_path, "-c", program),
        cwd=context.layout.workspace,
        env=build_environment(context, report, {}),
        timeout_seconds=_TIMEOUT_SECONDS,
        out=f"{context.layout.runs}/{make_nonce()}",
    )
    return supervise(context, request)


def _last_line(log: bytes) -> str | None:
    lines = log.decode("utf-8", "replace").split("\n")
    return next((line.strip()[:_TEXT_LIMIT] for line in reversed(lines) if line.strip()), None)


def _fields(log: bytes) -> Mapping[str, str]:
    """Return the last answer of each name; a warning of torch may stand between them."""
    found = re.findall(
        r"^(torch|cuda|gpus) (\S.*?)\s*$", log.decode("utf-8", "replace"), re.MULTILINE
    )
    return {name: text[:_TEXT_LIMIT] for name, text in found}
