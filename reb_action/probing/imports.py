"""Has pyright resolve the imports of the repository; the observation of C0."""

import shutil
import time
from pathlib import Path
from typing import Final

from reb_action import imports, toolchain
from reb_action.documents import NotJsonError, parse_json
from reb_action.errors import SandboxError, ToolchainError
from reb_action.model.observation import ImportsObservation, Interpreter
from reb_action.probing.installed import hollow_modules
from reb_action.probing.room import Room, nonce
from reb_action.sandbox.protocol import Command, Ended
from reb_action.source import Source

_TIMEOUT_SECONDS: Final = 1200
_OUTPUT_LIMIT: Final = 64 * 1024 * 1024


def observe_imports(
    room: Room, source: Source, interpreter: Interpreter, native: tuple[str, ...]
) -> ImportsObservation:
    """Return which imports pyright does not resolve; `native` are modules built in the checkout."""
    tools = toolchain.find_toolchain()
    _place(tools, room.mount / "toolchain")
    begun, place = time.monotonic(), f"imports-{nonce()}"
    texts = sources(source)
    _lay_out(room, source, texts, interpreter, native, place)
    try:
        unresolved = imports.read_unresolved(_pyright(room, place))
    finally:
        shutil.rmtree(room.mount / place, ignore_errors=True)
    by_file = {path: imports.imported_names(text) for path, text in texts.items()}
    names = frozenset[str]().union(*by_file.values())
    local = imports.local_names(by_file)
    third_party = imports.third_party(names, local=local)
    return ImportsObservation(
        total=len(names),
        missing=tuple(sorted(unresolved.missing)),
        third_party=tuple(sorted(third_party)),
        stub_only=tuple(sorted(unresolved.stub_only)),
        hollow=hollow_modules(room, interpreter, third_party - unresolved.missing),
        local=tuple(sorted(local)),
        files=len(texts),
        pyright=tools.version,
        seconds=round(time.monotonic() - begun, 2),
    )


def _place(tools: toolchain.Toolchain, target: Path) -> None:
    if target.exists():
        return
    # Whole or not at all: an earlier step may have been killed while it did this.
    part = target.with_name(f"toolchain-{nonce()}")
    toolchain.place(tools, part)
    part.replace(target)


def sources(source: Source) -> dict[str, bytes]:
    """Return the files that count at C0, by their paths."""
    found: dict[str, bytes] = {}
    for file in source.files:
        path = source.folder / file.path
        if imports.is_counted(file.path) and path.is_file() and not path.is_symlink():
            found[file.path] = path.read_bytes()
    return found


def _lay_out(
    room: Room,
    source: Source,
    texts: dict[str, bytes],
    interpreter: Interpreter,
    native: tuple[str, ...],
    place: str,
) -> None:
    reduced = {path: imports.sufficient_source(text) for path, text in texts.items()}
    others = {
        file.path: (source.folder / file.path).read_bytes() if file.path.endswith(".pyi") else b""
        for file in source.files
        if file.path.endswith((".py", ".pyi", ".so")) and file.path not in reduced
    }
    files = {**dict.fromkeys(native, b""), **others, **reduced}
    major, minor = (interpreter.version or "3.11").split(".")[:2]
    search = toolchain.SearchPaths(
        version=(int(major), int(minor)),
        prefix=interpreter.prefix or "",
        paths=interpreter.search_paths,
    )
    toolchain.lay_out(room.mount / place, files=files.items(), search=search)


def _pyright(room: Room, place: str) -> object:
    tools = room.layout.tools
    ended = room.sandbox.run(
        Command(
            argv=toolchain.argv(tools=f"{tools}/toolchain", folder=f"{tools}/{place}"),
            cwd=room.layout.tools,
            timeout_seconds=_TIMEOUT_SECONDS,
            env=toolchain.ENVIRONMENT,
            output_limit_bytes=_OUTPUT_LIMIT,
        )
    )
    if ended.exit_code not in toolchain.FINISHED:
        raise SandboxError(f"pyright did not end well in the sandbox: {_why(ended)}; run it again")
    try:
        return parse_json(ended.stdout)
    except NotJsonError as error:
        raise ToolchainError(f"pyright's answer is not JSON: {error}; run it again") from None


def _why(ended: Ended) -> str:
    if ended.timed_out:
        return f"no answer within {_TIMEOUT_SECONDS} s"
    last = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"exit code {ended.exit_code} {last[:200]}".strip()
