"""Reads the inputs of a workflow: repositories, durations, changed files."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

from reb_action.agents.contestants_file import split_items
from reb_action.corpus import manifests
from reb_action.documents import Json, NotJsonError, parse_json, read_bytes
from reb_action.errors import DocumentError, UsageError
from reb_action.model.manifest import Manifest
from reb_action.resources import data_folder
from reb_action.source.git import run_git


def read_repositories(text: str) -> Iterator[tuple[str, Manifest]]:
    """Yield each repository as the user names it, with its manifest; raises DocumentError."""
    known: set[str] = set()
    for word in split_items(text):
        for name in _expanded(word):
            if name not in known:
                known.add(name)
                yield name, manifests.find(name)


def files_of(*names: str) -> tuple[str, ...]:
    """Return the names that are files of the caller's repository."""
    return tuple(name for name in names if name.endswith((".yaml", ".yml")))


def read_durations(path: Path | None) -> dict[str, int]:
    """Read `{"<slug>.<contestant>": seconds}`; raises DocumentError."""
    if path is None:
        return {}
    try:
        value = parse_json(read_bytes(path))
    except NotJsonError as error:
        raise DocumentError(f"{path.name} is not valid JSON: {error}") from None
    if not isinstance(value, dict) or not all(_is_count(item) for item in value.values()):
        raise DocumentError(f'{path.name} does not map "<slug>.<contestant>" to whole seconds')
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


def _expanded(word: str) -> Iterable[str]:
    if word.endswith((".yaml", ".yml")):
        return [str(path) for path in sorted(Path().glob(word))] if "*" in word else [word]
    known = [path.stem.replace("__", "/", 1) for path in data_folder("repos").glob("*.yaml")]
    pattern = "*" if word == "all" else word
    return [name for name in sorted(known) if fnmatchcase(name, pattern)] or [word]


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
