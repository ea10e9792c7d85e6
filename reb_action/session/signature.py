"""Who has to have signed the evidence of a trial, and what a signature of it says."""

import re
from dataclasses import dataclass
from typing import Final

from reb_action.errors import UsageError

WORKFLOW: Final = "researchenvbench/researchenvbench/.github/workflows/benchmark.yml"
"""The workflow whose report job signs."""

SUBJECTS_MAX: Final = 1024
"""Digests in one attestation: https://github.com/actions/attest#subject-limits"""

_REPOSITORY: Final = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_WORKFLOW: Final = re.compile(r"([\w.-]+/){2}\.github/workflows/[\w.-]+\.ya?ml(@\S+)?", re.ASCII)
_TAG: Final = re.compile(r"refs/tags/\S+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Signer:
    """Whose signature counts: a run of `repository` in which `workflow` signed.

    `workflow` may name a ref (`...yml@refs/heads/main`). Without one any tag counts, but neither a
    branch nor a commit: GitHub also runs a commit that only a fork of the repository has.
    """

    repository: str
    workflow: str = WORKFLOW

    def __post_init__(self) -> None:
        """Raise UsageError for what no certificate can name."""
        if not _REPOSITORY.fullmatch(self.repository):
            raise UsageError(f"--repository {self.repository!r} is not of the form OWNER/NAME")
        if not _WORKFLOW.fullmatch(self.workflow):
            raise UsageError(
                f"--workflow {self.workflow!r} is not of the form"
                " OWNER/NAME/.github/workflows/FILE.yml, with or without @REF"
            )

    def accepts(self, workflow: str) -> bool:
        """Tell whether a workflow with its ref is the one that is expected."""
        if "@" in self.workflow:
            return workflow == self.workflow
        path, _, ref = workflow.partition("@")
        return path == self.workflow and _TAG.fullmatch(ref) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Attestation:
    """What a verified attestation says: the workflow and the run that signed, and the digests."""

    workflow: str
    run: str
    digests: frozenset[str]
