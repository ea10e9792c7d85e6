"""The frame of the page: its head, its summary, its sections in order."""

from reb_action.model.agent import Report
from reb_action.render.html.frame import head, sheet
from reb_action.render.html.markup import Html, Node, breakable, el, join, spaced
from reb_action.render.html.page.claims import claims
from reb_action.render.html.page.levels import levels
from reb_action.render.html.page.pyramid import pyramid
from reb_action.render.html.page.record import agent, evidence, noteworthy
from reb_action.render.html.page.view import View, facts
from reb_action.render.lines import found, headline, said


def trial_page(view: View, *, above: Node = None) -> str:
    """Return the page of a trial; on a site, `above` leads back."""
    body = el("body", above, _top(view), el("main", _sections(view), id="content"), _foot())
    title = f"{headline(view.verdict)}: {view.verdict.trial}"
    page = el("html", el("head", head(title, css=sheet())), body, lang="en")
    return f"<!doctype html>\n{page.text}\n"


def _top(view: View) -> Html:
    verdict = view.verdict
    return el(
        "header",
        el(
            "div",
            el("p", "Verdict on a trial", class_="eyebrow"),
            el("h1", breakable(verdict.repository)),
            el("p", headline(verdict), class_="headline"),
            _short(view),
            facts(
                ("agent", f"{verdict.agent}, attempt {verdict.attempt}"),
                ("commit", el("code", verdict.commit[:12])),
                ("GPUs promised", str(view.evidence.gpus_promised)),
            ),
        ),
        el("figure", pyramid(verdict, view.unqualified)),
        class_="top",
    )


def _short(view: View) -> Html:
    report = view.evidence.report
    notes = report.notes if isinstance(report, Report) else None
    return el(
        "div",
        el("p", spaced(el("b", "The agent said:"), said(view.verdict, notes))),
        el("p", spaced(el("b", "What was found:"), found(view.verdict))),
        class_="short",
    )


def _sections(view: View) -> Html:
    return join(
        _section("levels", "Levels", levels(view)),
        _section("claims", "What the report claims", claims(view.verdict)),
        _section("agent", "How the agent ran", agent(view)),
        _section("noteworthy", "Noteworthy", noteworthy(view.verdict)),
        _section("evidence", "Evidence", evidence(view.verdict)),
    )


def _section(name: str, title: str, content: Node) -> Html:
    return el("section", el("h2", title, id=f"{name}-title"), content, id=name)


def _foot() -> Html:
    return el(
        "footer",
        el(
            "p",
            "Strict asks for proof that the code ran. Paper follows the formulas of the benchmark's"
            " paper, so that its published rows can stand beside this one. They are never mixed.",
        ),
        facts(
            ("passed", "The level holds."),
            ("failed", "It does not."),
            ("blocked", "No usable report or interpreter, so nothing could be observed; counts 0."),
            ("not applicable", "The manifest says so, with a reason; not counted."),
            ("invalid", "Not measured, or a fault of ours or the runner's; not counted."),
        ),
    )
