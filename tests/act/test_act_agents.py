"""Real agents compared by the reusable workflow: twelve trials, counted and kept without the key.

Part of the slow suite of docs/agents.md: `REB_AGENTS=1` installs and runs the programs.
"""

import base64
import re
from dataclasses import dataclass
from itertools import product as pairs
from urllib.parse import quote

import pytest

from reb_action.gateway.prices import load_prices
from reb_action.gateway.upstream.usage import TokenCounts
from reb_action.model.agent import Dialect, Ending
from reb_action.model.contestant import default_id
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import Known
from tests.act.act_consumer import make_mirror
from tests.act.agent_run import AgentRun, marks, run_workflow
from tests.support.model_server import COMMANDS, ModelServer
from tests.support.sandbox_fixtures import docker_image

pytestmark = marks(1200)

KEY = "Of-a-vendor.q7Z/+x0123456789=tail"
"""It looks like no key that we know by its shape: only its value can give it away."""
MODEL = "claude-sonnet-4-5-20250929"
DIALECTS = {"claude-code": Dialect.ANTHROPIC, "codex": Dialect.RESPONSES}
PRINTED = 12
"""Each of the trials prints its placeholder."""
SHOWN = {
    "claude-code": ("50.8 k<br>(6 of 6)", "3.91 k<br>(6 of 6)", "$0.11<br>(6 of 6)"),
    "codex": ("48.4 k<br>(6 of 6)", "3.91 k<br>(6 of 6)", "$0.11<br>(6 of 6)"),
}
"""Tokens in and out, and cost, on average over the trials that know them."""
PLACEHOLDER = re.compile(rb"reb-[0-9a-f]{48}")

GUARDED = """\
import sys
from pathlib import Path

try:
    from tinydep import add
except ImportError:
    def add(a, b):
        return a + b

total = 0
for epoch in range(3):
    total = add(total, epoch)
    print(f"epoch {epoch} total {total}")
Path(sys.argv[1]).joinpath("total.txt").write_text(f"{total}\\n")
"""
BRINGS = """\
import pathlib, sysconfig

site = pathlib.Path(sysconfig.get_path("purelib"))
files = {
    "tinydep/__init__.py": "def add(a, b):\\n    return a + b\\n",
    "tinydep-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: tinydep\\nVersion: 1.0\\n",
}
record = "tinydep-1.0.dist-info/RECORD"
for name, text in {**files, record: "".join(f"{one},,\\n" for one in (*files, record))}.items():
    (site / name).parent.mkdir(exist_ok=True)
    (site / name).write_text(text)
"""
LACKS = "print('Nothing comes along.')\n"
REPOSITORIES = {
    # Its package comes along, is nowhere to be had, can be done without.
    "whole": {"install.txt": BRINGS},
    "bait": {"install.txt": LACKS},
    "guarded": {"install.txt": LACKS, "main.py": GUARDED},
}
LEVELS = {
    # C0, C1, C5.
    "whole": ("passed", "passed", "passed"),
    "bait": ("failed", "failed", "passed"),
    "guarded": ("passed", "passed", "passed"),
}
INSTALL = "../venv/bin/python install.txt"
SPY = "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -a _KEY= | tee ../keys; base64 -w 0 ../keys"
"""Lets an agent print what it has of a key, also in base64."""


def route(_scenario, _run, dialect, body):
    """Have the model do by agent and repository, which all share one address."""
    agent = next(name for name, spoken in DIALECTS.items() if spoken is dialect)
    # The preflight has no prompt.
    found = re.search(rb"fresh clone of example/(\w+)", body)
    return "multi", f"{agent} {found[1].decode() if found else 'preflight'}"


def compare(product, place, server):
    """Let the agents work on three repositories, twice each, and report."""
    manifests = {
        f"{name}.yaml": make_mirror(place, name, files) for name, files in REPOSITORIES.items()
    }
    inputs = {
        "repositories": ",".join(manifests), "agents": ",".join(DIALECTS), "attempts": 2,
        "model": MODEL, "model-url": f"{server.root}/any/any/v1", "budget-usd": 1,
        "image": docker_image(), "network": "none", "mirror": place / "mirror",
        "levels": "C0,C1,C5", "agent-seconds": 180, "idle-seconds": 120,
    }  # fmt: skip
    secrets = {"model-key": KEY}
    return run_workflow(product, place, manifests, inputs=inputs, secrets=secrets, seconds=1100)


@dataclass(frozen=True, kw_only=True)
class Compared(AgentRun):
    """The run of all trials, with the model's own record."""

    model: ModelServer

    def truth(self, agent, name):
        """Return what the model was asked and said in both trials of an agent on a repository."""
        return self.model.run(f"{agent} {name}")


@pytest.fixture(scope="module")
def compared(product, tmp_path_factory):
    place = tmp_path_factory.mktemp("agents")
    commands = (COMMANDS[0], INSTALL, SPY, COMMANDS[1])
    with ModelServer(commands=commands, key=KEY, route=route) as model:
        yield Compared(run=compare(product, place, model), place=place, model=model)


def test_all_twelve_trials_have_a_verdict(compared):
    run = compared.run
    assert (run.code, run.errors) == (0, [])
    assert run.of("report").outputs("report")["complete"] == "true"
    names = {
        f"example__{name}.{default_id(agent, MODEL)}.{attempt}"
        for name, agent, attempt in pairs(REPOSITORIES, DIALECTS, (1, 2))
    }
    assert {row.trial for row in compared.board.trials} == names
    for name in names:
        leg = run.of("trial", f'"{name}", "repository"')
        assert leg.outputs("trial")["trial"] == name
        assert leg.step("trial", "gate") == "success"


def test_levels_and_ending_are_those_of_the_repository(compared):
    for row in compared.board.trials:
        name = row.repository.rpartition("/")[2]
        cells = tuple(row.cells[Level(one)].outcome for one in ("C0", "C1", "C5"))
        assert cells == LEVELS[name]
        assert row.ending is Ending.DONE
        assert (row.model, row.seconds > 0) == (MODEL, True)


def cost_of(run):
    """Return what the model's answers cost by the list, in US dollars."""
    said = [seen.counts for seen in run.seen if seen.counts is not None]
    price = load_prices().find(MODEL)
    fields = ("input", "cache_read", "cache_write", "output")
    counts = [TokenCounts(**{name: getattr(one, name) for name in fields}) for one in said]
    return sum(price.cost(count) for count in counts)


@pytest.mark.parametrize("agent", DIALECTS)
def test_agent_is_counted_as_the_model_says(compared, agent):
    score = next(one for one in compared.board.agents if one.agent == agent)
    runs = [compared.truth(agent, name) for name in REPOSITORIES]
    trials, spent = 2 * len(runs), score.spent
    tokens_in = sum(run.usage.input_tokens for run in runs)
    tokens_out = sum(run.usage.output_tokens for run in runs)
    assert spent.input_tokens == Known(total=tokens_in, trials=trials)
    assert spent.output_tokens == Known(total=tokens_out, trials=trials)
    assert spent.cost_usd.total == pytest.approx(sum(map(cost_of, runs)), abs=1e-9)
    assert spent.cost_usd.trials == trials
    assert (spent.seconds.total > 0, spent.seconds.trials) == (True, 6)
    assert (score.planned, score.judged) == (6, 6)
    assert score.endings == {Ending.DONE: trials}


@pytest.mark.parametrize("agent", DIALECTS)
@pytest.mark.parametrize("name", REPOSITORIES)
def test_both_attempts_are_counted_to_the_token(compared, agent, name):
    wanted = (agent, f"example/{name}")
    rows = [row for row in compared.board.trials if (row.agent, row.repository) == wanted]
    assert [row.attempt for row in rows] == [1, 2]
    said = compared.truth(agent, name).usage
    for field in ("input_tokens", "output_tokens", "cache_read_tokens", "turns", "tool_calls"):
        told = [getattr(row.usage, field) for row in rows]
        assert (None if None in told else sum(told)) == getattr(said, field), field


def test_summary_shows_what_each_agent_spent_and_how_it_ended(compared):
    blocks = compared.run.of("report").summaries[-1].split("\n\n")
    assert blocks[:2] == ["## researchenvbench", "12 of 12 trials have a verdict."]
    lines = blocks[blocks.index("### Resources per trial") + 1].splitlines()
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert [cells[0] for cells in shown] == [f"`{agent}`<br>`{MODEL}`" for agent in DIALECTS]
    assert [cells[-1] for cells in shown] == ["6 done", "6 done"]
    for (_, tokens_in, tokens_out, cost, *_), agent in zip(shown, DIALECTS, strict=True):
        assert (tokens_in, tokens_out, cost) == SHOWN[agent]


def written(secret):
    """Yield a value as it may stand in a file: plain, for a URL, and inside anything in base64."""
    yield secret.encode()
    yield quote(secret, safe="").encode()
    for before in range(3):
        # The outer digits hang on what stands beside it.
        inner = base64.b64encode(bytes(before) + secret.encode()).rstrip(b"=")[4:-2]
        yield inner
        yield inner.translate(bytes.maketrans(b"+/", b"-_"))


def test_key_and_placeholders_are_nowhere(compared):
    runs = [compared.truth(agent, name) for agent, name in pairs(DIALECTS, REPOSITORIES)]
    asked = b"".join(seen.body for run in runs for seen in run.seen)
    placeholders = {one.decode() for one in PLACEHOLDER.findall(asked)}
    # The agents were made to print them: else their absence would show nothing.
    assert len(placeholders) == PRINTED
    files = list(compared.files())
    assert len(files) > PRINTED * 10
    for secret in (KEY, *placeholders):
        forms = set(written(secret))
        assert [path for path, data in files if any(form in data for form in forms)] == []
    assert [path for path, data in files if PLACEHOLDER.search(data)] == []
