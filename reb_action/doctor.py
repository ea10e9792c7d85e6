"""Says what a machine lacks for a trial, one plain line each."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from reb_action.errors import RebError
from reb_action.probe import gpu_witness, toolchain
from reb_action.sandbox.docker import engine
from reb_action.sandbox.protocol import Kind

_FREE_GIB = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that was looked at."""

    fine: bool
    line: str


def examine(kind: Kind, image: str) -> Iterator[Finding]:
    """Yield what was found, also where all is well."""
    yield _found(shutil.which("git") is not None, "git", "install git")
    yield _toolchain()
    free = shutil.disk_usage(Path.cwd()).free >> 30
    wanted = f"{free} GiB of disk free; an environment with CUDA takes up to {_FREE_GIB} GiB"
    yield _found(free >= _FREE_GIB, wanted, "free some disk")
    if kind is Kind.DOCKER:
        yield _docker(image)
    else:
        yield Finding(fine=True, line="note  the local sandbox isolates nothing")
    with gpu_witness.watch(gpu_witness.own_nothing) as seen:
        count, driver = seen.present, seen.driver
    yield Finding(fine=True, line=f"note  {count} GPUs here, driver {driver or 'none'}")


def _toolchain() -> Finding:
    try:
        found = toolchain.find_toolchain()
    except RebError as error:
        return _found(False, "pyright", str(error))
    return _found(True, f"pyright {found.version}", "")


def _docker(image: str) -> Finding:
    try:
        engine.connect().image_id(image)
    except RebError as error:
        return _found(False, "docker", str(error))
    return _found(True, f"docker, with the image {image}", "")


def _found(fine: bool, what: str, advice: str) -> Finding:
    return Finding(fine=fine, line=f"ok    {what}" if fine else f"LACKS {what}: {advice}")
