"""Checks that a machine can run a trial."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from reb_action.agents.catalogue import agent
from reb_action.agents.model import fit_url
from reb_action.agents.run.access import find_key
from reb_action.agents.run.preflight import describe_preflight, find_failure
from reb_action.errors import RebError, UsageError
from reb_action.gateway.model_names import vendor_host
from reb_action.gateway.preflight import ask_once
from reb_action.gateway.prices import load_prices
from reb_action.gateway.settings import DEFAULT_URLS, Upstream
from reb_action.judge.faults import CAUSES
from reb_action.model.agent import Dialect
from reb_action.model.quantity import count
from reb_action.probe import gpu_witness, toolchain
from reb_action.sandbox.docker import connection
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
        gpus, driver = witness.present, witness.driver
    yield Finding(ok=True, line=f"note: {count(gpus, 'GPU')}, driver {driver or 'none'}")


def check_model(
    model: str, url: str | None, agent_name: str | None, environ: Mapping[str, str]
) -> Finding:
    """Ask a model once, and return whether it answered.

    Raises UsageError without a key, a name or an address: a key goes to no vendor by guess.
    """
    if not model.strip():
        raise UsageError("--model is empty; give the vendor's name of a model")
    dialect = _dialect(model) if agent_name is None else agent(agent_name).dialect
    if dialect is None:
        raise UsageError(f"the agent {agent_name} uses no model; set --agent to another")
    upstream = Upstream(
        dialect=dialect,
        base_url=fit_url(dialect, url or _default_url(dialect, model)),
        key=find_key(environ),
        model=model,
    )
    preflight = ask_once(upstream, model, load_prices(None))
    failure = find_failure(preflight)
    what = f"model {describe_preflight(upstream, preflight)}"
    return _finding(failure is None, what, CAUSES[failure.cause].advice if failure else "")


def _default_url(dialect: Dialect, model: str) -> str:
    """Return the address of a dialect's vendor, if models of this name are the vendor's own."""
    url = DEFAULT_URLS[dialect]
    host = urlsplit(url).hostname
    if vendor_host(model) != host:
        raise UsageError(
            f"{host}, the default address of {dialect}, is not known to serve {model}; set "
            "--model-url to a URL that does"
        )
    return url


def _dialect(model: str) -> Dialect:
    """Return the dialect of the vendor that serves models of this name."""
    host = vendor_host(model)
    known = (dialect for dialect, url in DEFAULT_URLS.items() if urlsplit(url).hostname == host)
    dialect = next(known, Dialect.CHAT)
    return Dialect.CHAT if dialect is Dialect.RESPONSES else dialect


def _toolchain() -> Finding:
    try:
        pyright = toolchain.find_toolchain()
    except RebError as error:
        return _finding(False, "pyright", str(error))
    return _finding(True, f"pyright {pyright.version}", "")


def _docker(image: str) -> Finding:
    try:
        connection.connect().image_id(image)
    except RebError as error:
        return _finding(False, "docker", str(error))
    return _finding(True, f"docker, with the image {image}", "")


def _finding(ok: bool, what: str, advice: str) -> Finding:
    return Finding(ok=ok, line=f"ok: {what}" if ok else f"missing: {what} — {advice}")
