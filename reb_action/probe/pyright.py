"""Runs pyright on a tree in the sandbox, and determines the party at fault if it fails."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from reb_action.documents import NotJsonError, parse_json
from reb_action.errors import ToolchainError
from reb_action.imports import Unresolved, read_unresolved
from reb_action.probe import toolchain
from reb_action.probe.context import ProbeContext, make_nonce
from reb_action.probe.package_names import Names, write_names
from reb_action.sandbox.protocol import Command, Ended

_TIMEOUT_SECONDS: Final = 1200
_OUTPUT_LIMIT: Final = 64 * 1024 * 1024
_NOWHERE: Final = toolchain.SearchPaths(version=(3, 11), prefix="", paths=())
_KILLED: Final = (-9, 137)
_EMPTY: Final = "empty"
_NAMES: Final = "names"


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """The input of pyright: files by their path, and the search paths of other modules.

    `links` are the symlinks that stay in the repository, from path to target in it. `names` replace
    the content of a search path.
    """

    files: Mapping[str, bytes]
    search: toolchain.SearchPaths
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    names: Mapping[str, Names] = field(default_factory=dict[str, Names])


def resolve(context: ProbeContext, tree: Tree) -> Unresolved | str:
    """Return the imports that pyright does not find, or how the environment makes pyright fail.

    If pyright also fails without the environment, raises ToolchainError.
    """
    seen = _run(context, tree)
    if isinstance(seen, Unresolved):
        return seen
    resolve_alone(context, tree)
    return f"pyright cannot analyse this environment: {seen}"


def resolve_alone(context: ProbeContext, tree: Tree) -> Unresolved:
    """Return what pyright does not find without any environment; ToolchainError if it cannot."""
    seen = _run(context, replace(tree, search=_NOWHERE))
    if isinstance(seen, Unresolved):
        return seen
    raise ToolchainError(f"pyright does not work in the sandbox: {seen}; run it again")


def _run(context: ProbeContext, tree: Tree) -> Unresolved | str:
    place = f"imports-{make_nonce()}"
    try:
        _lay_out(context, tree, place)
        return _answer(_pyright(context, place))
    finally:
        shutil.rmtree(context.mount / place, ignore_errors=True)


def _lay_out(context: ProbeContext, tree: Tree, place: str) -> None:
    folder = context.mount / place
    # Without any search path, pyright would use another interpreter.
    empty = f"{context.layout.tools}/{place}/{_EMPTY}"
    paths = tuple(
        f"{context.layout.tools}/{place}/{_NAMES}/{number}" if path in tree.names else path
        for number, path in enumerate(tree.search.paths)
    )
    search = replace(tree.search, paths=(*paths, empty))
    toolchain.write_tree(folder, files=tree.files.items(), links=tree.links.items(), search=search)
    (folder / _EMPTY).mkdir()
    for number, path in enumerate(tree.search.paths):
        if path in tree.names:
            write_names(folder / _NAMES / str(number), tree.names[path], origin=path)


def _pyright(context: ProbeContext, place: str) -> Ended:
    tools = context.layout.tools
    return context.run(
        Command(
            argv=toolchain.build_command(tools=f"{tools}/toolchain", folder=f"{tools}/{place}"),
            cwd=tools,
            timeout_seconds=_TIMEOUT_SECONDS,
            env=toolchain.ENVIRONMENT,
            output_limit_bytes=_OUTPUT_LIMIT,
        )
    )


def _answer(ended: Ended) -> Unresolved | str:
    if ended.timed_out:
        return f"it had not ended after {ended.seconds:.0f} s"
    if b"heap out of memory" in ended.stderr:
        return f"it needs more than {toolchain.HEAP_MIB} MiB of memory"
    if ended.exit_code in _KILLED:
        return "it was killed, as when memory runs out"
    if ended.exit_code not in toolchain.FINISHED:
        last = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"exit code {ended.exit_code} {last[:200]}".strip()
    try:
        return read_unresolved(parse_json(ended.stdout))
    except NotJsonError as error:
        return f"its answer is not JSON: {error}"
    except ToolchainError as error:
        return str(error)
