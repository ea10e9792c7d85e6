"""Lists the requirements of each agent, and which are missing on this machine."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action.agents import install
from reb_action.agents.catalogue import AGENTS, load_packaged
from reb_action.agents.environment import KEY_VARIABLE
from reb_action.agents.spec import AgentSpec, Source, Takes
from reb_action.errors import SandboxError
from reb_action.model.agent import AgentList, ListedAgent
from reb_action.sandbox.protocol import Kind

_TOOLS: Final = {
    Source.NPM: ("npm",),
    Source.PYPI: ("uv",),
    Source.GIT: ("uv", "git"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Here:
    """The place to check: the sandbox to be used, the environment, the cache of programs."""

    kind: Kind
    image: str | None
    environ: Mapping[str, str]
    cache: Path


def inventory(here: Here) -> AgentList:
    """Return all agents that come with us; nothing is installed, and no sandbox is started."""
    fault = _sandbox_fault(here)
    listed = (_listed(load_packaged(name), here, fault) for name in AGENTS)
    return AgentList(sandbox=here.kind, agents=tuple(listed))


def _listed(spec: AgentSpec, here: Here, fault: str | None) -> ListedAgent:
    pinned = spec.install
    installed = pinned is None or (fault is None and _is_installed(spec, here))
    return ListedAgent(
        name=spec.name,
        title=spec.title,
        program=None if pinned is None else f"{pinned.source}: {pinned.package}",
        version=None if pinned is None else pinned.version,
        dialect=spec.dialect,
        needs=tuple(_needs(spec)),
        installed=installed,
        missing=tuple(_missing(spec, here, fault, installed=installed)),
    )


def _needs(spec: AgentSpec) -> Iterator[str]:
    yield from spec.needs
    if spec.takes is not Takes.NOTHING:
        yield f"a {spec.takes} as its argument"
    if spec.dialect is not None:
        yield "a model"
    if spec.install is not None and spec.install.python is not None:
        yield f"Python {spec.install.python}"


def _missing(spec: AgentSpec, here: Here, fault: str | None, *, installed: bool) -> Iterator[str]:
    if fault is not None:
        yield fault
    if spec.dialect is not None and not here.environ.get(KEY_VARIABLE):
        yield KEY_VARIABLE
    # The programs of a container are unknown before it starts.
    if here.kind is Kind.LOCAL and spec.install is not None and not installed:
        yield from (tool for tool in _TOOLS[spec.install.source] if shutil.which(tool) is None)


def _is_installed(spec: AgentSpec, here: Here) -> bool:
    folder = install.place(spec, kind=here.kind, image=here.image, cache=here.cache)
    return folder is not None and install.is_installed(folder)


def _sandbox_fault(here: Here) -> str | None:
    if here.kind is not Kind.DOCKER:
        return None
    # Imported here: only Docker's sandbox needs its SDK.
    from reb_action.sandbox.docker import connection  # noqa: PLC0415

    try:
        connection.connect().image_id(here.image or "")
    except SandboxError as error:
        return f"the sandbox: {error}"
    return None
