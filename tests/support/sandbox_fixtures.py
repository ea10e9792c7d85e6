"""Real sandboxes for tests, of either kind; those of Docker need an engine and the test image."""

import io
import os
import tarfile
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from reb_action.errors import SandboxError
from reb_action.sandbox import select
from reb_action.sandbox.docker.connection import connect
from reb_action.sandbox.local.isolation import Isolation
from reb_action.sandbox.protocol import (
    Command,
    Ended,
    Kind,
    Limits,
    Network,
    Output,
    Sandbox,
    SandboxSpec,
    Until,
)

LIMITS = Limits(memory_mib=512, shm_mib=64, processes=150, seconds=600)
ENV = {"PATH": "/usr/bin:/bin"}

Start = Callable[..., Sandbox]
KINDS = (Kind.LOCAL, pytest.param(Kind.DOCKER, marks=pytest.mark.docker))


def shell(
    sandbox: Sandbox,
    script: str,
    *,
    stdout: Output | None = None,
    until: Until | None = None,
    **other: object,
) -> Ended:
    """Run a line of shell in the workspace, as the agent unless told otherwise."""
    given = {"timeout_seconds": 30, "env": ENV, "cwd": sandbox.layout.workspace, **other}
    return sandbox.run(Command(argv=("/bin/sh", "-c", script), **given), stdout=stdout, until=until)


def isolate_nothing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have local sandboxes work as on a machine without PID namespaces, and alone on it."""
    monkeypatch.setattr("reb_action.sandbox.local.isolation.find_isolation", lambda: Isolation.NONE)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))


def archive(files: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    """Pack files, and symbolic links by name and target."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
    return packed.getvalue()


def spec_for(kind: Kind, folder: Path, **other: object) -> SandboxSpec:
    """Return a small sandbox in a folder of its own, for a session of its own."""
    session = uuid.uuid4().hex
    given = {"session": session, "limits": LIMITS, "network": Network.OPEN, **other}
    return SandboxSpec(
        kind=kind,
        trial=f"test-{session[:6]}",
        image=docker_image() if kind is Kind.DOCKER else None,
        mount=str(folder / "mount"),
        scratch=str(folder / "scratch"),
        **given,
    )


def docker_image() -> str:
    """Return the test image; skip without it, or fail where Docker is required."""
    try:
        images = connect().client.images.list("reb-test-base")
    except SandboxError as error:
        return _go_without(str(error))
    named = [os.environ.get("REB_TEST_IMAGE"), *(tag for image in images for tag in image.tags)]
    found = next((name for name in named if name), None)
    return found or _go_without("the engine has no image reb-test-base; run tests/image/build")


def _go_without(reason: str) -> str:
    if os.environ.get("REB_DOCKER") == "required":
        pytest.fail(f"Docker is required: {reason}")
    pytest.skip(reason)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start sandboxes that are removed at the end of the test."""
    started: list[Sandbox] = []

    def begin(kind: Kind, **other: object) -> Sandbox:
        sandbox = select.start(spec_for(kind, tmp_path, **other))
        started.append(sandbox)
        return sandbox

    yield begin
    for sandbox in started:
        with suppress(SandboxError):
            sandbox.remove()


@pytest.fixture(params=KINDS)
def sandbox(request: pytest.FixtureRequest, start: Start) -> Sandbox:
    """A fresh sandbox: whatever holds for one kind holds for the other."""
    return start(request.param)


@pytest.fixture
def container(start: Start) -> Sandbox:
    """A fresh sandbox of Docker."""
    return start(Kind.DOCKER)


@pytest.fixture
def scratch(start: Start) -> Sandbox:
    """A fresh sandbox in a folder."""
    return start(Kind.LOCAL)
