"""The head of every page: a content policy that forbids loading, the style and the script."""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Final

from reb_action.render.html.environment import read_source

STYLE: Final = "page/style.css"
"""The style sheet of all pages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """The head of a page; `styles` and `script` are files beside the templates.

    `icon` is a `data:` URL. `root` leads to the site's pages; None where there is none.
    """

    title: str
    styles: tuple[str, ...] = (STYLE,)
    script: str | None = None
    icon: str | None = None
    root: str | None = None

    @property
    def policy(self) -> str:
        """The Content-Security-Policy: markup that slipped through loads and runs nothing."""
        rules = (
            "default-src 'none'",
            f"style-src '{_digest(self.styles)}'",
            None if self.script is None else f"script-src '{_digest((self.script,))}'",
            None if self.icon is None else "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
        return "; ".join(rule for rule in rules if rule is not None)


@cache
def _digest(names: tuple[str, ...]) -> str:
    text = "".join(read_source(name) for name in names)
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
