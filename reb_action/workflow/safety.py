"""Refuses plans that would be unsafe on their runners."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

from reb_action.documents import NotJsonError, parse_json
from reb_action.errors import UsageError
from reb_action.github.context import Context

EPHEMERAL: Final = "ephemeral"
"""The label with which an operator promises that a runner is destroyed after one job."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyUser:
    """A contestant with a model: the name of its key, and the host that gets the key."""

    contestant: str
    key: str
    host: str
    chose_url: bool


def demand_safe(context: Context, runs_on: str) -> None:
    """Raise UsageError for an event whose code must not run on these runners."""
    if context.event == "pull_request_target":
        raise UsageError(
            "pull_request_target gives untrusted code a token with write access; use pull_request"
        )
    labels = parse_labels(runs_on)
    if context.fork and not is_hosted(labels) and EPHEMERAL not in labels:
        raise UsageError(
            f"a fork's pull request would run on {', '.join(labels)}, which may serve other jobs"
            f" later; use hosted runners, or ephemeral ones with the label {EPHEMERAL}"
        )


def demand_keys(contenders: Iterable[KeyUser], keys: tuple[str, ...]) -> None:
    """Raise UsageError if a contestant has no key, or if a vendor would get another one's key."""
    users = tuple(contenders)
    for user in users:
        if user.key not in keys:
            raise UsageError(
                f"{user.contestant} needs a key that this run does not have: set the secret"
                f" {user.key}-key (pull requests from forks have no secrets)"
            )
    for key in sorted({user.key for user in users}):
        hosts = {user.host for user in users if user.key == key}
        chosen = all(user.chose_url for user in users if user.key == key)
        if len(hosts) > 1 and not chosen:
            names = ", ".join(user.contestant for user in users if user.key == key)
            raise UsageError(
                f"the key {key!r} would go to several vendors ({', '.join(sorted(hosts))}) for"
                f" {names}; give each contestant the name of its vendor's key in a contestants"
                " file, or set model-url to one URL for all"
            )


def is_hosted(labels: tuple[str, ...]) -> bool:
    """Return whether labels name a runner of GitHub, which serves one job."""
    return len(labels) == 1 and labels[0].startswith(("ubuntu-", "macos-", "windows-"))


def parse_labels(runs_on: str) -> tuple[str, ...]:
    """Return the labels of runners, which are written as JSON; raises UsageError."""
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
