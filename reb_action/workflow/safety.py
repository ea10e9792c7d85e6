"""Refuses plans that would be unsafe on their runners."""

from typing import Final, cast
from urllib.parse import urlsplit

from reb_action.agents.catalogue import agent
from reb_action.documents import NotJsonError, parse_json
from reb_action.errors import UsageError
from reb_action.gateway import DEFAULT_URLS
from reb_action.github.context import Context
from reb_action.model.plan import Plan

EPHEMERAL: Final = "ephemeral"
"""The label with which an operator promises that a runner is destroyed after one job."""


def demand_safe(context: Context, runs_on: str) -> None:
    """Raise UsageError for an event whose code must not run on these runners."""
    if context.event == "pull_request_target":
        raise UsageError(
            "pull_request_target gives untrusted code a token with write access; use pull_request"
        )
    labels = _labels(runs_on)
    if context.fork and not is_hosted(labels) and EPHEMERAL not in labels:
        raise UsageError(
            f"a fork's pull request would run on {', '.join(labels)}, which may serve other jobs"
            f" later; use hosted runners, or ephemeral ones with the label {EPHEMERAL}"
        )


def demand_model(plan: Plan, *, model: str | None, url: str | None, has_key: bool) -> None:
    """Raise UsageError if agents of a plan need a model, and there is no model or no key.

    Also if, without `url`, a vendor would receive the key of another.
    """
    agents = {(trial.agent, trial.argument) for trial in plan.trials}
    specs = [agent(name, argument=argument) for name, argument in sorted(agents, key=str)]
    dialects = {spec.name: spec.dialect for spec in specs if spec.dialect is not None}
    names = ", ".join(dialects)
    if names and model is None:
        raise UsageError(f"these agents need a model: {names}; set the input model")
    if names and not has_key:
        raise UsageError(
            f"these agents need a model: {names}; set the secret model-key"
            " (pull requests from forks have no secrets)"
        )
    hosts = {urlsplit(DEFAULT_URLS[dialect]).hostname or "" for dialect in dialects.values()}
    if len(hosts) > 1 and url is None:
        raise UsageError(
            f"these agents would send one key to several vendors ({', '.join(sorted(hosts))}):"
            f" {names}; run each vendor's agents separately, or set model-url to one URL for all"
        )


def is_hosted(labels: tuple[str, ...]) -> bool:
    """Return whether labels name a runner of GitHub, which serves one job."""
    return len(labels) == 1 and labels[0].startswith(("ubuntu-", "macos-", "windows-"))


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
