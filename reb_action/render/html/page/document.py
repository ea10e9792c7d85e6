"""The page of a trial."""

from reb_action.model.report import Report
from reb_action.model.verdict import ClaimKind
from reb_action.render import lines
from reb_action.render.html.environment import render
from reb_action.render.html.frame import Frame
from reb_action.render.html.page.usage import usage_lines, vendor_facts
from reb_action.render.html.page.view import View, claims, levels, strata
from reb_action.render.outcomes import UNQUALIFIED_NOTE
from reb_action.render.remarks import list_page_remarks


def trial_page(view: View, *, root: str | None = None) -> str:
    """Return the page of a trial; on a site, `root` leads back to its front page."""
    verdict, report = view.verdict, view.evidence.report
    run = verdict.agent_run
    readable = report if isinstance(report, Report) else None
    every_level = levels(view)
    headline = lines.count_levels(verdict)
    page = render(
        "page/document.html.j2",
        frame=Frame(title=f"{headline}: {verdict.trial}", root=root),
        view=view,
        verdict=verdict,
        report=readable,
        timeline=view.timeline,
        usage_lines=usage_lines(run) if run else (),
        vendor_facts=vendor_facts(run.vendor) if run else (),
        headline=headline,
        said=lines.quote_agent(verdict, readable.notes if readable else None),
        found=lines.summarise_findings(verdict),
        levels=every_level,
        strata=strata(every_level),
        claims=claims(verdict),
        hallucinations=[(kind, verdict.audit.hallucinations(kind)) for kind in ClaimKind],
        remarks=tuple(list_page_remarks(verdict)),
        unqualified_note=UNQUALIFIED_NOTE,
    )
    return f"{page}\n"
