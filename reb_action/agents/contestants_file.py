"""Reads contestants from a contestants file or a list of agents."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from reb_action.documents import Json, find_problem, from_json, read_input
from reb_action.documents.strict_yaml import parse_yaml
from reb_action.errors import DocumentError
from reb_action.model.contestant import ContestantEntry

_LIMIT_BYTES: Final = 256 * 1024


def read_contestants(path: Path) -> tuple[ContestantEntry, ...]:
    """Read a contestants file; raises DocumentError that names file, key and value."""
    data = parse_yaml(read_input(path, limit=_LIMIT_BYTES), path.name)
    fault = find_problem(data, "contestants")
    if fault is not None:
        raise DocumentError(f"{path.name}: {fault}")
    items = cast(dict[str, list[Json]], data)["contestants"]
    return tuple(_entry(item) for item in items)


def parse_agents(text: str) -> tuple[ContestantEntry, ...]:
    """Return the contestants of a list of agents, each on its own line with its argument."""
    return tuple(_agents(text))


def _agents(text: str) -> Iterator[ContestantEntry]:
    for item in split_items(text):
        name, _, argument = item.partition(" ")
        yield ContestantEntry(agent=name, argument=argument.strip() or None)


def split_items(text: str) -> tuple[str, ...]:
    """Return the items of an option, separated by lines or, on a single line, by commas."""
    lines = text.splitlines() if "\n" in text.strip() else text.split(",")
    return tuple(line.strip() for line in lines if line.strip())


def _entry(item: Json) -> ContestantEntry:
    if isinstance(item, str):
        return ContestantEntry(agent=item)
    fields = cast(dict[str, Json], item)
    return from_json({name.replace("-", "_"): fields[name] for name in fields}, ContestantEntry)
