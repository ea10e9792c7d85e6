"""What GitHub's runner takes for a command in what a step prints; an oracle for our escaping.

Both forms are looked for in every line that a step prints. A line ends at CR, LF or CRLF.

- `::name key=value,…::data` counts at the start of a line, after .NET's TrimStart.
- `##[name key=value;…]data` counts anywhere in a line.

Names are compared without regard to case. An unknown name is no command.
"""

import re
from dataclasses import dataclass

NAMES = frozenset(
    (
        *("add-mask", "add-matcher", "add-path", "debug", "echo", "endgroup", "error", "group"),
        *("notice", "remove-matcher", "save-state", "set-env", "set-output", "stop-commands"),
        *("warning", "internal-set-repo-path", "pause-logging", "section", "command"),
    )
)

# What .NET's Char.IsWhiteSpace holds for: Zs, Zl, Zp, and U+0009 to U+000D, U+0085.
_WHITE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


@dataclass(frozen=True)
class Command:
    """A command that the runner would carry out."""

    name: str
    data: str


def commands(output):
    """Return every command that the runner finds in what was printed."""
    lines = re.split(r"\r\n|\r|\n", output)
    return [found for line in lines for found in (_modern(line), _legacy(line)) if found]


def _modern(line):
    line = line.lstrip(_WHITE)
    if not line.startswith("::"):
        return None
    inside, separator, data = line[2:].partition("::")
    return _known(inside, data) if separator else None


def _legacy(line):
    start = line.find("##[")
    if start < 0:
        return None
    inside, separator, data = line[start + 3 :].partition("]")
    return _known(inside, data) if separator else None


def _known(inside, data):
    name = inside.strip().split(" ", 1)[0].lower()
    return Command(name, data) if name in NAMES else None
