"""Writes and reads why a job left out trials, and estimates what that saved."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final

from reb_action import documents
from reb_action.model.plan import EarlyStop
from reb_action.model.verdict import Verdict

NAME: Final = "early-stop.json"
"""The file, next to the folders of the trials."""


def make_stop(answer: str, skipped: tuple[str, ...], done: Iterable[Verdict]) -> EarlyStop:
    """Return the document of a job that left out trials; `done` are its verdicts."""
    runs = [verdict.agent_run for verdict in done]
    seconds = [run.seconds + run.setup_seconds for run in runs if run is not None]
    costs = [
        run.usage.cost_usd
        for run in runs
        if run is not None and run.usage is not None and run.usage.cost_usd is not None
    ]
    return EarlyStop(
        answer=answer,
        skipped=skipped,
        ran=len(runs),
        seconds=fmean(seconds) * len(skipped) if seconds else None,
        cost_usd=fmean(costs) * len(skipped) if costs else None,
    )


def write_stop(folder: Path, stop: EarlyStop) -> None:
    """Write the document of a job into its folder of results."""
    folder.mkdir(parents=True, exist_ok=True)
    documents.write(folder / NAME, stop, kind="early_stop")


def read_stops(folders: Sequence[Path]) -> Iterator[EarlyStop]:
    """Yield the documents in folders of artifacts, not those inside a trial's own folder."""
    for folder in folders:
        for path in (*folder.glob(NAME), *sorted(folder.glob(f"*/{NAME}"))):
            if not (path.parent / "session.json").exists():
                yield documents.read(path, EarlyStop, kind="early_stop")


def join_stops(stops: Sequence[EarlyStop]) -> EarlyStop | None:
    """Return the documents of several jobs as one; an answer that fails goes first."""
    if not stops:
        return None
    answers = sorted({stop.answer for stop in stops}, key=lambda answer: "fails" not in answer)
    seconds = [stop.seconds for stop in stops if stop.seconds is not None]
    costs = [stop.cost_usd for stop in stops if stop.cost_usd is not None]
    return EarlyStop(
        answer=answers[0],
        skipped=tuple(dict.fromkeys(name for stop in stops for name in stop.skipped)),
        ran=sum(stop.ran for stop in stops),
        seconds=sum(seconds) if seconds else None,
        cost_usd=sum(costs) if costs else None,
    )
