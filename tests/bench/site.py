"""Times the site of ever more trials, `python -m tests.bench.site`: the last column stays level."""

import resource
from dataclasses import replace
from time import perf_counter

from reb_action.render.html import site
from reb_action.score import score
from tests.support import page_samples, scoreboards

FRONT = (1_250, 2_500, 5_000, 10_000)
PAGES = (100, 200, 400, 800)


def main():
    """Print what the front pages and the trials' own pages take."""
    print(f"{'trials':>8} {'what':12} {'seconds':>8} {'MB':>7} {'µs each':>9}")
    for count in FRONT:
        board = score(scoreboards.many(count))
        addresses = {trial.trial: site.page_of(trial.trial) for trial in board.trials}
        _time("front pages", count, site.front_files(board, addresses))
    for count in PAGES:
        _time("own pages", count, site.trial_pages(_views(count)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory: {peak / 1024:.0f} MiB")


def _views(count):
    view = page_samples.full()
    for number in range(count):
        yield replace(view, verdict=replace(view.verdict, trial=f"owner__name.agent.{number}"))


def _time(what, count, made):
    begin = perf_counter()
    size = sum(len(data) for _, data in made)
    seconds = perf_counter() - begin
    print(f"{count:8} {what:12} {seconds:8.2f} {size / 1e6:7.1f} {seconds / count * 1e6:9.0f}")


if __name__ == "__main__":
    main()
