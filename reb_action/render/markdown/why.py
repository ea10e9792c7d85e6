"""Why a level did not pass, as Markdown: all text from outside passes `escape.markdown`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from reb_action.render.escape import log_rows, markdown, markdown_rows
from reb_action.render.markdown.sections import details
from reb_action.render.why import Explanation, Link, Part, Quoted, list_parts

WHOLE: Final = 400
"""Characters of a reason from which a list also says what to do."""
BRIEF: Final = 160
_ROWS: Final = 40
"""The last lines of a log that a summary shows."""


def show_part(part: Part, *, limit: int = 400) -> str:
    """Return a part of an explanation; text from outside has at most `limit` characters."""
    match part:
        case Quoted():
            return markdown(part.text, limit=limit)
        case Link():
            return f"[{part.text}]({part.url})"
        case str():
            return part


def tell_why(explanation: Explanation, link: str, limit: int) -> str:
    """Return reason, likely cause, line, remedy and evidence in one line.

    Reason and line have at most `limit` characters; below WHOLE there is no remedy, and below BRIEF
    a line stands for its cause.
    """
    parts = dict(list_parts(explanation, link))
    if limit < WHOLE:
        del parts["what to do"]
    if limit < BRIEF and "from the log" in parts:
        del parts["likely cause"]
    shown = (show_part(part, limit=limit) for part in parts.values())
    return " · ".join((markdown(explanation.reason, limit=limit), *shown))


def why_item(explanation: Explanation, link: str = "") -> str:
    """Return an item of a list: levels, outcome and reason, then each part on a line."""
    parts = (
        f"  {label.capitalize()}: {show_part(part)}"
        for label, part in list_parts(explanation, link)
    )
    head = f"- {explanation.title}: {markdown(explanation.reason)}"
    return "<br>\n".join((head, *parts))


def why_items(explanations: Iterable[Explanation], link: str = "") -> str:
    """Return the list of the levels that did not pass."""
    return "\n".join(why_item(explanation, link) for explanation in explanations)


def log_ends(logs: Mapping[str, str]) -> Iterator[str]:
    """Yield the end of each log, folded; `logs` are texts by their path in the trial's folder."""
    for path, text in logs.items():
        if rows := log_rows(text, rows=_ROWS):
            yield details(f"End of {path}", markdown_rows(rows))
