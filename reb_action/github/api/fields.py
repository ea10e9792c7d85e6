"""Takes single values out of GitHub's JSON, by the names that lead to them."""

from typing import cast

from reb_action.documents import Json
from reb_action.errors import GitHubError


def at(value: Json, *names: str) -> Json:
    """Return what stands there, or None."""
    for name in names:
        value = cast(dict[str, Json], value).get(name) if isinstance(value, dict) else None
    return value


def text(value: Json, *names: str) -> str:
    """Return the text that stands there; raises GitHubError."""
    found = maybe_text(value, *names)
    if found is None:
        raise _lacks(names, "text")
    return found


def maybe_text(value: Json, *names: str) -> str | None:
    """Return the text that stands there, or None."""
    found = at(value, *names)
    return found if isinstance(found, str) else None


def number(value: Json, *names: str) -> int:
    """Return the whole number that stands there; raises GitHubError."""
    found = at(value, *names)
    if not isinstance(found, int) or isinstance(found, bool):
        raise _lacks(names, "number")
    return found


def items(value: Json, *names: str) -> tuple[Json, ...]:
    """Return the list that stands there; raises GitHubError."""
    found = at(value, *names)
    if not isinstance(found, list):
        raise _lacks(names, "list")
    return tuple(found)


def _lacks(names: tuple[str, ...], kind: str) -> GitHubError:
    place = ".".join(names) or "its top"
    return GitHubError(f"GitHub's answer has no {kind} at {place}; check GITHUB_API_URL")
