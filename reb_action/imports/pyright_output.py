"""Reads from pyright's JSON which modules it did not find."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, cast

from reb_action.errors import ToolchainError

_MODULE: Final = re.compile(r'Import "([^"]+)" could not be resolved')
_SHOWN: Final = 120
_BROKEN: Final = "An internal error occurred while "


@dataclass(frozen=True, kw_only=True, slots=True)
class Unresolved:
    """Imports that pyright did not find: first components of absolute module names.

    `missing` has neither source nor stub (rule reportMissingImports, the paper's C0); `stub_only`
    has a stub that pyright bundles, but is not installed (rule reportMissingModuleSource). A name
    can be in both. `files` is the number of files that pyright says it analysed.
    """

    missing: frozenset[str]
    stub_only: frozenset[str]
    files: int


def read_unresolved(document: object) -> Unresolved:
    """Read the decoded `--outputjson` document; raises ToolchainError if it is not one.

    Relative imports yield no name: they are never part of the total.
    """
    report = _object(document, "the document")
    diagnostics = [_object(item, "a diagnostic") for item in _array(report, "generalDiagnostics")]
    if any(str(item.get("message")).startswith(_BROKEN) for item in diagnostics):
        # Its findings for that file are incomplete.
        raise ToolchainError("it failed on a file of the repository")
    return Unresolved(
        missing=frozenset(_modules(diagnostics, rule="reportMissingImports")),
        stub_only=frozenset(_modules(diagnostics, rule="reportMissingModuleSource")),
        files=_files(report),
    )


def _modules(diagnostics: list[dict[str, object]], *, rule: str) -> Iterator[str]:
    for diagnostic in diagnostics:
        if diagnostic.get("rule") == rule:
            name = _module(diagnostic.get("message")).partition(".")[0]
            if name:
                yield name


def _module(message: object) -> str:
    found = _MODULE.match(message) if isinstance(message, str) else None
    if found is None:
        raise _garbled(f"a diagnostic about an import names no module: {message!r:.{_SHOWN}}")
    return found[1]


def _files(report: dict[str, object]) -> int:
    files = _object(report.get("summary"), "`summary`").get("filesAnalyzed")
    if not isinstance(files, int) or isinstance(files, bool) or files < 0:
        raise _garbled(f"`filesAnalyzed` is not a count: {files!r:.{_SHOWN}}")
    return files


def _array(report: dict[str, object], key: str) -> list[object]:
    value = report.get(key)
    if not isinstance(value, list):
        raise _garbled(f"`{key}` is not an array")
    return cast("list[object]", value)


def _object(value: object, what: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _garbled(f"{what} is not an object")
    return cast("dict[str, object]", value)


def _garbled(clause: str) -> ToolchainError:
    return ToolchainError(
        f"pyright's answer cannot be read: {clause}. Is it the version that this release pins?"
    )
