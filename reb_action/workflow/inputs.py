"""Reads the inputs of a workflow: repositories, agents, durations, changed files."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

from reb_action.agents.catalogue import agent
from reb_action.corpus import manifests
from reb_action.documents import Json, NotJsonError, parse_json, read_bytes
from reb_action.errors import DocumentError, UsageError
from reb_action.model.contestant import default_id
from reb_action.model.plan import Wish
from reb_action.resources import data_folder
from reb_action.source.git import run_git


def read_wishes(repositories: str, agents: str, *, model: str | None = None) -> tuple[Wish, ...]:
    """Return every repository with every contestant; raises UsageError or DocumentError."""
    choices = tuple(_agents(agents, model))
    return tuple(
        Wish(
            repository=repository,
            slug=slug,
            agent=name,
            contestant=contestant,
            argument=argument,
            files=tuple(text for text in (repository, name) if _is_file(text)),
        )
        for repository, slug in _repositories(repositories)
        for name, argument, contestant in choices
    )


def read_durations(path: Path | None) -> dict[str, int]:
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


def list_changes(workspace: Path, since: str | None) -> frozenset[str] | None:
    """Return the paths that differ from a commit; the checkout must contain both commits."""
    if since is None:
        return None
    if since.startswith("-"):
        raise UsageError(f"{since!r} is not a commit; give one such as HEAD^1")
    to = f"compare with {since}; check out with fetch-depth: 2"
    listing = run_git(workspace / ".git", "diff", "--name-only", "-z", since, "HEAD", "--", to=to)
    return frozenset(path.decode("utf-8", "replace") for path in listing.split(b"\0") if path)


def _repositories(text: str) -> Iterator[tuple[str, str]]:
    known: set[str] = set()
    for word in _items(text):
        for name in _expanded(word):
            if name not in known:
                known.add(name)
                yield name, manifests.find(name).slug


def _expanded(word: str) -> Iterable[str]:
    if word.endswith((".yaml", ".yml")):
        return [str(path) for path in sorted(Path().glob(word))] if "*" in word else [word]
    known = [path.stem.replace("__", "/", 1) for path in data_folder("repos").glob("*.yaml")]
    pattern = "*" if word == "all" else word
    return [name for name in sorted(known) if fnmatchcase(name, pattern)] or [word]


def _agents(text: str, model: str | None) -> Iterator[tuple[str, str | None, str]]:
    for item in _items(text):
        name, _, argument = item.partition(" ")
        spec = agent(name, argument=argument.strip() or None)
        asked = None if spec.dialect is None else model
        yield name, argument.strip() or None, default_id(spec.name, asked)


def _items(text: str) -> tuple[str, ...]:
    lines = text.splitlines() if "\n" in text.strip() else text.split(",")
    return tuple(line.strip() for line in lines if line.strip())


def _is_file(text: str) -> bool:
    return text.endswith((".yaml", ".yml"))


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
