"""The head of every page of ours: what it may load, which is nothing, and how it looks."""

import base64
import hashlib
from functools import cache
from pathlib import Path

from reb_action.render.html.markup import Html, el, join, script, style


@cache
def sheet() -> str:
    """Return the style that all pages share."""
    return (Path(__file__).parent / "page" / "style.css").read_text(encoding="utf-8")


def head(title: str, *, css: str, js: str | None = None, icon: str | None = None) -> Html:
    """Return the head of a page; `css`, `js` and `icon` (an address of data) are ours alone."""
    return join(
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_policy(css, js, icon)),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", title),
        None if icon is None else el("link", rel="icon", href=icon),
        style(css),
        None if js is None else script(js),
    )


def _policy(css: str, js: str | None, icon: str | None) -> str:
    # Even markup that slipped through could load nothing and run nothing.
    rules = (
        "default-src 'none'",
        f"style-src '{_digest(css)}'",
        None if js is None else f"script-src '{_digest(js)}'",
        None if icon is None else "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rule for rule in rules if rule is not None)


@cache
def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
