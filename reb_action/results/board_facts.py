"""Facts about a site's trials besides their results: domain, date, run and history."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from reb_action.model.manifest import SELF
from reb_action.model.record import History, Record, RecordedRun
from reb_action.render.html.site import BoardFacts, Publication, TrialFacts
from reb_action.results.collection import Collected
from reb_action.session import state

NO_HISTORY = History(entries=())


def facts_of_records(records: Mapping[str, Record], history: History) -> BoardFacts:
    """Return the facts of a board; `records` are those that count, by trial."""
    publications: dict[str, list[Publication]] = {}
    for entry in history.entries:
        facts = _facts(entry.run)
        for name, counts in entry.counts.items():
            publications.setdefault(name, []).append(Publication(facts=facts, counts=counts))
    return BoardFacts(
        trials={trial: _facts_of_record(record) for trial, record in records.items()},
        history={name: tuple(each) for name, each in publications.items()},
    )


def facts_of_artifacts(collected: Collected, trials: Iterable[str]) -> BoardFacts:
    """Return the facts of trials with a verdict; artifacts do not know their run."""
    manifests = {trial: state.load(collected.places[trial]).trial.manifest for trial in trials}
    return BoardFacts(
        trials={
            trial: TrialFacts(domain=one.domain, follows_checkout=one.follows_checkout)
            for trial, one in manifests.items()
        }
    )


def _facts_of_record(record: Record) -> TrialFacts:
    facts = _facts(record.run, record.domain)
    return replace(facts, follows_checkout=record.edition.commit == SELF)


def _facts(run: RecordedRun, domain: str = "") -> TrialFacts:
    return TrialFacts(
        domain=domain,
        date=run.published,
        url=run.url,
        run=f"{run.order.run_id}.{run.order.attempt}",
    )
