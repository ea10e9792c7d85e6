"""The pages of trials on the board: which ones the branch has room for."""

from collections.abc import Container, Iterator, Mapping
from typing import Final

from reb_action.model.manifest import Outcome
from reb_action.model.record import Record
from reb_action.model.verdict import Verdict
from reb_action.publish.content import RunResults
from reb_action.publish.git_branch import Tip
from reb_action.render.html.page import trial_page
from reb_action.results import page as results_page
from reb_action.results import records as records_of
from reb_action.score.records import make_generations

PAGES_BYTES: Final = 32_000_000
"""Limit on the pages of trials on the branch, about 3 MB as git packs them."""
_FINE: Final = (Outcome.PASSED, Outcome.NOT_APPLICABLE)


def choose_pages(
    tip: Tip | None, records: tuple[Record, ...], run_pages: Mapping[str, bytes]
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the pages of trials until PAGES_BYTES; None stands for one that the branch has.

    Those that count come first, of these the failed ones, and then the newest.
    """
    counting = {
        records_of.name_record(record)
        for generation in make_generations(records)
        for record in generation.records.values()
    }
    sizes: Mapping[str, int] = {} if tip is None else tip.sizes
    remaining = PAGES_BYTES
    for record in sorted(records, key=lambda one: _page_rank(one, counting)):
        address = records_of.name_page(record)
        data = run_pages.get(address)
        if data is None and address not in sizes:
            continue
        remaining -= sizes[address] if data is None else len(data)
        if remaining < 0:
            return
        yield address, data


def render_pages(records: tuple[Record, ...], run: RunResults) -> Iterator[tuple[str, bytes]]:
    """Yield the pages of a run's trials, failed trials first, until PAGES_BYTES."""
    remaining = PAGES_BYTES
    for record in sorted(records, key=lambda one: _page_rank(one, ())):
        verdict = run.collected.found.get(record.trial)
        if remaining > 0 and isinstance(verdict, Verdict):
            address = records_of.name_page(record)
            view = results_page.make_view(run.collected.places[record.trial], verdict)
            data = trial_page(view, root="../" * address.count("/")).encode()
            remaining -= len(data)
            yield address, data


def _page_rank(record: Record, counting: Container[str]) -> tuple[bool, bool, int, int]:
    cells = () if record.row is None else record.row.cells.values()
    passed = all(cell.outcome in _FINE for cell in cells)
    order = record.run.order
    is_counting = records_of.name_record(record) in counting
    return not is_counting, passed, -order.run_id, -order.attempt
