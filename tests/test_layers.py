"""Imports point down: command line, phases, the world, computation, values."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "reb_action"

LAYERS = (
    {"model", "errors", "layout", "other_cards", "__init__"},
    {
        *(
            "documents",
            "manifest",
            "levels",
            "report",
            "challenge",
            "audit",
            "hallucinations",
            "proofs",
            "ranks",
            "log_search",
        ),
        *("diagnosis", "verdict", "imports", "render", "archive", "plan", "deadline", "gate"),
        *(
            "redaction",
            "qualified",
            "shadow",
            "score",
            "statistics",
            "published",
            "changes",
            "strict_yaml",
        ),
    },
    {
        *("sandbox", "source", "git", "toolchain", "witness", "probing", "agents", "session"),
        *(
            "origin",
            "copies",
            "github",
            "gateway",
            "hidden",
            "artifacts",
            "evidence",
            "tracked",
            "signature",
            "attestation",
        ),
    },
    {
        *(
            "trial",
            "freezing",
            "leftovers",
            "judging",
            "observing",
            "outputs",
            "choosing",
            "doctor",
            "demo",
            "building",
            "clearing",
            "qualify",
            "console",
            "progress",
            "redteam",
        ),
        *(
            "conclusion",
            "planning",
            "collection",
            "batch",
            "reporting",
            "working",
            "reach",
            "asking",
            "leaderboard",
            "gathering",
            "publishing",
            "writes",
            "writing",
        ),
    },
    {"cli", "cli_actions", "cli_checks", "cli_options", "cli_reports", "cli_publish", "__main__"},
)


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def layer_of(part):
    return next(number for number, parts in enumerate(LAYERS) if part in parts)


def imported_parts(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "reb_action":
            yield from (
                alias.name if alias.name != "__version__" else "__init__" for alias in node.names
            )
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reb_action."):
            yield node.module.split(".")[1]


def test_imports_point_down():
    upward = [
        f"{path.relative_to(PACKAGE)} imports {part}"
        for path in PACKAGE.rglob("*.py")
        for part in imported_parts(path)
        if layer_of(part) > layer_of(part_of(path))
    ]
    assert upward == []


def test_every_part_has_a_layer():
    parts = {part_of(path) for path in PACKAGE.rglob("*.py")}
    assert parts <= set().union(*LAYERS)


def test_no_import_circles_between_parts():
    edges = {
        (part_of(path), part)
        for path in PACKAGE.rglob("*.py")
        for part in imported_parts(path)
        if part != part_of(path)
    }
    parts = {part for edge in edges for part in edge}
    while leaves := parts - {a for a, b in edges if b in parts}:
        parts -= leaves
    assert parts == set()
