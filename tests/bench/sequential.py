"""How many trials a sequential run leaves out: the table of docs/scoreboard.md.

python -m tests.bench.sequential
"""

from random import Random
from statistics import fmean

from reb_action.model.manifest import Outcome
from reb_action.score.outlook import Answer
from tests.workflow.test_sequential import judged, make_outlook

RUNS = 200
PASS, FAIL = Outcome.PASSED, Outcome.FAILED
AGENTS = {
    # what the agent does: its chance to pass a repository that the base passes
    "nothing changed": 1.0,
    "one attempt in ten fails now": 0.9,
    "every second repository broke": None,
    "nothing works any more": 0.0,
}


def play(
    random: Random, word: str, chance: float | None, *, repositories: int
) -> tuple[float, bool]:
    """Return the share of the trials that one run leaves out, and whether the gate fails."""
    every, outlook = make_outlook(word, [PASS] * repositories, attempts=3)
    broken = set(random.sample(range(repositories), repositories // 2))
    ran: list[str] = []
    while (name := outlook.choose([one for one in every if one not in ran])) is not None:
        number = int(name.removeprefix("acme__r").partition(".")[0])
        own = float(number not in broken) if chance is None else chance
        outlook.record(name, judged(name, PASS if random.random() < own else FAIL))
        ran.append(name)
    return 1 - len(ran) / len(every), outlook.answer() is Answer.FAILS


def main() -> None:
    """Print the rows."""
    for repositories in (12, 44):
        for word in ("broken", "regression"):
            for agent, chance in AGENTS.items():
                random = Random(3)
                runs = RUNS if repositories == 12 else RUNS // 10
                found = [play(random, word, chance, repositories=repositories) for _ in range(runs)]
                saved, fails = fmean(one[0] for one in found), fmean(one[1] for one in found)
                print(f"| {repositories} | `{word}` | {agent} | {fails:.0%} | {saved:.0%} |")


if __name__ == "__main__":
    main()
