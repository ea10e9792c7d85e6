"""Writes a reusable workflow without `$/`, which GitHub Enterprise Server does not know.

    python3 .github/pinned.py OWNER/NAME@REF > .github/workflows/benchmark-pinned.yml
    python3 .github/pinned.py OWNER/NAME@REF publish > .github/workflows/publish-pinned.yml

Each `uses: $/part` becomes `uses: OWNER/NAME/part@REF`: what the file refers to, said outright.
A concurrency group with `queue: max` is left out: without that word, which such a server does not
know either, all runs that wait but the last would be cancelled.
"""

import re
import sys
from pathlib import Path

WORKFLOWS = Path(__file__).parent / "workflows"
QUEUE = re.compile(r"^    concurrency:\n(?:      .*\n)*?      queue: max\n", re.MULTILINE)


def pinned(text: str, reference: str) -> str:
    """Return the text of a workflow with `$/` replaced and its queues left out."""
    name, _, ref = reference.partition("@")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name) or not re.fullmatch(r"[\w./-]+", ref):
        raise SystemExit(f"{reference!r} is not of the form OWNER/NAME@REF")

    def said(match: re.Match[str]) -> str:
        part = f"/{match[1]}" if match[1] else ""
        return f"uses: {name}{part}@{ref}"

    return re.sub(r"uses: \$/([\w-]*)", said, QUEUE.sub("", text))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit("name what to refer to: pinned.py OWNER/NAME@REF [benchmark|publish]")
    name = sys.argv[2] if len(sys.argv) > 2 else "benchmark"
    sys.stdout.write(pinned((WORKFLOWS / f"{name}.yml").read_text(encoding="utf-8"), sys.argv[1]))
