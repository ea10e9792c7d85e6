"""Write step outputs, the job summary and annotations on a runner."""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from reb_action.github.context import Context

SUMMARY_BYTES: Final = 1024 * 1024 - 4096
"""The runner drops a whole summary above 1 MiB: FileCommandManager.cs of actions/runner."""

_MESSAGE: Final = 4000
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
_OPTION: Final = re.compile(r"'?--([a-z][a-z0-9-]*)'?(?: \(env var: '[A-Z_]+'\))?")
"""An option, also as click quotes it."""
_CUT: Final = "\n\nThis summary was cut at 1 MiB; the artifact has everything.\n"


def write_outputs(context: Context, values: Mapping[str, str]) -> None:
    """Append step outputs, each with a random delimiter that its value cannot contain."""
    if context.output is None:
        return
    with context.output.open("a", encoding="utf-8") as stream:
        stream.writelines(format_output(name, value) for name, value in values.items())


def format_output(name: str, value: str) -> str:
    """Return one output as the runner reads it."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid output name")
    delimiter = f"reb_{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def write_summary(context: Context, text: str) -> None:
    """Append to the job summary; cut between lines: a runner drops a longer one."""
    if context.summary is None:
        return
    with context.summary.open("ab") as stream:
        stream.write(cap_summary(text).encode("utf-8", "replace"))


def cap_summary(text: str) -> str:
    """Return text of at most SUMMARY_BYTES, whole lines, with a note where something is missing."""
    data = text.encode("utf-8", "replace")
    if len(data) <= SUMMARY_BYTES:
        return text
    kept = data[: SUMMARY_BYTES - len(_CUT)].rpartition(b"\n")[0]
    return kept.decode("utf-8", "ignore") + _CUT


def format_error(message: str) -> str:
    """Return the workflow command that shows an error on the run's page."""
    return _command("error", message)


def format_warning(message: str) -> str:
    """Return the workflow command that shows a warning on the run's page."""
    return _command("warning", message)


def format_notice(message: str) -> str:
    """Return the workflow command that shows a notice on the run's page."""
    return _command("notice", message)


def format_group(title: str, rows: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a folded part of a step's log; `rows` are escaped for a log."""
    yield f"::group::{title}"
    yield from rows
    yield "::endgroup::"


def name_inputs(message: str, environ: Mapping[str, str]) -> str:
    """Return a message that names inputs of the action instead of the options that they set."""

    def name(match: re.Match[str]) -> str:
        variable = f"REB_{match[1].replace('-', '_').upper()}"
        return f"the input {match[1]}" if variable in environ else match[0]

    return _OPTION.sub(name, message)


def _command(name: str, message: str) -> str:
    text = message[:_MESSAGE].replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return f"::{name} title=researchenvbench::{text}"
