"""Reads what a repository says that it needs: pyproject, setup, requirements, environment files.

Standard library only, Python 3.8 syntax: it is imported by `baseline.py` inside a sandbox, where
nothing else of ours is. What cannot be read counts as not declared.
"""

from __future__ import annotations

import ast
import configparser
import importlib
import os
import re
from pathlib import Path
from typing import Any, Iterable, Iterator, cast  # noqa: UP035 - Python 3.8

# Requirement files for something else than running the code as released.
_LEFT_OUT = re.compile(
    r"(^|[-_.])(dev|develop|tests?|testing|ci|lint|docs?|mypy|format|build|release|notebooks?"
    r"|rocm|amd|hip|xpu|npu|tpu|hpu|neuron|ascend|mac|macos|mps|windows|win|cpu|arm64)([-_.]|$)"
)
_IMPORTS_TORCH = re.compile(rb"^\s*(import|from)\s+torch(\.|\s|,|$)", re.MULTILINE)
_SKIPPED_FOLDERS = frozenset({".git", "venv", ".venv", "node_modules", "__pycache__"})


def project_file(repo: Path) -> str | None:
    """Return the file that makes the repository an installable project."""
    pyproject = _toml(repo)
    if "project" in pyproject or "poetry" in pyproject.get("tool", {}):
        return "pyproject.toml"
    if (repo / "setup.py").is_file():
        return "setup.py"
    return "setup.cfg" if _setup_cfg(repo).has_section("options") else None


def requires_python(repo: Path) -> str | None:
    """Return the Python versions that the project asks for, as a version specifier."""
    found = _toml(repo).get("project", {}).get("requires-python")
    found = found or _setup_cfg(repo).get("options", "python_requires", fallback=None)
    return found or _setup_keyword(repo, "python_requires") or None


def dependencies(repo: Path) -> list[str]:
    """Return the requirements of the project itself, without its extras."""
    pyproject = _toml(repo)
    found = list(pyproject.get("project", {}).get("dependencies", []))
    poetry = pyproject.get("tool", {}).get("poetry", {}).get("dependencies", {})
    found += [line for line in (_poetry(*item) for item in poetry.items()) if line]
    found += _setup_cfg(repo).get("options", "install_requires", fallback="").split("\n")
    listed = _setup_keyword(repo, "install_requires")
    found += listed if isinstance(listed, list) else []
    return _unique(line.strip() for line in found)


def build_requirements(repo: Path) -> list[str]:
    """Return what building the project needs, for a build without isolation."""
    return list(_toml(repo).get("build-system", {}).get("requires", ["setuptools", "wheel"]))


def requirement_files(repo: Path) -> list[Path]:
    """Return the requirement files for running the code, the main one first."""
    found = [*repo.glob("requirements*.txt"), *repo.glob("requirements/*.txt")]
    wanted = [path for path in found if path.is_file() and not _LEFT_OUT.search(path.stem.lower())]
    return sorted(
        wanted, key=lambda path: (len(path.parts), path.stem != "requirements", path.name)
    )


def requirement_lines(path: Path, *, depth: int = 4) -> tuple[list[str], list[str]]:
    """Return the options (`-f`, `--index-url`, …) and the requirements of a file, includes too."""
    options: list[str] = []
    lines: list[str] = []
    text = _text(path).replace("\\\n", " ")
    for line in (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.split("\n")):
        include = re.match(r"(?:-r|--requirement)[ =]*(\S+)", line)
        if include and depth:
            more = requirement_lines(path.parent / include.group(1), depth=depth - 1)
            options, lines = options + more[0], lines + more[1]
        elif line.startswith("-") and not re.match(r"-e|--editable", line):
            options += line.replace("=", " ", 1).split()
        elif line and not re.match(r"((-e|--editable)[ =]*)?\.$", line):
            # `.` is the project, which is installed on its own.
            lines.append(line)
    return options, lines


def conda_requirements(repo: Path) -> list[str]:
    """Return the `pip:` section of the first conda environment file."""
    for pattern in ("environment*.y*ml", "env.y*ml", "conda*.y*ml"):
        for path in sorted(repo.glob(pattern)):
            return _unique(_pip_section(_text(path).split("\n")))
    return []


def imports_torch(repo: Path) -> bool:
    """Say whether a Python file of the repository imports torch."""
    for place, folders, names in os.walk(str(repo)):
        folders[:] = [name for name in folders if name not in _SKIPPED_FOLDERS]
        for name in names:
            path = Path(place) / name
            if name.endswith(".py") and _IMPORTS_TORCH.search(_bytes(path)):
                return True
    return False


def _pip_section(lines: list[str]) -> Iterator[str]:
    margin: int | None = None
    for line in lines:
        content = re.sub(r"(^|\s)#.*", "", line).rstrip()
        indent = len(content) - len(content.lstrip())
        if re.match(r"\s*-\s*pip\s*:\s*$", content):
            margin = indent
        elif margin is not None and content:
            if indent <= margin:
                return
            yield content.strip().lstrip("-").strip().strip("'\"")


def _poetry(name: str, wanted: object) -> str | None:
    """Return a poetry dependency as a requirement; of `^1.2` and `~1.2` the lower bound."""
    table = cast("dict[str, Any]", wanted if isinstance(wanted, dict) else {"version": wanted})
    if name.lower() == "python" or table.get("optional") or "path" in table:
        return None
    if "git" in table:
        return f"{name} @ git+{table['git']}@{table.get('rev') or 'HEAD'}"
    extras = f"[{','.join(table['extras'])}]" if table.get("extras") else ""
    version = re.sub(r"[\^~]=?", ">=", str(table.get("version", "*")))
    if version[:1].isdigit():
        version = f"=={version}"
    return name + extras + ("" if version == "*" else version)


def _setup_keyword(repo: Path, keyword: str) -> Any:  # noqa: ANN401
    """Return a keyword of the call in setup.py where it is written out there."""
    try:
        tree = ast.parse(_text(repo / "setup.py"))
    except (SyntaxError, ValueError):
        return None
    assigned: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned[node.targets[0].id] = node.value
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == keyword:
            value = node.value
            value = assigned.get(value.id, value) if isinstance(value, ast.Name) else value
            try:
                return ast.literal_eval(value)
            except ValueError:
                return None
    return None


def _setup_cfg(repo: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_text(repo / "setup.cfg"))
    except configparser.Error:
        parser.clear()
    return parser


def _toml(repo: Path) -> dict[str, Any]:
    for name in ("tomllib", "pip._vendor.tomli", "tomli"):
        try:
            return importlib.import_module(name).loads(_text(repo / "pyproject.toml"))
        except ImportError:
            continue
        except ValueError:
            break
    return {}


def _text(path: Path) -> str:
    return _bytes(path).decode("utf-8", "replace").lstrip("\ufeff").replace("\r\n", "\n")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError:
        return b""


def _unique(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(line for line in lines if line))
