"""Every cell of docs/matrix.md: reb takes it, and it works against a scripted vendor."""

import re
from pathlib import Path

import pytest
import yaml

from reb_action.agents.catalogue import agent
from reb_action.agents.model import Asked, Place, choose
from reb_action.gateway.settings import Budget
from reb_action.model.agent import Dialect
from reb_action.sandbox.protocol import Kind, Network

ROOT = Path(__file__).parents[2]
VENDORS = yaml.safe_load((ROOT / "docs" / "vendors.yaml").read_text())
PLACE = Place(kind=Kind.DOCKER, network=Network.OPEN)
ROWS = re.findall(
    r"^\| `([\w-]+)` \| ([\w. ]+) \| `([\w-]+)` \| `(\{.*\})` \|",
    (ROOT / "docs" / "matrix.md").read_text(),
    re.MULTILINE,
)
BEHAVIOURS = sorted(
    {
        (vendor["vendor"], dialect, scenario)
        for vendor in VENDORS
        for dialect in vendor["dialects"]
        for scenario in vendor["behaviour"]
    }
)


def test_every_agent_with_a_model_is_in_the_matrix():
    agents = {name for name, *_ in ROWS}
    assert agents >= {"claude-code", "codex", "gemini-cli", "opencode", "qwen-code", "nexau"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} {row[1]}")
def test_line_of_yaml_of_a_cell_is_taken(row):
    name, _, dialect, inputs = row
    given = yaml.safe_load(inputs)
    asked = Asked(model=given["model"], url=given.get("model-url"), budget=Budget())
    spec = agent(given["agent"])
    assert (spec.name, str(spec.dialect)) == (name, dialect)
    assert choose(spec, asked, PLACE).name == given["model"]


# The status that a client gets where it gets no answer.
ERRORS = {"e429": 429, "e500": 500, "e503": 503, "e529": 529, "drops": 502}


@pytest.mark.parametrize(("vendor", "dialect", "scenario"), BEHAVIOURS)
@pytest.mark.parametrize("stream", [False, True])
def test_behaviour_of_a_vendor_is_forwarded_and_counted(
    open_gateway, vendor, dialect, scenario, stream
):
    with open_gateway(scenario, Dialect(dialect), model="scripted-1") as gateway:
        replies = [gateway.ask(Dialect(dialect), stream=stream, results=n) for n in (0, 1)]
        tally, truth = gateway.tally, gateway.run
    if scenario in ERRORS:
        assert [reply.status for reply in replies] == [ERRORS[scenario]] * 2, vendor
        return
    assert [reply.status for reply in replies] == [200, 200], vendor
    if scenario == "no-usage":
        # The scripted counts have nothing to do with the size of a request.
        assert tally.estimate.calls == 2, vendor
        return
    broken = scenario in ("cut-once", "failed-once")
    true = [seen.true_counts for seen in truth.seen]
    spent = sum(one.input + one.output for one in true)
    counted = (tally.usage.input_tokens or 0) + (tally.usage.output_tokens or 0)
    if not broken:
        assert counted == spent, vendor
        return
    estimate = tally.estimate
    assert counted + estimate.input_tokens_min + estimate.output_tokens_min <= spent, vendor
    assert counted + estimate.input_tokens_max + estimate.output_tokens_max >= spent, vendor
