"""From what a workflow says to a plan: repositories, agents, durations, what a change touches."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

from reb_action import documents, manifest
from reb_action.agents.catalogue import agent
from reb_action.documents import Json, NotJsonError, parse_json, read_bytes, show
from reb_action.errors import DocumentError, UsageError
from reb_action.gateway import DEFAULT_URLS
from reb_action.git import git
from reb_action.github.context import Context
from reb_action.layout import data_folder
from reb_action.model.plan import Plan, PlannedTrial, Wish

EPHEMERAL: Final = "ephemeral"
"""The label by which an operator promises that a runner serves one job and is then destroyed."""


def wishes(repositories: str, agents: str) -> tuple[Wish, ...]:
    """Return every repository with every agent; raises UsageError or DocumentError."""
    chosen = tuple(_agents(agents))
    return tuple(
        Wish(
            repository=repository,
            slug=slug,
            agent=name,
            agent_name=called,
            argument=argument,
            files=tuple(text for text in (repository, name) if _is_file(text)),
        )
        for repository, slug in _repositories(repositories)
        for name, argument, called in chosen
    )


def demand_safe(context: Context, runs_on: str) -> None:
    """Raise UsageError for an event whose code must not reach the runners that are named."""
    if context.event == "pull_request_target":
        raise UsageError(
            "pull_request_target gives a stranger's code a token that can write; use pull_request"
        )
    labels = _labels(runs_on)
    if context.fork and not hosted(labels) and EPHEMERAL not in labels:
        raise UsageError(
            f"a fork's pull request would run on {', '.join(labels)}, which may serve other jobs"
            f" later; use ephemeral runners with the label {EPHEMERAL}, or hosted ones"
        )


def demand_model(plan: Plan, *, model: str | None, url: str | None, has_key: bool) -> None:
    """Raise UsageError where agents of a plan ask a model, and there is no model or no key.

    Or where, without `url`, one vendor would be given another's key.
    """
    chosen = {(trial.agent, trial.argument) for trial in plan.trials}
    specs = [agent(name, argument=argument) for name, argument in sorted(chosen, key=str)]
    asked = {spec.name: spec.dialect for spec in specs if spec.dialect is not None}
    asking = ", ".join(asked)
    if asking and model is None:
        raise UsageError(f"these agents ask a model: {asking}; name it with model")
    if asking and not has_key:
        raise UsageError(
            f"these agents ask a model: {asking}; give its key as the secret model-key"
            " (a fork's pull request has no secrets)"
        )
    hosts = {urlsplit(DEFAULT_URLS[dialect]).hostname or "" for dialect in asked.values()}
    if len(hosts) > 1 and url is None:
        raise UsageError(
            f"these agents would send one key to several vendors ({', '.join(sorted(hosts))}):"
            f" {asking}; run each vendor's by themselves, or name one address that serves them all"
            " with model-url"
        )


def hosted(labels: tuple[str, ...]) -> bool:
    """Say whether labels name a machine of GitHub's, which lives for one job."""
    return len(labels) == 1 and labels[0].startswith(("ubuntu-", "macos-", "windows-"))


def durations(path: Path | None) -> dict[str, int]:
    """Read `{"<slug>.<agent>": seconds}`; raises DocumentError."""
    if path is None:
        return {}
    try:
        value = parse_json(read_bytes(path))
    except NotJsonError as error:
        raise DocumentError(f"{path.name} is not readable as JSON: {error}") from None
    if not isinstance(value, dict) or not all(_is_count(item) for item in value.values()):
        raise DocumentError(f'{path.name} does not map "<slug>.<agent>" to whole seconds')
    return cast(dict[str, int], value)


def changed(workspace: Path, since: str | None) -> frozenset[str] | None:
    """Return the paths that differ from a commit; needs a checkout that has both."""
    if since is None:
        return None
    if since.startswith("-"):
        raise UsageError(f"{since!r} is not a commit; name one such as HEAD^1")
    to = f"compare with {since}; check out with fetch-depth: 2"
    listing = git(workspace / ".git", "diff", "--name-only", "-z", since, "HEAD", "--", to=to)
    return frozenset(path.decode("utf-8", "replace") for path in listing.split(b"\0") if path)


def write(plan: Plan, path: Path) -> None:
    """Write plan.json."""
    documents.write(path, plan, kind="plan")


def read(path: Path) -> Plan:
    """Read plan.json; raises DocumentError."""
    return documents.read(path, Plan, kind="plan")


def entries_json(plan: Plan) -> str:
    """Return the value of `matrix.entry`: one line of JSON."""
    return json.dumps([_entry(entry.name, entry.trials) for entry in plan.entries])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Planned:
    trials: tuple[PlannedTrial, ...]


def trials(text: str) -> tuple[PlannedTrial, ...]:
    """Read the trials of one entry, as `entries_json` wrote them."""
    try:
        value = parse_json(text.encode())
    except NotJsonError as error:
        raise UsageError(f"the trials are not readable as JSON: {error}") from None
    fields = {"id", "repository", "agent", "argument", "attempt"}
    if not isinstance(value, list) or not all(
        isinstance(one, dict) and set(one) == fields for one in value
    ):
        raise UsageError(f"each trial has exactly the keys {', '.join(sorted(fields))}")
    planned = documents.answer_of(b'{"trials": ' + text.encode() + b"}", _Planned)
    if planned is None:
        raise UsageError("a trial has a value of the wrong type; give what reb plan wrote")
    for one in planned.trials:
        # It names a folder.
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", one.id):
            raise UsageError(f"{show(one.id)} is not the id of a trial; give what reb plan wrote")
    return planned.trials


def _entry(name: str, chosen: tuple[PlannedTrial, ...]) -> Mapping[str, Json]:
    return {
        "name": name,
        "count": len(chosen),
        "trials": [cast(dict[str, Json], documents.to_json(trial)) for trial in chosen],
    }


def _repositories(text: str) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for word in _items(text):
        for name in _expanded(word):
            if name not in seen:
                seen.add(name)
                yield name, manifest.find(name).slug


def _expanded(word: str) -> Iterable[str]:
    if word.endswith((".yaml", ".yml")):
        return [str(path) for path in sorted(Path().glob(word))] if "*" in word else [word]
    known = [path.stem.replace("__", "/", 1) for path in data_folder("repos").glob("*.yaml")]
    pattern = "*" if word == "all" else word
    return [name for name in sorted(known) if fnmatchcase(name, pattern)] or [word]


def _agents(text: str) -> Iterator[tuple[str, str | None, str]]:
    for item in _items(text):
        name, _, argument = item.partition(" ")
        chosen = agent(name, argument=argument.strip() or None)
        yield name, argument.strip() or None, chosen.name


def _items(text: str) -> tuple[str, ...]:
    lines = text.splitlines() if "\n" in text.strip() else text.split(",")
    return tuple(line.strip() for line in lines if line.strip())


def _labels(runs_on: str) -> tuple[str, ...]:
    try:
        value = parse_json(runs_on.encode())
    except NotJsonError:
        raise UsageError(
            f'runs-on is {runs_on!r}; write it as JSON: "ubuntu-latest" with its quotes, or a list'
        ) from None
    if isinstance(value, dict):
        value = value.get("labels", [])
    labels = [value] if isinstance(value, str) else value
    if not isinstance(labels, list) or not labels or not all(isinstance(x, str) for x in labels):
        raise UsageError(f"runs-on is {runs_on!r}; write one label or a list of labels, as JSON")
    return tuple(cast(list[str], labels))


def _is_file(text: str) -> bool:
    return text.endswith((".yaml", ".yml"))


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
