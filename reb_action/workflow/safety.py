"""Refuses plans that would be unsafe on the runners that they name."""

from typing import Final, cast
from urllib.parse import urlsplit

from reb_action.agents.catalogue import agent
from reb_action.documents import NotJsonError, parse_json
from reb_action.errors import UsageError
from reb_action.gateway import DEFAULT_URLS
from reb_action.github.context import Context
from reb_action.model.plan import Plan

EPHEMERAL: Final = "ephemeral"
"""The label by which an operator promises that a runner serves one job and is then destroyed."""


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
