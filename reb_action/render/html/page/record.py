"""The rest of the record: how the agent ran, what was noteworthy, and the evidence."""

from collections.abc import Iterator

from reb_action.model.agent import AgentRun, Report, Usage
from reb_action.model.verdict import Verdict
from reb_action.render.html.markup import Html, Node, block, each, el, join, spaced
from reb_action.render.html.page.levels import LOG_LINES
from reb_action.render.html.page.view import SHOWN, View, code, facts, folded, table
from reb_action.render.quantities import count, duration, size


def agent(view: View) -> Html:
    """Return how the agent ended and what it used, in its own words too."""
    run = view.verdict.agent_run
    log = view.agent_log
    return join(
        el("p", "The agent did not run to its end.") if run is None else _run(run),
        _report(view.evidence.report, view.verdict.prefix_bytes)
        if isinstance(view.evidence.report, Report)
        else None,
        folded("The end of its log (all of it: agent.log)", block(log, lines=LOG_LINES))
        if log.strip()
        else None,
    )


def noteworthy(verdict: Verdict) -> Html:
    """Return what the agent changed or left behind, or that there is nothing to say."""
    found = tuple(_noteworthy(verdict))
    nothing = (
        "No tracked file was changed, no process was left running, nothing runs at the start of"
        " the interpreter, and the report sets no environment variable."
    )
    return el("ul", each("li", found)) if found else el("p", nothing)


def evidence(verdict: Verdict) -> Html:
    """Return every file that was judged with its hash, and how to judge it again."""
    rows = ((code(path), code(digest)) for path, digest in sorted(verdict.evidence.items()))
    return join(
        el(
            "p",
            "This verdict is a function of the files below alone. Anyone who has the folder of this"
            " trial can compute it again, without the sandbox and without a GPU; a folder that"
            " was changed is refused by the name of what was touched:",
        ),
        el("pre", "reb judge FOLDER", tabindex=0),
        table("Files that were judged", ("file", "SHA-256"), rows),
        el("p", f"Judged by reb {verdict.reb}.", class_="counted"),
    )


def _run(run: AgentRun) -> Html:
    usage = run.usage or Usage()
    return facts(
        ("agent", f"{run.agent} {run.version}"),
        ("ended", run.ending.replace("_", " ")),
        ("exit code", None if run.exit_code is None else str(run.exit_code)),
        ("worked for", duration(run.seconds)),
        ("set up in", duration(run.setup_seconds)),
        ("tokens in", _number(usage.input_tokens)),
        ("tokens out", _number(usage.output_tokens)),
        ("turns", _number(usage.turns)),
        ("cost", None if usage.cost_usd is None else f"{usage.cost_usd:.2f} USD"),
        ("detail", run.detail),
    )


def _report(report: Report, size_bytes: int | None) -> Html:
    named = f"{report.env_tool}, named {report.env_name}" if report.env_name else report.env_tool
    return join(
        facts(
            ("environment", named),
            ("takes on disk", None if size_bytes is None else size(size_bytes)),
        ),
        folded("Notes of its report, in its own words", block(report.notes, lines=LOG_LINES))
        if report.notes
        else None,
    )


def _number(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"


def _noteworthy(verdict: Verdict) -> Iterator[Node]:
    if verdict.touched:
        files = count(len(verdict.touched), "tracked file was", "tracked files were")
        changed = (f"{one.path} ({one.change})" for one in verdict.touched)
        yield spaced(f"{files} changed, and restored for the probes:", _listed(changed))
    if verdict.copies:
        start = "Edited copies of modules of the repository stand where they may be imported:"
        yield spaced(start, _listed(verdict.copies))
    if verdict.survivors:
        left = count(len(verdict.survivors), "process was", "processes were")
        yield spaced(f"{left} still running when the agent ended:", _listed(verdict.survivors))
    if verdict.hooks:
        start = "These run whenever the reported interpreter starts:"
        yield spaced(start, _listed(verdict.hooks))
    if verdict.environment:
        set_by = (f"{name}={value}" for name, value in sorted(verdict.environment.items()))
        yield spaced("The report sets, for every probe:", _listed(set_by))


def _listed(items: Iterator[str] | tuple[str, ...]) -> Html:
    every = tuple(items)
    more = f"and {len(every) - SHOWN:,} more" if len(every) > SHOWN else None
    lines = each("li", (code(one) for one in every[:SHOWN]))
    return el("ul", lines, el("li", more) if more else None)
