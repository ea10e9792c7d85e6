"""Turns the options of the command line into the values that the phases take."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from reb_action import documents
from reb_action.agents.catalogue import agent
from reb_action.agents.contestant import identify
from reb_action.cli.contestants import apply_file, choose_agent, demand_file
from reb_action.cli.groups import (
    ModelOptions,
    PlaceOptions,
    RunnerOptions,
    TrialOptions,
)
from reb_action.corpus import manifests
from reb_action.errors import UsageError
from reb_action.github.context import read_server_url
from reb_action.model.manifest import SELF, Level, Manifest, trial_id
from reb_action.sandbox.machine import find_default_limits, find_memory_mib
from reb_action.sandbox.protocol import Kind, Limits, Network
from reb_action.session.state import AgentChoice
from reb_action.source.checkout import GITHUB
from reb_action.source.own_checkout import find_own_checkout, pin_to_checkout
from reb_action.trial.options import Options
from reb_action.workflow import deadline

_RESULTS: Final = Path("results")


def make_trial(trial: TrialOptions, runner: RunnerOptions) -> Options:
    """Return the options of one trial; raises UsageError."""
    trial, runner = apply_file(trial, runner)
    for name in (trial.repository, trial.agent):
        demand_file(name)
    return make_own_trial(*_find_manifest(trial.repository), trial, runner)


def make_own_trial(
    manifest: Manifest, checkout: Path | None, trial: TrialOptions, runner: RunnerOptions
) -> Options:
    """Return the options of a trial of this manifest, whose commit `checkout` has, if any."""
    choice = choose_agent(trial.agent, trial.agent_argument, runner)
    folder = (trial.folder or _default_folder(manifest, choice, trial)).absolute()
    _demand_encodable(folder)
    place = runner.place
    return Options(
        manifest=manifest,
        agent=choice,
        folder=folder,
        attempt=trial.attempt,
        contestant=trial.contestant,
        kind=place.sandbox,
        image=place.image if place.sandbox is Kind.DOCKER else None,
        mirror=place.mirror,
        origins=_list_origins(manifest, os.environ),
        checkout=checkout,
        gpus=place.gpus,
        network=Network(place.network),
        levels=runner.levels,
        limits=_choose_limits(runner, manifest),
        resume_hours=place.resume_hours,
    )


def _find_manifest(repository: str) -> tuple[Manifest, Path | None]:
    """Return a manifest at its commit, and the checkout that it follows, if it does."""
    manifest = manifests.find(repository)
    if manifest.commit != SELF:
        return manifest, None
    checkout = find_own_checkout(Path(repository))
    return pin_to_checkout(manifest, checkout), checkout


def _list_origins(manifest: Manifest, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the servers that may have a pinned commit, in the order in which they are asked.

    The corpus is on github.com. A manifest of the user's own may describe a repository of the
    server that runs the job; a server without TLS is not asked, and a mirror can still have it.
    """
    server = read_server_url(environ)
    if server is None or urlsplit(server).scheme != "https" or manifests.in_corpus(manifest):
        return (GITHUB,)
    return tuple(dict.fromkeys((server, GITHUB)))


def make_qualification(
    repository: str, folder: Path | None, place: PlaceOptions, levels: tuple[Level, ...]
) -> Options:
    """Return the options of `reb qualify`, in which a script of reb does the agent's work."""
    trial = TrialOptions(repository=repository, agent="nop", folder=folder)
    runner = RunnerOptions(place=place, model_options=ModelOptions(), levels=levels)
    options = make_trial(trial, runner)
    if folder is not None:
        return options
    return replace(options, folder=(_RESULTS / f"{options.manifest.slug}.qualify").absolute())


def _default_folder(manifest: Manifest, choice: AgentChoice, trial: TrialOptions) -> Path:
    spec = agent(choice.name, argument=choice.argument)
    contestant = identify(spec, choice, trial.contestant)
    return _RESULTS / trial_id(manifest.slug, contestant.id, trial.attempt)


def _demand_encodable(folder: Path) -> None:
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        shown = documents.show(str(folder))
        raise UsageError(
            f"{shown} is not valid UTF-8; choose another folder, or set LANG"
        ) from None


def demand_possible_limits(place: PlaceOptions) -> None:
    """Raise UsageError for limits that contradict one another, or that no local sandbox has."""
    limits = {
        "--memory-mib": place.memory_mib,
        "--shm-mib": place.shm_mib,
        "--processes": place.processes,
    }
    given = [name for name, value in limits.items() if value is not None]
    if place.sandbox is Kind.LOCAL and given:
        raise UsageError(
            f"the local sandbox limits only the disk; remove {' and '.join(given)}, or use "
            "--sandbox docker"
        )
    if place.shm_mib and place.memory_mib and place.shm_mib > place.memory_mib:
        raise UsageError(
            f"--shm-mib {place.shm_mib} is more than --memory-mib {place.memory_mib}, of which it"
            " is a part; lower it"
        )


def demand_machine_memory(place: PlaceOptions) -> None:
    """Raise UsageError for a size that this machine does not have."""
    total = find_memory_mib()
    sizes = {"--memory-mib": place.memory_mib, "--shm-mib": place.shm_mib}
    for name, size in sizes.items():
        if size is not None and size > total:
            raise UsageError(
                f"{name} {size} is more than the {total} MiB of memory that this machine has;"
                " lower it"
            )


def _choose_limits(runner: RunnerOptions, manifest: Manifest) -> Limits:
    """Return the limits of the sandbox; it lives as long as all time limits of the trial allow."""
    default, place = find_default_limits(), runner.place
    demand_possible_limits(place)
    demand_machine_memory(place)
    memory_mib = place.memory_mib or default.memory_mib
    agent = deadline.agent_seconds(runner.agent_seconds, 2 * runner.setup_seconds, runner.protocol)
    return Limits(
        memory_mib=memory_mib,
        shm_mib=place.shm_mib or min(default.shm_mib, memory_mib),
        processes=place.processes or default.processes,
        disk_mib=place.disk_mib,
        seconds=deadline.trial_seconds(manifest, runner.levels, agent) + deadline.SPARE_SECONDS,
    )
