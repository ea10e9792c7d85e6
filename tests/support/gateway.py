"""Fixtures: a gateway in front of the scripted model, and an agent's requests to it."""

import json
from contextlib import contextmanager
from dataclasses import replace

import pytest

from reb_action.gateway.gateway import Gateway
from reb_action.gateway.prices import Prices
from reb_action.gateway.settings import Budget, HostedTools, Upstream
from reb_action.model.agent import Dialect, VendorRecord
from tests.support.model_server import KEY, ModelServer
from tests.support.model_server.client import ask

COMMANDS = ("make it", "say it")
LIMITS = {"first_byte_seconds": 10.0, "drain_seconds": 5.0, "retry_seconds": 0.0}


@pytest.fixture(scope="session")
def model_server():
    with ModelServer(commands=COMMANDS) as running:
        yield running


class RunningGateway:
    """A running gateway, its record and the run of the model behind it."""

    def __init__(self, gateway, record, run, turns):
        self.gateway = gateway
        self.record = record
        self.run = run
        self.turns = turns

    def ask(self, dialect=Dialect.CHAT, **fields):
        return ask(self.gateway.address, dialect, **{"key": self.gateway.placeholder, **fields})

    @property
    def tally(self):
        """The counts without the vendor's record, which each answer adds to."""
        return replace(self.gateway.tally(), vendor=VendorRecord())

    @property
    def vendor(self):
        return self.gateway.tally().vendor

    @property
    def lines(self):
        return [json.loads(line) for line in self.record.read_text().splitlines()]


@pytest.fixture
def open_gateway(model_server, tmp_path):
    """Return a function that opens a gateway to a scenario."""

    @contextmanager
    def begin(
        scenario="ok",
        dialect=Dialect.CHAT,
        *,
        key=KEY,
        model=None,
        prices=None,
        listen=None,
        egress=None,
        hosted_tools=HostedTools.FORWARD,
        **budget,
    ):
        run = f"{tmp_path.name}-{scenario}-{dialect}"
        record = tmp_path / f"{scenario}.jsonl"
        turns = []
        url = model_server.url(dialect, scenario, run=run)
        with Gateway(
            Upstream(
                dialect=dialect, base_url=url, key=key, model=model, hosted_tools=hosted_tools
            ),
            Budget(**{**LIMITS, **budget}),
            prices=prices or Prices(),
            record=record,
            listen=listen,
            egress=egress,
            conversation=tmp_path / "conversation.jsonl",
            on_turn=turns.append,
        ) as gateway:
            yield RunningGateway(gateway, record, model_server.run(run), turns)

    return begin
