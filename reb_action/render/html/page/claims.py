"""The claims of the report beside the observations, and what the paper counts."""

from reb_action.model.verdict import Claim, ClaimKind, Standing, Verdict
from reb_action.render.html.markup import Html, Node, el, join, spaced
from reb_action.render.html.page.view import code, table

_HEADS = ("claim", "the report says", "observed", "standing")


def claims(verdict: Verdict) -> Html:
    """Return every claim beside what was observed, and the paper's count of hallucinations."""
    if not verdict.audit.claims:
        return el("p", _without(verdict))
    rows = (_row(claim) for claim in verdict.audit.claims)
    caption = "Each claim of the report beside what the probes observed"
    return join(table(caption, _HEADS, rows), el("p", _counted(verdict), class_="counted"))


def _without(verdict: Verdict) -> str:
    if verdict.report_fault is not None:
        return f"The agent left no usable report: {verdict.report_fault.message}"
    return "The report was not read, so no claim could be held against an observation."


def _row(claim: Claim) -> tuple[Node, ...]:
    standing = el("b", _standing(claim), class_=_colour(claim))
    counted = "counted by the paper" if claim.hallucinations else None
    return (
        spaced(code(claim.field), el("small", claim.kind)),
        _said(claim.claimed, "nothing"),
        spaced(_said(claim.observed, "not observed"), el("small", claim.source)),
        spaced(standing, el("small", counted) if counted else None),
    )


def _said(text: str | None, absent: str) -> Html:
    return el("span", absent, class_="absent") if text is None else code(text)


def _standing(claim: Claim) -> str:
    if claim.standing is Standing.REFUTED and claim.under_claim:
        return "refuted, an under-claim"
    return claim.standing.replace("_", " ")


def _colour(claim: Claim) -> str:
    if claim.standing is Standing.SUPPORTED:
        return "passed"
    refuted = claim.standing is Standing.REFUTED
    return "blocked" if refuted and claim.under_claim else "failed" if refuted else "not_applicable"


def _counted(verdict: Verdict) -> str:
    counts = [f"{kind} {verdict.audit.hallucinations(kind)}" for kind in ClaimKind]
    return (
        f"Hallucinations as the paper counts them: {', '.join(counts)}."
        " An under-claim says less than is so."
    )
