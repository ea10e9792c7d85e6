"""The counts of a gateway on disk, so that another one continues them after a kill."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from reb_action import documents
from reb_action.model.agent import Tally


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenCall:
    """A call in progress; `sent` is the size of its request in bytes."""

    model: str
    sent: int
    max_output: int | None


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerState:
    """The counts, the calls in progress, and the charges of calls without a known cost."""

    tally: Tally = field(default_factory=Tally)
    charged_usd: float = 0.0
    open: tuple[OpenCall, ...] = ()


def save_state(path: Path, state: LedgerState) -> None:
    """Write the counts; on a full disk they are lost, not the call."""
    with suppress(OSError):
        documents.write(path, state, kind="ledger")


def load_state(path: Path) -> LedgerState:
    """Read the counts; without a file there are none. Raises DocumentError."""
    if not path.exists():
        return LedgerState()
    return documents.read(path, LedgerState, kind="ledger")
