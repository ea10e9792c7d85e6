"""Why a level did not pass, as Markdown: all text from outside passes `escape.markdown`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from reb_action.render.escape import log_rows, markdown, markdown_rows
from reb_action.render.markdown.sections import details
from reb_action.render.why import Explanation, Link, Part, Quoted, list_parts

_ROWS: Final = 40
"""The last lines of a log that a summary shows."""


def show_part(part: Part) -> str:
    """Return a part of an explanation."""
    match part:
        case Quoted():
            return markdown(part.text)
        case Link():
            return f"[{part.text}]({part.url})"
        case str():
            return part


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
