"""Reads the folders of a repository's packages from its build files."""

import ast
import configparser
import posixpath
import tomllib
from collections.abc import Iterator, Mapping
from typing import Final, cast

BUILD_FILES: Final = ("pyproject.toml", "setup.cfg", "setup.py")


def declared_roots(texts: Mapping[str, bytes]) -> frozenset[str]:
    """Return the folders from which the packages of a repository are built.

    `texts` has the build files by path. A folder with one is such a folder itself, as is its `src`;
    others are named by setuptools' `package-dir` and `where`, Poetry's `from`, and Hatchling's
    `packages`.
    """
    roots: set[str] = set()
    for path, text in texts.items():
        folder = posixpath.dirname(path)
        named = set(_named(posixpath.basename(path), text.decode("utf-8", "replace")))
        roots |= {folder, posixpath.join(folder, "src")}
        roots |= {posixpath.normpath(posixpath.join(folder, name)) for name in named}
    return frozenset("" if root == "." else root for root in roots if not root.startswith(".."))


def _named(name: str, text: str) -> Iterator[str]:
    match name:
        case "pyproject.toml":
            return _of_pyproject(text)
        case "setup.cfg":
            return _of_setup_cfg(text)
        case _:
            return _of_setup_py(text)


def _of_pyproject(text: str) -> Iterator[str]:
    try:
        tool = _table(_table(tomllib.loads(text)).get("tool"))
    except (ValueError, RecursionError):
        return
    setuptools = _table(tool.get("setuptools"))
    yield from _texts(list(_table(setuptools.get("package-dir")).values())[:1])
    yield from _texts(_table(_table(setuptools.get("packages")).get("find")).get("where"))
    for package in _list(_table(tool.get("poetry")).get("packages")):
        yield from _texts([_table(package).get("from")])
    wheel = _table(_table(_table(tool.get("hatch")).get("build")).get("targets")).get("wheel")
    yield from map(posixpath.dirname, _texts(_table(wheel).get("packages")))


def _of_setup_cfg(text: str) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for line in parser.get("options", "package_dir", fallback="").splitlines():
        before, equals, folder = line.partition("=")
        if equals and not before.strip():
            yield folder.strip()
    yield from parser.get("options.packages.find", "where", fallback="").split()


def _of_setup_py(text: str) -> Iterator[str]:
    try:
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for call in calls:
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        if name in ("find_packages", "find_namespace_packages"):
            where = [one.value for one in call.keywords if one.arg == "where"]
            yield from filter(None, map(_constant, where or call.args[:1]))
        for keyword in call.keywords:
            if keyword.arg == "package_dir" and isinstance(keyword.value, ast.Dict):
                pairs = zip(keyword.value.keys, keyword.value.values, strict=True)
                roots = [value for key, value in pairs if key is not None and _constant(key) == ""]
                yield from filter(None, map(_constant, roots))


def _constant(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _table(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [item for item in _list(value) if isinstance(item, str)]
