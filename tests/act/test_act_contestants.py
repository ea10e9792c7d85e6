"""Four contestants of four vendors in one run: one board, and the vendor with a wrong key invalid.

Part of the slow suite of docs/agents.md: `REB_AGENTS=1` installs and runs the real agents.
"""

import re
from dataclasses import dataclass
from itertools import product as pairs

import pytest

from reb_action.gateway.prices import load_prices
from reb_action.gateway.upstream.usage import TokenCounts
from reb_action.model.agent import Dialect, Ending
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import Known
from tests.act.act_consumer import make_mirror
from tests.act.agent_run import AgentRun, marks, run_workflow
from tests.support.model_server import ModelServer
from tests.support.sandbox_fixtures import docker_image

pytestmark = marks(3600)


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """A contestant and its vendor; `sent` is the key that the run has, `key` the one that works."""

    agent: str
    model: str
    name: str
    dialect: Dialect
    key: str
    sent: str


def vendor(agent, model, name, dialect, *, is_right=True):
    key = f"Key-of-{name}.q7Z/+x0123456789"
    sent = key if is_right else f"Wrong-for-{name}.q7Z/+x0123456789"
    return Vendor(agent=agent, model=model, name=name, dialect=dialect, key=key, sent=sent)


VENDORS = {
    "sonnet": vendor("claude-code", "claude-sonnet-4-5-20250929", "anthropic", Dialect.ANTHROPIC),
    "codex": vendor("codex", "gpt-5.1-codex", "openai", Dialect.RESPONSES),
    "open": vendor("opencode", "gpt-5.1", "openrouter", Dialect.CHAT),
    "glm": vendor("claude-code", "glm-4.7", "zai", Dialect.ANTHROPIC, is_right=False),
}
REFUSED = "glm"
REPOSITORIES = ("one", "two", "three")
ATTEMPTS = (1, 2)
TRIALS = {
    f"example__{repository}.{name}.{attempt}"
    for repository, name, attempt in pairs(REPOSITORIES, VENDORS, ATTEMPTS)
}


def route(_scenario, run, _dialect, body):
    """Tell the repositories apart, which share the address of their contestant."""
    found = re.search(rb"fresh clone of example/(\w+)", body)
    return "multi", f"{run} {found[1].decode() if found else 'preflight'}"


def contestants(servers):
    """Return the contestants file."""
    lines = ["contestants:"]
    for name, one in VENDORS.items():
        url = servers[name].url(one.dialect, "multi", run=name)
        lines += [
            f"  - id: {name}",
            f"    agent: {one.agent}",
            f"    model: {one.model}",
            f"    model-url: {url}",
            f"    key: {one.name}",
        ]
    return "\n".join(lines) + "\n"


def compare(product, place, servers):
    """Run all trials in batches of three, and the report."""
    manifests = {f"{name}.yaml": make_mirror(place, name) for name in REPOSITORIES}
    files = {**manifests, "who.yaml": contestants(servers)}
    inputs = {
        "repositories": ",".join(manifests), "contestants": "who.yaml", "attempts": len(ATTEMPTS),
        "max-jobs": 8, "image": docker_image(), "network": "none", "mirror": place / "mirror",
        "levels": "C1,C5", "agent-seconds": 600, "idle-seconds": 400,
    }  # fmt: skip
    secrets = {f"{one.name}-key": one.sent for one in VENDORS.values()}
    return run_workflow(product, place, files, inputs=inputs, secrets=secrets, seconds=3500)


@dataclass(frozen=True, kw_only=True)
class Compared(AgentRun):
    """The run of all trials, with each vendor's own record."""

    servers: dict

    def runs(self, name):
        """Return what a contestant's vendor was asked, repository by repository."""
        return [self.servers[name].run(f"{name} {repository}") for repository in REPOSITORIES]


@pytest.fixture(scope="module")
def compared(product, tmp_path_factory):
    place = tmp_path_factory.mktemp("contestants")
    servers = {name: ModelServer(key=one.key, route=route) for name, one in VENDORS.items()}
    for server in servers.values():
        server.__enter__()
    try:
        yield Compared(run=compare(product, place, servers), place=place, servers=servers)
    finally:
        for server in servers.values():
            server.__exit__()


def test_job_is_red_and_every_trial_has_a_verdict(compared):
    assert compared.run.code != 0
    report = compared.run.of("report").outputs("report")
    assert report["complete"] == "false"
    assert set(report["run-again"].split()) == {name for name in TRIALS if f".{REFUSED}." in name}
    assert {row.trial for row in compared.board.trials} == TRIALS
    legs = {
        entry["name"]: compared.run.of("trial", f'"{entry["name"]}"').step("batch")
        for entry in _entries(compared)
    }
    assert len(legs) == 8
    assert all(
        (step == "failure") is (f".{REFUSED}." in trials)
        for (name, step), trials in zip(legs.items(), _trials(compared), strict=True)
    )


def _entries(compared):
    found = {}
    for record in compared.run.of("trial").records:
        entry = (record.get("matrix") or {}).get("entry")
        if entry:
            found[entry["name"]] = entry
    return list(found.values())


def _trials(compared):
    return [entry["trials"] for entry in _entries(compared)]


def test_board_has_a_row_for_each_contestant_and_the_refused_one_counts_nothing(compared):
    scores = {one.name: one for one in compared.board.agents}
    assert scores.keys() == VENDORS.keys()
    for name, score in scores.items():
        ending = Ending.MODEL_ERROR if name == REFUSED else Ending.DONE
        assert (score.planned, score.judged, score.endings) == (6, 6, {ending: 6})
        share = score.levels["strict"][Level.C5]
        assert (share.passed, share.counted) == ((0, 0) if name == REFUSED else (6, 6))


def test_refused_trials_are_invalid_in_words(compared):
    for row in compared.board.trials:
        if row.name == REFUSED:
            cell = row.cells[Level.C5]
            assert cell.outcome == "invalid"
            assert "not the agent's fault (model): the vendor refused the API key" in cell.reason
            assert "is not valid" in cell.reason
    summary = "\n".join(compared.run.of("report").summaries)
    assert "the vendor refused the API key" in summary


def cost_of(model, run):
    """Return what the model's answers cost by the list, in US dollars."""
    price = load_prices().find(model)
    fields = ("input", "cache_read", "cache_write", "output")
    said = [seen.counts for seen in run.seen if seen.counts is not None]
    counts = [TokenCounts(**{name: getattr(one, name) for name in fields}) for one in said]
    return sum(price.cost(count) for count in counts)


@pytest.mark.parametrize("name", [name for name in VENDORS if name != REFUSED])
def test_tokens_and_cost_are_the_vendors_own_count(compared, name):
    spent = next(one.spent for one in compared.board.agents if one.name == name)
    runs = compared.runs(name)
    tokens_in = sum(run.usage.input_tokens for run in runs)
    tokens_out = sum(run.usage.output_tokens for run in runs)
    assert spent.input_tokens == Known(total=tokens_in, trials=6)
    assert spent.output_tokens == Known(total=tokens_out, trials=6)
    cost = sum(cost_of(VENDORS[name].model, run) for run in runs)
    # The cost of each of the six trials is rounded to a millionth of a dollar.
    assert spent.cost_usd.total == pytest.approx(cost, abs=6 * 0.5e-6 + 1e-9)


def test_refused_vendor_was_asked_by_preflights_alone(compared):
    server = compared.servers[REFUSED]
    assert all(not run.seen for run in server.runs.values())
    preflights = [one for run in server.runs.values() for one in run.preflights]
    assert [one.status for one in preflights] == [401] * 6


def test_no_key_is_anywhere(compared):
    data = dict(compared.files())
    for one in VENDORS.values():
        assert [path for path, text in data.items() if one.sent.encode() in text] == []
