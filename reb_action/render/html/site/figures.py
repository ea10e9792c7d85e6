"""Each agent as a pyramid, with its badges, and what its trials took."""

from collections.abc import Callable, Iterator

from reb_action.levels import LEVELS
from reb_action.model.agent import Ending
from reb_action.model.scoreboard import AgentScore, Known, Scoreboard
from reb_action.render.html.markup import Html, el, join, spaced
from reb_action.render.html.site.grid import Column, Field, Row, grid
from reb_action.render.html.site.names import folder_of
from reb_action.render.html.site.pyramid import pyramid
from reb_action.render.quantities import count, duration, size

_SPENT = (
    Column(name="agent"),
    Column(name="tokens in", title="per trial"),
    Column(name="tokens out", title="per trial"),
    Column(name="cost", title="USD per trial"),
    Column(name="time", title="per trial"),
    Column(name="environment", title="on disk"),
    Column(name="ended"),
)


def figures(scoreboard: Scoreboard) -> Html:
    """Return a pyramid for every agent, as full as its strict shares."""
    how = "Each stratum is as full as the agent's share by the strict scoring, C0 at the base."
    drawn = (_figure(score) for score in scoreboard.agents)
    return join(el("p", how, class_="rule"), el("div", *drawn, class_="figures"))


def spent(scoreboard: Scoreboard) -> Html:
    """Return what the agents' trials took, on average over those that know it."""
    rows = (_spent(score) for score in scoreboard.agents)
    return grid("Means over the trials that know the number", _SPENT, rows, class_="spent")


def badge_of(score: AgentScore, level: str) -> str:
    """Return the address of a badge without its ending, from the root of the site."""
    return f"badges/{folder_of(score)}/{level}"


def _figure(score: AgentScore) -> Html:
    name = folder_of(score)
    links = (
        el(
            "a",
            spec.level,
            href=f"{badge_of(score, spec.level)}.svg",
            aria_label=f"{spec.level}: badge of {score.agent}",
        )
        for spec in LEVELS
    )
    caption = el(
        "figcaption",
        el("h3", score.agent),
        el("p", _caption(score), class_="model"),
    )
    return el(
        "figure",
        caption,
        pyramid(score, name=f"pyramid-{name}"),
        el("p", spaced("Badges:", *links), class_="badges"),
        id=f"agent-{name}",
    )


def _caption(score: AgentScore) -> str:
    trials = count(score.judged, "trial")
    return trials if score.model is None else f"{score.model}, {trials}"


def _spent(score: AgentScore) -> Row:
    found = score.spent
    fields = (
        _mean(found.input_tokens, lambda mean: f"{mean:,.0f}", score),
        _mean(found.output_tokens, lambda mean: f"{mean:,.0f}", score),
        _mean(found.cost_usd, lambda mean: f"{mean:,.2f}", score),
        _mean(found.seconds, duration, score),
        _mean(found.prefix_bytes, size, score),
        Field(shown=", ".join(_endings(score))),
    )
    head = join(score.agent, el("small", score.model) if score.model else None)
    return Row(head=head, fields=fields)


def _mean(known: Known, told: Callable[[float], str], score: AgentScore) -> Field:
    if not known.trials:
        return Field(shown=el("span", "unknown", class_="absent"), value="")
    mean = known.total / known.trials
    few = f"over {known.trials:,} trials" if known.trials != score.judged else None
    return Field(shown=join(told(mean), el("small", few) if few else None), value=float(mean))


def _endings(score: AgentScore) -> Iterator[str]:
    for ending in Ending:
        if score.endings.get(ending):
            yield f"{score.endings[ending]:,} {ending.replace('_', ' ')}"
