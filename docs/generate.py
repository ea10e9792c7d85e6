"""Writes the tables of docs/action.md from the actions and the workflows, and docs/matrix.md.

python docs/generate.py           write them
python docs/generate.py --check   fail if they are not up to date
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
PAGE = Path(__file__).parent / "action.md"
MATRIX = Path(__file__).parent / "matrix.md"
VENDORS = Path(__file__).parent / "vendors.yaml"
SOURCES = {
    "action": "action.yml",
    "workflow": ".github/workflows/benchmark.yml",
    "plan": "plan/action.yml",
    "batch": "batch/action.yml",
    "report": "report/action.yml",
    "publish": "publish/action.yml",
    "publish workflow": ".github/workflows/publish.yml",
}


def tables(name: str) -> str:
    """Return the tables of inputs and outputs of one source."""
    document: Mapping[Any, Any] = yaml.safe_load((ROOT / SOURCES[name]).read_text("utf-8"))
    # YAML 1.1 reads the key `on` as true.
    source = document[True]["workflow_call"] if True in document else document
    lines = ["| input | default | what it is |", "|---|---|---|", *_inputs(source["inputs"])]
    if "secrets" in source:
        lines += ["", "| secret | what it is |", "|---|---|", *_outputs(source["secrets"])]
    lines += ["", "| output | what it is |", "|---|---|", *_outputs(source["outputs"])]
    return "\n".join(lines)


def _inputs(inputs: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for name, one in inputs.items():
        default = "**required**" if one.get("required") else _code(one.get("default", ""))
        yield f"| `{name}` | {default} | {one['description']} |"


def _outputs(outputs: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    return (f"| `{name}` | {one['description']} |" for name, one in outputs.items())


def _code(value: object) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"`{text}`" if text else "empty"


def page(text: str) -> str:
    """Return the page with every table made anew, and the snippet of examples/ in it."""
    for name in SOURCES:
        text = _between(text, name, tables(name))
    example = (ROOT / "examples" / "one-repository.yml").read_text("utf-8").strip()
    return _between(text, "snippet", f"```yaml\n{example}\n```")


def _between(text: str, name: str, new: str) -> str:
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    pattern = re.escape(begin) + r".*?" + re.escape(end)
    return re.sub(pattern, lambda _: f"{begin}{new}\n{end}", text, count=1, flags=re.DOTALL)


def matrix() -> str:
    """Return the page of agents, vendors and dialects, with a line of YAML for each cell."""
    lines = [
        "# Agents, vendors and dialects",
        "",
        "Made by `docs/generate.py` from `docs/vendors.yaml` and the agents' files. Each row is",
        "tested against a scripted server that speaks the dialect and behaves as the last column",
        "says (`tests/agents/test_matrix.py`). No row was tested against the vendor itself.",
        "",
        "| agent | vendor | dialect | inputs of the action | tested with |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *_cells()]) + "\n"


def _cells() -> Iterator[str]:
    vendors: list[Mapping[str, Any]] = yaml.safe_load(VENDORS.read_text("utf-8"))
    for path in sorted((ROOT / "reb_action" / "agents" / "definitions").glob("*.yaml")):
        agent: Mapping[str, Any] = yaml.safe_load(path.read_text("utf-8"))
        for vendor in vendors:
            url = vendor["dialects"].get(agent.get("dialect"))
            if url is None:
                continue
            inputs = f"{{ agent: {agent['name']}, model: {vendor['model']}"
            inputs += f', model-url: "{url}" }}' if url else " }"
            tested = ", ".join(vendor["behaviour"])
            yield (
                f"| `{agent['name']}` | {vendor['vendor']} | `{agent['dialect']}` | `{inputs}`"
                f" | {tested} |"
            )


def main() -> None:
    """Write or check the pages."""
    pages = {PAGE: page(PAGE.read_text("utf-8")), MATRIX: matrix()}
    for path, new in pages.items():
        if "--check" not in sys.argv:
            path.write_text(new, encoding="utf-8")
        elif not path.is_file() or path.read_text("utf-8") != new:
            sys.exit(f"docs/{path.name} is not up to date; run python docs/generate.py")


if __name__ == "__main__":
    main()
