"""Identifies a contestant: its id, and the digest of its agent, model, options and budgets."""

import hashlib
from collections.abc import Iterable

from reb_action.agents.catalogue import AGENTS
from reb_action.agents.spec import AgentFile, AgentSpec
from reb_action.documents import Json, dump_json, show, to_json
from reb_action.errors import UsageError
from reb_action.model.contestant import ID_CHARACTERS, Contestant, default_id, is_id
from reb_action.session.state import AgentChoice, ModelChoice


def identify(spec: AgentSpec, choice: AgentChoice, given_id: str | None = None) -> Contestant:
    """Return the contestant of a trial; raises UsageError for an id that cannot be one."""
    if given_id is not None and not is_id(given_id):
        raise UsageError(
            f"{show(given_id)} cannot be the id of a contestant; use at most {ID_CHARACTERS}"
            " letters, digits, _ and -"
        )
    model = None if choice.model is None else choice.model.name
    definition: dict[str, Json] = {
        "agent": _shipped(spec) if choice.name in AGENTS else _own(spec),
        "model": None if choice.model is None else _model(choice.model),
        "dialect": None if choice.model is None else spec.dialect,
        "protocol": choice.protocol,
        "seconds": choice.total_seconds,
        "idle_seconds": choice.idle_seconds,
    }
    return Contestant(
        id=given_id or default_id(spec.name, model),
        digest=hashlib.sha256(dump_json(definition)).hexdigest(),
    )


def _shipped(spec: AgentSpec) -> dict[str, Json]:
    """Return the definition of an agent of reb: a release that updates it keeps its identity."""
    given = (file for file in spec.files if file.name.startswith("folder/"))
    return {"name": spec.name, "command": [*spec.command], "files": _files(given)}


def _own(spec: AgentSpec) -> dict[str, Json]:
    """Return the definition of an agent of the user's file, without its program's version."""
    install = spec.install
    return {
        "name": spec.name,
        "argv": [*spec.argv],
        "command": [*spec.command],
        "env": dict(spec.env),
        "files": _files(spec.files),
        "state": _files(spec.state),
        "stdin": spec.stdin,
        "install": None if install is None else [install.source, install.package],
    }


def _files(files: Iterable[AgentFile]) -> dict[str, Json]:
    return {file.name: hashlib.sha256(file.content).hexdigest() for file in files}


def _model(model: ModelChoice) -> dict[str, Json]:
    """Return the definition of a model; a list of prices only decides what its calls cost."""
    return {
        "name": model.name,
        "url": model.url,
        "key": model.key,
        "budget": to_json(model.budget),
        "any_model": model.any_model,
    }
