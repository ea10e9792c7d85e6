"""The leaderboard: one table per scoring, so that they are never mixed."""

from collections.abc import Iterator

from reb_action.levels import LEVELS
from reb_action.model.manifest import Level
from reb_action.model.scoreboard import AgentScore, Imports, Published, Scoreboard, Share
from reb_action.model.verdict import ClaimKind, Scoring
from reb_action.render import shares
from reb_action.render.html.markup import Html, el, join, spaced
from reb_action.render.html.site.grid import Column, Field, Row, controls, grid, search
from reb_action.render.html.site.names import agent_of, folder_of
from reb_action.render.html.site.share import imports, measured
from reb_action.render.quantities import count

_LEVELS = tuple(Column(name=spec.level, title=spec.title, first="descending") for spec in LEVELS)
_STRICT = (Column(name="agent"), *_LEVELS)
_PAPER = (
    Column(name="agent"),
    Column(name="C0", title="imports missing"),
    *_LEVELS[1:-1],
    Column(name="C5", title="hallucinations"),
)


def board(scoreboard: Scoreboard) -> Html:
    """Return the tables of agents: strict, then the paper's with what it published."""
    ours = scoreboard.agents
    strict = (_strict(score) for score in ours)
    paper = (*map(_paper, ours), *map(_published, scoreboard.published))
    return join(
        controls("Filter the agents", search("Agent or model")),
        el("h3", "Strict scoring"),
        el("p", _STRICT_RULE, class_="rule"),
        grid(_STRICT_TABLE, _STRICT, strict, class_="board"),
        el("h3", "Scoring of the paper"),
        el("p", _PAPER_RULE, class_="rule"),
        grid(_PAPER_TABLE, _PAPER, paper, class_="board"),
        *_sources(scoreboard.published),
    )


def _strict(score: AgentScore) -> Row:
    found = score.levels.get(Scoring.STRICT, {})
    fields = (_field(found.get(spec.level)) for spec in LEVELS)
    return Row(head=_name(score), fields=tuple(fields))


def _paper(score: AgentScore) -> Row:
    found = score.levels.get(Scoring.PAPER, {})
    fields = (
        _imports(score.imports.get(Scoring.PAPER)),
        *(_field(found.get(spec.level)) for spec in LEVELS[1:-1]),
        _honesty(score),
    )
    return Row(head=_name(score), fields=fields)


def _honesty(score: AgentScore) -> Field:
    counts = score.hallucinations
    if not counts:
        return Field(shown=el("span", shares.NONE, class_="absent"), value="")
    share = score.levels.get(Scoring.PAPER, {}).get(Level.C5)
    unknown = (shares.unknown_trials(share.unseen),) if share and share.unseen else ()
    kinds = (*(f"{counts[kind]} {kind}" for kind in ClaimKind if kind in counts), *unknown)
    total = sum(counts.values())
    return Field(shown=_hallucinations(total, ", ".join(kinds)), value=str(total))


def _published(one: Published) -> Row:
    of_these = None if one.capability is None else f"{one.capability} {ClaimKind.CAPABILITY}"
    fields = (
        _imports(one.imports),
        *(_field(one.levels.get(spec.level)) for spec in LEVELS[1:-1]),
        Field(shown=_hallucinations(one.hallucinations, of_these), value=str(one.hallucinations)),
    )
    return Row(head=_published_name(one), fields=fields, class_="published")


def _field(share: Share | None) -> Field:
    # What is unseen may have failed, so it is sorted as if it had.
    lowest = None if share is None else share.lowest
    return Field(shown=measured(share), value="" if lowest is None else lowest)


def _imports(found: Imports | None) -> Field:
    share = shares.ends(found)[1] / found.total if found and found.total else ""
    return Field(shown=imports(found), value=share)


def _hallucinations(total: int, kinds: str | None) -> Html:
    small = el("small", kinds, class_="count") if kinds else None
    return el("div", el("b", f"{total:,}"), small, class_="share")


def _name(score: AgentScore) -> Html:
    judged = f"{score.judged:,} of {count(score.planned, 'trial')} judged"
    versions = ", ".join(score.versions[:3])
    more = f" and {len(score.versions) - 3} more" if len(score.versions) > 3 else ""
    return join(
        el("a", score.agent, href=f"#agent-{folder_of(score)}"),
        el("small", score.model) if score.model else None,
        el("small", f"version {versions}{more}") if versions else None,
        el("small", judged),
    )


def _published_name(one: Published) -> Html:
    runs = "one run of each" if one.runs == 1 else f"{one.runs} runs of each"
    return join(
        spaced(el("span", one.agent), el("span", "published", class_="tag")),
        el("small", one.model),
        el("small", runs),
    )


def _sources(published: tuple[Published, ...]) -> Iterator[Html]:
    for source in dict.fromkeys(one.source for one in published):
        yield el(
            "p", spaced(el("span", "published", class_="tag"), f"by {source}."), class_="source"
        )


def order(scoreboard: Scoreboard) -> tuple[str, ...]:
    """Return the agents by name, in the order of the table."""
    return tuple(agent_of(score) for score in scoreboard.agents)


_STRICT_TABLE = (
    "Share of trials that pass; the thin line and the last numbers are its 95 % interval"
)
_PAPER_TABLE = "By the formulas of the paper; published results are marked"
_STRICT_RULE = (
    "A level passes when evidence shows that the repository's own code ran: a nonce, proofs by its"
    " entry point, a witness of the GPUs. More is better, everywhere."
)
_PAPER_RULE = (
    "The formulas of the benchmark's paper, so that its published results can stand beside ours."
    " For C0 and C5 less is better. The two scorings are never mixed."
)
