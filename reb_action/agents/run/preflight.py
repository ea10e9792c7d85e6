"""The test request to the model, before the agent's clock starts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reb_action.agents.run.access import find_key, find_price_list, find_upstream
from reb_action.agents.spec import AgentSpec
from reb_action.gateway.prices import load_prices
from reb_action.gateway.settings import Upstream
from reb_action.judge.faults import CAUSES
from reb_action.model.agent import AgentRun, Ending
from reb_action.model.fault import Party, Trouble
from reb_action.session.state import Session

if TYPE_CHECKING:
    from reb_action.gateway.preflight import Preflight


def ask_model(session: Session, spec: AgentSpec, environ: Mapping[str, str]) -> "Preflight | None":
    """Send one test request to an agent's model; None without a model or with `--no-preflight`."""
    choice = session.agent.model
    if choice is None or not choice.preflight or spec.dialect is None:
        return None
    upstream = find_upstream(spec, session, find_key(environ))
    if upstream is None:
        return None
    # Agents without a model do not wait for the client.
    from reb_action.gateway.preflight import ask_once  # noqa: PLC0415

    return ask_once(upstream, choice.name, load_prices(find_price_list(choice)))


def find_failure(preflight: "Preflight") -> Trouble | None:
    """Return why no agent could work with the model; None if it could."""
    trouble = preflight.tally.trouble
    if trouble is None or CAUSES[trouble.cause].party is not Party.MODEL:
        return None
    return trouble


def describe_preflight(upstream: Upstream, preflight: "Preflight") -> str:
    """Return the result of the preflight as one line."""
    used, failure = preflight.tally.usage, find_failure(preflight)
    what = f"{upstream.model} at {upstream.base_url}"
    if failure is not None:
        message = failure.message or "no message"
        return f"{what}: {CAUSES[failure.cause].words} ({message}), after {preflight.seconds:.1f} s"
    tokens = f"{used.input_tokens or 0} + {used.output_tokens or 0} tokens"
    return f"{what} answered after {preflight.seconds:.1f} s ({tokens})"


def describe_failed_run(session: Session, spec: AgentSpec, trouble: Trouble) -> AgentRun:
    """Return the record of an agent that was not started, since its model does not work."""
    choice = session.agent.model
    return AgentRun(
        agent=spec.name,
        version=spec.install.version if spec.install is not None else "",
        ending=Ending.MODEL_ERROR,
        exit_code=None,
        seconds=0.0,
        setup_seconds=0.0,
        model=None if choice is None else choice.name,
        key=None if choice is None else choice.key,
        detail=f"{trouble.message or 'no message'}; the agent was not started",
        cause=trouble.cause,
    )
