"""Writes the task that every agent is given."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.sandbox.layout import SandboxLayout
from reb_action.session.report import ENVIRONMENT

_TEMPLATE: Final = Path(__file__).with_name("prompt.md")


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """The task for one trial; `template_sha256` is the same for all trials of one version."""

    text: str
    sha256: str
    template_sha256: str


def prompt(layout: SandboxLayout, *, repository: str, deadline_seconds: int) -> Prompt:
    """Return the task for a repository (`owner/name`) in a sandbox; it starts with a heading."""
    template = _TEMPLATE.read_text(encoding="utf-8")
    text = template.format(
        repository=repository,
        repo=layout.repository,
        report=layout.report,
        home=layout.home,
        deadline_seconds=deadline_seconds,
        minutes=deadline_seconds // 60,
        environment=", ".join(f"`{name}`" for name in ENVIRONMENT),
    )
    return Prompt(text=text, sha256=_sha256(text), template_sha256=_sha256(template))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
