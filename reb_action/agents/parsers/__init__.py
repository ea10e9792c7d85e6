"""Reads the events of agents, each in its own format, into one account."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from reb_action.agents.parsers import (
    claude_code,
    codex,
    gemini_cli,
    mini_swe_agent,
    nexau,
    opencode,
    qwen_code,
)
from reb_action.agents.parsers.steps import Reading
from reb_action.agents.spec import Parser
from reb_action.model.agent import Account
from reb_action.render.escape import clean

_VERSION_CHARS: Final = 80
_READERS: Final[Mapping[Parser, Callable[[Path], Reading]]] = {
    Parser.CLAUDE_CODE: claude_code.read,
    Parser.CODEX: codex.read,
    Parser.OPENCODE: opencode.read,
    Parser.GEMINI_CLI: gemini_cli.read,
    Parser.QWEN_CODE: qwen_code.read,
    Parser.MINI_SWE_AGENT: mini_swe_agent.read,
    Parser.NEXAU: nexau.read,
}


def read(parser: Parser, folder: Path) -> Account | None:
    """Return the agent's account of its run, from `stdout` and `sessions/` in the folder.

    None if the agent has no parser. Malformed files raise no error.
    """
    found = reading(parser, folder)
    return None if found is None else found.account


def reading(parser: Parser, folder: Path) -> Reading | None:
    """Return the same with all steps of the run, for the trajectory."""
    if parser is Parser.NONE:
        return None
    found = _READERS[parser](folder)
    return replace(found, account=_short(found.account))


def _short(account: Account) -> Account:
    """Return an account with each text as one short line, for tables and documents."""
    version, detail = account.version, account.detail
    return replace(
        account,
        version=None if version is None else clean(version, limit=_VERSION_CHARS) or None,
        detail=None if detail is None else clean(detail),
    )
