"""The scratch folder of a trial on this machine: it names its owner, and ends with the trial."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from reb_action import documents
from reb_action.documents import NotJsonError
from reb_action.errors import DocumentError, SandboxError
from reb_action.sandbox.local.files import remove_tree
from reb_action.sandbox.owner import (
    Alive,
    Trace,
    format_labels,
    is_leftover,
    make_trace,
    parse_labels,
    spare_none,
)
from reb_action.sandbox.protocol import SandboxSpec

_NAME: Final = "trace.json"
_LIMIT_BYTES: Final = 16 * 1024


def mark(work: Path, spec: SandboxSpec) -> None:
    """Create a scratch folder that names its owner and contains `spec.mount`."""
    documents.write_bytes(work / _NAME, documents.dump_json(dict(format_labels(make_trace(spec)))))
    Path(spec.mount).mkdir(parents=True, exist_ok=True)


def remove(work: Path) -> None:
    """Remove a scratch folder; the trace goes last, so that a kill leaves it to be found."""
    if work.is_symlink() or not work.is_dir():
        return
    remove_tree(*(path for path in work.iterdir() if path.name != _NAME))
    remove_tree(work)


def sweep(*, beside: Path, alive: Alive, spares: Alive = spare_none) -> Iterator[Path]:
    """Remove the scratch folders of killed trials; yields the folder of each trial.

    `beside` has one folder for each trial, like `results/`. Trials that `spares` accepts are kept.
    """
    for path in sorted(beside.glob(f"*/work/{_NAME}")):
        trace = _trace(path)
        if trace is None or Path(trace.mount).parent != path.parent:
            continue
        if is_leftover(trace, alive=alive) and not spares(trace):
            try:
                remove(path.parent)
            except (OSError, SandboxError):
                # Somebody else's files: no reason for the trial that begins now to end.
                continue
            yield path.parent.parent


def _trace(path: Path) -> Trace | None:
    try:
        labels = documents.parse_json(documents.read_bytes(path, limit=_LIMIT_BYTES))
    except (DocumentError, NotJsonError):
        return None
    return parse_labels(cast(dict[str, str], labels)) if isinstance(labels, dict) else None
