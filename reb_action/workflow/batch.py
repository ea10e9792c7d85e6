"""Runs trials on this machine, several at a time, and continues where an earlier run ended."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from typing import Protocol

from reb_action.agents.catalogue import agent
from reb_action.agents.contestant import identify
from reb_action.trial.options import Options
from reb_action.workflow import deadline
from reb_action.workflow.continuation import clear_unfinished, find_sealed
from reb_action.workflow.gpus import GpuPool
from reb_action.workflow.trial_process import End, Message, TrialProcess, start_trial

_WAIT_SECONDS = 0.5
_STOP_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One trial of a batch: its id, its options, and the environment with its own key."""

    id: str
    options: Options
    environ: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchResult:
    """The trials with a verdict, those that an error of reb or the runner ended, and the rest.

    `skipped` are the trials that the order has no need of.
    """

    done: tuple[str, ...]
    broken: tuple[str, ...]
    remaining: tuple[str, ...]
    skipped: tuple[str, ...] = ()


class Order(Protocol):
    """Chooses which trial runs next."""

    def end(self, job: Job) -> None:
        """Take note of a trial that has a verdict."""
        ...

    def choose(self, waiting: Sequence[Job]) -> Job | None:
        """Return the next one of the waiting trials, or None if none is needed any more."""
        ...


class GivenOrder:
    """Every trial, in the order in which they were given."""

    def end(self, job: Job) -> None:
        """Ignore it: no trial depends on the result of another."""

    def choose(self, waiting: Sequence[Job]) -> Job | None:
        """Return the first one."""
        return next(iter(waiting), None)


class View(Protocol):
    """Shows the trials of a batch while they run."""

    def begin(self, job: Job) -> None:
        """Show that a trial has begun."""
        ...

    def tell(self, name: str, text: str) -> None:
        """Show a line of a trial's progress; "" is the batch itself."""
        ...

    def end(self, name: str, fault: str | None) -> None:
        """Show that a trial has ended: with a verdict, or by a fault."""
        ...

    def refresh(self) -> None:
        """Bring times and counts up to date."""
        ...


@dataclass(slots=True)
class _Running:
    """A trial that runs, and its GPUs."""

    job: Job
    trial: TrialProcess
    gpus: tuple[str, ...]


class Batch:
    """Trials that run, at most `jobs` at a time, until all are done or the time is short."""

    def __init__(
        self,
        *,
        jobs: int,
        ends_at: float | None,
        gpus: GpuPool,
        view: View,
        live: bool = True,
        order: Order | None = None,
    ) -> None:
        self._jobs = jobs
        self._ends_at = ends_at
        self._gpus = gpus
        self._view = view
        self._live = live
        self._order = order or GivenOrder()
        self._running: list[_Running] = []
        self._done: list[str] = []
        self._broken: list[str] = []
        self._skipped: tuple[str, ...] = ()

    def run(self, jobs: Iterable[Job]) -> BatchResult:
        """Run the trials that are not finished; on an interrupt, stop those that run."""
        waiting = [job for job in jobs if not self._skip(job)]
        try:
            while waiting or self._running:
                waiting = self._begin(waiting)
                if not self._running:
                    break
                self._receive()
        finally:
            self._stop()
        return BatchResult(
            done=tuple(self._done),
            broken=tuple(self._broken),
            remaining=tuple(job.id for job in waiting),
            skipped=self._skipped,
        )

    def _skip(self, job: Job) -> bool:
        """Return whether a trial is finished; remove one that was interrupted."""
        options = job.options
        spec = agent(options.agent.name, argument=options.agent.argument)
        contestant = identify(spec, options.agent, options.contestant)
        if find_sealed(options.folder, contestant, options.levels) is not None:
            self._view.tell(job.id, "finished before")
            self._done.append(job.id)
            self._order.end(job)
            return True
        if clear_unfinished(options.folder):
            self._view.tell(job.id, "not finished before; it starts again")
        return False

    def _begin(self, waiting: list[Job]) -> list[Job]:
        """Begin as many trials as there is room for; return those that wait.

        Trials that run are finished also if the order needs no other: their results are kept.
        """
        while waiting and len(self._running) < self._jobs:
            job = self._order.choose(waiting)
            if job is None:
                self._skipped = tuple(one.id for one in waiting)
                return []
            shortage = time_shortage(job, self._ends_at)
            if shortage is not None:
                self._view.tell("", shortage)
                return waiting
            gpus = self._gpus.take(job.options.gpus)
            if gpus is None:
                break
            options = replace(job.options, gpu_ids=gpus)
            trial = start_trial(options, job.environ, live=self._live)
            self._running.append(_Running(job=job, trial=trial, gpus=gpus))
            self._view.begin(job)
            waiting = [one for one in waiting if one is not job]
        return waiting

    def _receive(self) -> None:
        """Take the messages of the trials that run; the end of a process ends its trial."""
        ready = wait([one.trial.messages for one in self._running], timeout=_WAIT_SECONDS)
        for one in [one for one in self._running if one.trial.messages in ready]:
            try:
                self._take(one, one.trial.messages.recv())
            except EOFError:
                code = _join(one.trial)
                self._end(one, f"its process ended with exit code {code}")
        self._view.refresh()

    def _take(self, one: _Running, message: Message) -> None:
        if isinstance(message, End):
            _join(one.trial)
            self._end(one, message.fault)
        else:
            self._view.tell(one.job.id, message.text)

    def _end(self, one: _Running, fault: str | None) -> None:
        self._running.remove(one)
        self._gpus.give_back(one.gpus)
        (self._done if fault is None else self._broken).append(one.job.id)
        if fault is None:
            self._order.end(one.job)
        self._view.end(one.job.id, fault)

    def _stop(self) -> None:
        """End the trials that still run, and wait until their sandboxes are removed."""
        for one in self._running:
            one.trial.process.terminate()
        until = time.monotonic() + _STOP_SECONDS
        for one in self._running:
            one.trial.process.join(max(0.0, until - time.monotonic()))


def _join(trial: TrialProcess) -> int | None:
    trial.process.join(_STOP_SECONDS)
    trial.alive.close()
    return trial.process.exitcode


def time_shortage(job: Job, ends_at: float | None) -> str | None:
    """Return why a trial must not begin, or None if it ends before its job."""
    if ends_at is None:
        return None
    trial = job.options
    choice = trial.agent
    agent_seconds = deadline.agent_seconds(
        choice.total_seconds, choice.setup_seconds, choice.protocol
    )
    needed = deadline.trial_seconds(trial.manifest, trial.levels, agent_seconds)
    return deadline.shortage(job.id, needed, ends_at - time.time())
