"""The Jinja environment of every page: all output is cleaned and escaped, a missing name fails."""

import re
from collections.abc import Callable, Collection
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from reb_action.model.quantity import count
from reb_action.render import escape
from reb_action.render.html.curve import plot_curve
from reb_action.render.quantities import duration, size

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

LISTED: Final = 40
"""The most items of a list on a page; the rest is counted, and is in the evidence."""
LOG_LINES: Final = 60
"""The most lines of a log on a page; the whole log is in the trial's folder."""
_FOLDER: Final = Path(__file__).parent
_CHARACTERS: Final = 4000
_LINE_BREAK: Final = re.compile(r"(?<=[>}])\s*\n\s*(?=\S)|\s*\n\s*(?=[<{])")


def render(template: str, **values: object) -> str:
    """Return a template of this folder, filled with values."""
    return environment().get_template(template).render(values)


@cache
def environment() -> "Environment":
    """Return the environment of all templates."""
    # Imported here: most commands write no HTML, and must not wait for the engine.
    import jinja2  # noqa: PLC0415

    from reb_action.render.html.bytecode import cache_beside  # noqa: PLC0415

    templates = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (read_source(name), str(_FOLDER / name), None)),
        autoescape=True,
        auto_reload=False,
        bytecode_cache=cache_beside(_FOLDER),
        finalize=_show,
        keep_trailing_newline=True,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    # Jinja types this as a dictionary of Jinja's filters.
    cast("dict[str, Callable[..., object]]", templates.filters).update(_FILTERS)
    return templates


@cache
def read_source(name: str) -> str:
    """Return the source of a template, or a style sheet or script unchanged.

    As in JSX, a line break next to a tag is not part of the page: write a space within the line.
    """
    text = (_FOLDER / name).read_text(encoding="utf-8")
    return _LINE_BREAK.sub(_comment, text).rstrip("\n") if name.endswith(".j2") else text


def _comment(line_break: re.Match[str]) -> str:
    # As a comment of Jinja, so that an error names the line of the file.
    breaks = "\n" * line_break[0].count("\n")
    return f"{{#{breaks}#}}"


def _show(value: object) -> object:
    """Return what a template prints; Jinja escapes it after this."""
    if value is None:
        raise TypeError("a template prints None; leave the element out instead")
    if isinstance(value, str) and not hasattr(value, "__html__"):
        return escape.clean(value, limit=_CHARACTERS)
    return value


def _log_end(text: str) -> "Markup":
    """Return the last lines of a log with their spaces, for a `pre`."""
    from markupsafe import Markup  # noqa: PLC0415

    # `join` escapes each row.
    return Markup("\n").join(escape.log_rows(text, rows=LOG_LINES))


def _listed(items: Collection[object]) -> Collection[object]:
    """Return the items that a list shows."""
    return tuple(islice(items, LISTED))


def _left_out(items: Collection[object]) -> int:
    """Return how many items a list leaves out."""
    return max(0, len(items) - LISTED)


def _words(name: str) -> str:
    """Return a name of an enumeration as words."""
    return name.replace("_", " ")


_FILTERS: Final = {
    "count_of": count,
    "curve_plot": plot_curve,
    "duration": duration,
    "left_out": _left_out,
    "listed": _listed,
    "log_end": _log_end,
    "size": size,
    "thousands": "{:,}".format,
    "words": _words,
}
