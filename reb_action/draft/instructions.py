"""Finds how a repository's own instructions set it up: the README's commands, or its files."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reb_action.draft.project import Project
from reb_action.model.manifest import Setup

README: Final = ("README.md", "README.rst", "README.txt", "README", "readme.md", "Readme.md")
_BLOCK: Final = re.compile(r"^[ \t]*```[^\n]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE)
_INSTALL: Final = re.compile(
    r"^(?:python3? -m )?pip3? install |^uv (?:sync|pip install)|^poetry install|^make install"
    r"|^python3? setup\.py (?:install|develop)|^conda env create"
)
_ENVIRONMENTS: Final = ("environment.yml", "environment.yaml", "conda.yml", "env.yml")
_DOCKERFILE: Final = re.compile(r"(?:[A-Za-z0-9._-]+/)*[A-Za-z0-9._-]*Dockerfile")
_LINE_LIMIT: Final = 2000
"""The longest line that `setup` of a manifest may have."""

_REQUIREMENTS: Final = re.compile(r"^(?:requirements[\w-]*\.txt|requirements/[\w-]+\.txt)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Instructions:
    """A set-up, where it was found, and why it may be wrong; nothing if none was found."""

    setup: Setup | None
    origin: str
    doubts: tuple[str, ...] = ()


def list_commands(project: Project) -> Iterator[str]:
    """Yield the command lines of the README: of its code blocks, and lines after a prompt."""
    for name in README:
        text = project.read(name)
        blocks = _BLOCK.findall(text) or re.findall(r"^(?:[ ]{4}|\t)(.*)$", text, re.MULTILINE)
        for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
            yield re.sub(r"^[$>%]\s+", "", line.strip()).partition(" #")[0].strip()


def find_instructions(project: Project) -> Instructions:
    """Return how the repository says that it is set up; a README goes before other files."""
    commands = (line for line in list_commands(project) if len(line) <= _LINE_LIMIT)
    lines = tuple(dict.fromkeys(line for line in commands if _INSTALL.match(line)))
    environment = next((name for name in _ENVIRONMENTS if name in project.paths), None)
    if environment is not None and (not lines or any("conda env" in line for line in lines)):
        return Instructions(setup=Setup(environment=environment), origin=environment)
    local = tuple(line for line in lines if _is_local(line))
    if local:
        return Instructions(setup=Setup(lines=local), origin="the README", doubts=_doubt(lines))
    return _from_files(project, lines)


def _from_files(project: Project, lines: tuple[str, ...]) -> Instructions:
    """Return the usual commands for the build and requirement files of the root."""
    names = [path for path in project.paths if _REQUIREMENTS.match(path)]
    plain = [name for name in names if name == "requirements.txt"] or names[:1]
    commands = [f"pip install -r {name}" for name in plain]
    builds = [name for name in ("pyproject.toml", "setup.py") if name in project.paths]
    commands += ["pip install -e ."] if builds else []
    doubts = ["the README does not say how to install the checkout"]
    if lines:
        doubts = [f"the README installs a released version instead of this checkout: {lines[0]}"]
    if commands:
        found = ", ".join((*plain, *builds[:1]))
        return Instructions(setup=Setup(lines=tuple(commands)), origin=found, doubts=tuple(doubts))
    dockerfile = next((path for path in project.paths if _DOCKERFILE.fullmatch(path)), None)
    if dockerfile is not None:
        return Instructions(setup=Setup(dockerfile=dockerfile), origin=dockerfile)
    return Instructions(setup=None, origin="", doubts=tuple(doubts))


def _is_local(line: str) -> bool:
    """Return whether an install command uses files of the checkout."""
    words = line.split()
    return not line.startswith("pip") or any(
        word.startswith((".", "-r", "--requirement")) or word.endswith(".txt") for word in words[2:]
    )


def _doubt(lines: tuple[str, ...]) -> tuple[str, ...]:
    left = [line for line in lines if not _is_local(line)]
    return (f"left out, since they install no file of the checkout: {'; '.join(left)}",) * bool(
        left
    )
