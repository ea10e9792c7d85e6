"""Builds HTML from elements: balanced by construction, and every string in it is escaped."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from reb_action.render import escape

_VOID: Final = frozenset({"input", "link", "meta", "wbr"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Html:
    """Finished markup, which only this module makes; any other string is text, and is escaped."""

    text: str


Node = Html | str | None
"""What may stand in an element; None is nothing, so that a part can be left out in place."""


def el(tag: str, *children: Node, **attributes: str | int | None) -> Html:
    """Return an element; `class_` stands for `class`, `aria_label` for `aria-label`."""
    opened = f"<{tag}{''.join(_attribute(*one) for one in attributes.items())}>"
    return Html(text=opened if tag in _VOID else f"{opened}{join(*children).text}</{tag}>")


def join(*children: Node) -> Html:
    """Return the children one after the other."""
    return Html(text="".join(_text(child) for child in children))


def spaced(*children: Node) -> Html:
    """Return the children with a space between them; text alone keeps none at its ends."""
    return Html(text=" ".join(_text(child) for child in children if child is not None))


def breakable(repository: str) -> Html:
    """Return the name of a repository, which may be broken after its owner."""
    owner, slash, name = repository.partition("/")
    return join(f"{owner}{slash}", el("wbr"), name)


def each(tag: str, items: Iterable[Node], **attributes: str | int | None) -> Html:
    """Return one element per item."""
    return join(*(el(tag, item, **attributes) for item in items))


def block(text: str, *, lines: int) -> Html:
    """Return the last lines of a log, preformatted; a keyboard can scroll them."""
    shown = Html(text=escape.page_block(text, lines=lines))
    return el("pre", shown, tabindex=0)


def style(css: str) -> Html:
    """Return our own style sheet; it is a constant of ours and goes out as it is."""
    return Html(text=f"<style>{css}</style>")


def script(js: str) -> Html:
    """Return our own script, to run when the page is read; a constant of ours, as it is."""
    return Html(text=f'<script type="module">{js}</script>')


def _text(child: Node) -> str:
    if child is None:
        return ""
    return child.text if isinstance(child, Html) else escape.page(child)


def _attribute(name: str, value: str | int | None) -> str:
    if value is None:
        return ""
    return f' {name.rstrip("_").replace("_", "-")}="{escape.page(str(value))}"'
