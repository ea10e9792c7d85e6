"""Writes the two files of an editable install, in the shape that setuptools gives them."""

from pathlib import Path

NAME = "__editable___thing_1_0_finder"
TEMPLATE = """import sys

MAPPING: dict[str, str] = {mapping}
NAMESPACES: dict[str, list[str]] = {namespaces}
PATH_PLACEHOLDER = {placeholder}


def install():
    sys.meta_path.append(None)
"""


def finder_text(mapping: object, namespaces: str = "{}", placeholder: str = "") -> str:
    """Return the text of a finder; `mapping` is written as `repr` does."""
    path_hook = placeholder or """'__editable__.thing-1.0.finder' + ".__path_hook__\""""
    return TEMPLATE.format(mapping=mapping, namespaces=namespaces, placeholder=path_hook)


def write_editable(site: Path, mapping: object, *, pth: str | None = None, more: str = "") -> Path:
    """Write an editable install into a folder, and return its .pth file."""
    (site / f"{NAME}.py").write_text(finder_text(mapping) + more)
    path = site / "__editable__.thing-1.0.pth"
    path.write_text(f"import {NAME}; {NAME}.install()" if pth is None else pth)
    return path
