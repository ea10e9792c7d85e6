"""Two calls of the reusable workflow in one run, with a key each: neither reads the other's."""

import pytest

from reb_action import documents
from reb_action.model.scoreboard import Scoreboard
from tests.act.act_consumer import make_consumer, make_mirror
from tests.act.act_runner import act, pinned

CALL = """\
  {key}:
    uses: ./.github/workflows/benchmark.yml
    with:
      repositories: tiny.yaml
      contestants: {key}.yaml
      key: {key}
      sandbox: local
      agent-seconds: 60
      levels: C0,C1,C5
      mirror: {mirror}
"""
CONTESTANTS = {
    "first": "contestants: [nop, {id: honest, agent: replay, argument: agents/honest}]",
    "second": "contestants: [{id: honest, agent: replay, argument: agents/liar}]",
}


@pytest.fixture(scope="session")
def two_calls(once, product):
    def run(place):
        calls = "".join(CALL.format(key=key, mirror=place / "mirror") for key in CONTESTANTS)
        workflows = {
            "benchmark.yml": pinned(product),
            "two.yml": f"on: push\npermissions:\n  contents: read\njobs:\n{calls}",
        }
        files = {f"{key}.yaml": text for key, text in CONTESTANTS.items()}
        consumer = make_consumer(place / "c", make_mirror(place), workflows, files)
        env = {"ARTIFACTS": str(place / "artifacts")}
        return act(product, consumer, place, "push", "-W", ".github/workflows/two.yml", env=env)

    return once("two-calls", run)


def test_each_report_has_the_trials_of_its_own_call(two_calls, shared):
    assert two_calls.code == 0
    artifacts = shared / "two-calls" / "artifacts"
    boards = {
        key: documents.read(
            artifacts / f"{key}-scoreboard" / "scoreboard.json", Scoreboard, kind="scoreboard"
        )
        for key in CONTESTANTS
    }
    rows = {key: [(one.name, one.judged) for one in board.agents] for key, board in boards.items()}
    assert rows == {"first": [("honest", 1), ("nop", 1)], "second": [("honest", 1)]}
    assert all(board.complete for board in boards.values())
    first, second = (
        next(row for row in board.trials if row.name == "honest") for board in boards.values()
    )
    # One id and two definitions: the liar's trial is not the honest one's.
    assert first.contestant.digest != second.contestant.digest
    assert (first.cells["C5"].outcome, second.cells["C5"].outcome) == ("passed", "failed")
