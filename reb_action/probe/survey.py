"""Surveys the sandbox's files with the trusted interpreter, and restores the commit's files."""

import os
from dataclasses import asdict, dataclass
from typing import Final

from reb_action.documents import answer_of, show
from reb_action.errors import SandboxError
from reb_action.model.agent import Change, Touched
from reb_action.probe.context import ProbeContext, make_nonce
from reb_action.probe.hooks import StartedInterpreter
from reb_action.sandbox.protocol import Command, Ended
from reb_action.source.pristine import Source
from reb_action.source.source_archive import pack_files

_TIMEOUT_SECONDS: Final = 600
_OUTPUT_LIMIT: Final = 64 * 1024 * 1024
_TOLD: Final = 10_000
# From env if the folder or the interpreter is missing; from Python if the probe is missing.
_NOT_BEGUN: Final = (125, 126, 127, 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class InterpreterFile:
    """The file of the reported interpreter, observed without running it.

    `identity` is a hash of the file, of the symlinks that lead to it and of their pyvenv.cfg.
    `versions` are the texts in a CPython binary that look like its version; empty if a library
    has the interpreter, or if the program is not CPython.
    """

    resolved: str
    kind: str
    cpython: bool
    identity: str = ""
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """`touched` pairs a tracked file, by its index, with its change; `native` were built in place.

    `shadows` were in the place of tracked folders and modules and were moved away; `stuck` could
    not be moved. `stamps` are the kernel's change times of the tracked files, in ns. `hooks` run at
    each start of the interpreter. `fault`: why there is no observation.
    """

    touched: tuple[tuple[int, Change], ...] = ()
    shadows: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()
    native: tuple[str, ...] = ()
    interpreter: InterpreterFile | None = None
    stamps: tuple[int, ...] = ()
    hooks: tuple[str, ...] = ()
    fault: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """Differences from the commit; `fault`: why they remain, so that no run is possible.

    `stamps` are those of `Survey`, after everything was restored.
    """

    touched: tuple[Touched, ...] = ()
    stamps: tuple[int, ...] = ()
    fault: str | None = None


def survey(
    context: ProbeContext,
    source: Source,
    *,
    interpreter: StartedInterpreter | None = None,
    python: str | None = None,
) -> Survey:
    """Compare the checkout with the commit, and move conflicting files away.

    `interpreter` asks for the interpreter's file and its start-up hooks, `python` for the file
    only. If the sandbox's files end or delay the survey, that is a finding: `fault`. Raises
    SandboxError if the survey could not start.
    """
    question = {
        "repository": context.layout.repository,
        "folders": [context.layout.workspace, context.layout.runs, context.layout.home],
        "removed": f"{context.layout.workspace}/.removed-{make_nonce()}",
        "interpreter": interpreter.python if interpreter else python,
        "start": interpreter and asdict(interpreter),
        "tracked": [
            [file.path, file.is_executable, file.is_link, file.size_bytes, file.blob_sha1]
            for file in source.files
        ],
    }
    asked = context.ask(f"survey-{make_nonce()}", question)
    ended = context.run(
        Command(
            argv=(context.sandbox.trusted_python, "-I", "-S", context.probe("survey"), asked),
            # A folder of the harness, which exists even if the agent removed its own folders.
            cwd=context.layout.tools,
            timeout_seconds=_TIMEOUT_SECONDS,
            output_limit_bytes=_OUTPUT_LIMIT,
        )
    )
    seen = answer_of(ended.stdout, Survey) if ended.exit_code == 0 else None
    if seen is not None:
        return seen
    if ended.exit_code in _NOT_BEGUN:
        raise SandboxError(f"the sandbox cannot be surveyed: {_why(ended)}; run it again")
    return Survey(fault=f"the files that the agent left cannot be looked at: {_why(ended)}")


def look_at_interpreter(context: ProbeContext, python: str) -> InterpreterFile | None:
    """Return the current state of an interpreter's file, None if it cannot be read."""
    ended = context.run(
        Command(
            argv=(context.sandbox.trusted_python, "-I", "-S", context.probe("program"), python),
            cwd=context.layout.tools,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    )
    return answer_of(ended.stdout, InterpreterFile) if ended.exit_code == 0 else None


def describe_change(python: str, known: str | None, now: InterpreterFile | None) -> str | None:
    """Return how an interpreter differs from the examined one, None if it does not.

    `known` is its identity at the examination; None in older records.
    """
    if known is None or (now is not None and now.identity == known):
        return None
    kind = "cannot be looked at" if now is None else f"is now of the kind {show(now.kind)}"
    return f"{python} is not the program that was examined after the agent had ended: it {kind}"


def restore(context: ProbeContext, source: Source, seen: Survey) -> Restored:
    """Put tracked files back as they are at the commit, and make sure that they are."""
    if seen.fault is not None:
        return Restored(fault=seen.fault)
    touched = _touched(source, seen)
    if seen.touched:
        archive = pack_files(source, [source.files[index].path for index, _ in seen.touched])
        protect(context, archive)
    left = survey(context, source) if touched else seen
    names = (*left.stuck, *(source.files[index].path for index, _ in left.touched if touched))
    fault = left.fault
    if names and fault is None:
        fault = f"the checkout could not be restored to its commit: {show(names[0])} stays as it is"
    return Restored(touched=touched, stamps=left.stamps, fault=fault)


def protect(context: ProbeContext, archive: bytes) -> None:
    """Put files into the checkout, read-only for the runs if the sandbox separates users.

    Files that an entry point of the manifest changes itself stay writable.
    """
    entrypoints = context.manifest.entrypoints.values()
    writable = frozenset(path for entrypoint in entrypoints for path in entrypoint.writes)
    context.sandbox.protect(context.layout.repository, archive, writable=writable)


def escape_path(path: str) -> str:
    """Return a tracked path as text, with surrogates for bytes that are not UTF-8."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _touched(source: Source, seen: Survey) -> tuple[Touched, ...]:
    """Return the changes for the verdict; the first ones if there are very many."""
    changed = [(escape_path(source.files[index].path), change) for index, change in seen.touched]
    shadows = [(path, Change.SHADOWED) for path in seen.shadows]
    told = (*changed[:_TOLD], *shadows[:_TOLD])
    return tuple(Touched(path=path, change=change) for path, change in told)


def _why(ended: Ended) -> str:
    if ended.timed_out:
        return f"no answer within {ended.seconds:.0f} s"
    last = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"exit code {ended.exit_code} {show(last) if last else ''}".strip()
