"""Checks that a machine can run a trial."""

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
    """The result of one check."""

    ok: bool
    line: str


def check_machine(kind: Kind, image: str) -> Iterator[Finding]:
    """Yield the result of each check."""
    yield _finding(shutil.which("git") is not None, "git", "install git")
    yield _toolchain()
    free = shutil.disk_usage(Path.cwd()).free >> 30
    space = f"{free} GiB of disk free; an environment with CUDA needs up to {_FREE_GIB} GiB"
    yield _finding(free >= _FREE_GIB, space, "free some disk space")
    if kind is Kind.DOCKER:
        yield _docker(image)
    else:
        yield Finding(ok=True, line="note: the local sandbox has no isolation")
    with gpu_witness.watch(gpu_witness.own_nothing) as witness:
        count, driver = witness.present, witness.driver
    yield Finding(ok=True, line=f"note: {count} GPUs, driver {driver or 'none'}")


def _toolchain() -> Finding:
    try:
        pyright = toolchain.find_toolchain()
    except RebError as error:
        return _finding(False, "pyright", str(error))
    return _finding(True, f"pyright {pyright.version}", "")


def _docker(image: str) -> Finding:
    try:
        engine.connect().image_id(image)
    except RebError as error:
        return _finding(False, "docker", str(error))
    return _finding(True, f"docker, with the image {image}", "")


def _finding(ok: bool, what: str, advice: str) -> Finding:
    return Finding(ok=ok, line=f"ok: {what}" if ok else f"missing: {what} — {advice}")
