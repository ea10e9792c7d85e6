"""What the agent changed or left behind, for every channel."""

from collections.abc import Iterator
from dataclasses import dataclass

from reb_action.model.verdict import Verdict
from reb_action.render.quantities import count


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """A sentence of our own that ends in a colon, and the items after it, which are not ours."""

    sentence: str
    items: tuple[str, ...]


def remarks(verdict: Verdict) -> Iterator[Remark]:
    """Yield the remarks that every channel shows."""
    if verdict.touched:
        files = count(len(verdict.touched), "tracked file was", "tracked files were")
        items = tuple(f"{file.path} ({file.change})" for file in verdict.touched)
        yield Remark(sentence=f"{files} changed, and restored for the probes:", items=items)
    if verdict.copies:
        sentence = "Edited copies of modules of the repository stand where they may be imported:"
        yield Remark(sentence=sentence, items=verdict.copies)
    if verdict.survivors:
        left = count(len(verdict.survivors), "process was", "processes were")
        sentence = f"{left} still running when the agent ended:"
        yield Remark(sentence=sentence, items=verdict.survivors)


def page_remarks(verdict: Verdict) -> Iterator[Remark]:
    """Yield the remarks of a trial's page: those of every channel, and the environment's."""
    yield from remarks(verdict)
    if verdict.hooks:
        sentence = "These run whenever the reported interpreter starts:"
        yield Remark(sentence=sentence, items=verdict.hooks)
    if verdict.environment:
        items = tuple(f"{name}={value}" for name, value in sorted(verdict.environment.items()))
        yield Remark(sentence="The report sets, for every probe:", items=items)
