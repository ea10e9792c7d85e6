"""The required signer of a trial's evidence, and the content of a verified signature."""

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
    """The required signer: a run of `repository` in which `workflow` signed.

    `workflow` may name a ref (`...yml@refs/heads/main`). Without a ref any tag is accepted, but no
    branch and no commit: GitHub also runs a commit that only a fork of the repository has.
    """

    repository: str
    workflow: str = WORKFLOW

    def __post_init__(self) -> None:
        """Raise UsageError for a name that no certificate can contain."""
        if not _REPOSITORY.fullmatch(self.repository):
            raise UsageError(f"--repository {self.repository!r} is not of the form OWNER/NAME")
        if not _WORKFLOW.fullmatch(self.workflow):
            raise UsageError(
                f"--workflow {self.workflow!r} is not of the form"
                " OWNER/NAME/.github/workflows/FILE.yml, with or without @REF"
            )

    def accepts(self, workflow: str) -> bool:
        """Return whether a workflow with its ref is the expected one."""
        if "@" in self.workflow:
            return workflow == self.workflow
        path, _, ref = workflow.partition("@")
        return path == self.workflow and _TAG.fullmatch(ref) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Attestation:
    """A verified attestation: the workflow and the run that signed, and the digests."""

    workflow: str
    run: str
    digests: frozenset[str]
