"""One article per level: both outcomes, why, what proves it, and the end of its log."""

from typing import Final

from reb_action.levels import spec_of
from reb_action.model.diagnosis import Diagnosis
from reb_action.model.manifest import Level
from reb_action.model.verdict import LevelResult
from reb_action.render.html.markup import Html, Node, block, el, join, spaced
from reb_action.render.html.page.observed import observed
from reb_action.render.html.page.view import View, code, facts, folded, word
from reb_action.render.lines import doubt
from reb_action.render.outcomes import DOUBTED

LOG_LINES: Final = 60
"""How much of a log's end the page shows; all of it is in the folder."""


def levels(view: View) -> Html:
    """Return every level, from the base up."""
    doubted = view.unqualified
    return join(*(_level(result, view, doubt(result, doubted)) for result in view.verdict.results))


def _level(result: LevelResult, view: View, mark: str) -> Html:
    return el(
        "article",
        _head(result, mark),
        el("p", result.reason, class_="reason"),
        el("p", DOUBTED, class_="question") if mark else None,
        _cause(result.diagnosis),
        _observed(result, view),
        _log(result.level, view),
        el("p", el("a", "Its claims, one by one", href="#claims"))
        if result.level is Level.C5
        else None,
        id=result.level,
        class_=f"level {result.outcome}",
        aria_labelledby=f"{result.level}-title",
    )


def _head(result: LevelResult, mark: str) -> Html:
    spec = spec_of(result.level)
    return el(
        "header",
        el("h3", spaced(el("span", result.level), spec.title), id=f"{result.level}-title"),
        el("p", spec.question, class_="question"),
        facts(
            ("strict", el("b", f"{word(result.outcome)}{mark}", class_=result.outcome)),
            ("paper", el("b", f"{word(result.paper)}{mark}", class_=result.paper)),
        ),
    )


def _cause(diagnosis: Diagnosis | None) -> Node:
    if diagnosis is None:
        return None
    line = el("p", spaced("From its log:", code(diagnosis.line))) if diagnosis.line else None
    return el(
        "div",
        el("p", spaced(el("strong", "Likely cause."), diagnosis.sentence)),
        line,
        class_="cause",
    )


def _observed(result: LevelResult, view: View) -> Node:
    seen = view.evidence.observations.get(result.level)
    if seen is None:
        return None
    return folded("What was observed", observed(seen, result.imports))


def _log(level: Level, view: View) -> Node:
    log = view.evidence.logs.get(level, "")
    if not log.strip():
        return None
    return folded(
        f"The end of its log (all of it: levels/{level}.log)", block(log, lines=LOG_LINES)
    )
