"""Looks at the sandbox's files with the trusted interpreter, and puts the commit's own back."""

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
# By env, where the folder or the interpreter is not there; by Python, where the probe is not.
_NOT_BEGUN: Final = (125, 126, 127, 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class InterpreterFile:
    """What a file named as interpreter is, seen without running it.

    `identity` is a hash of the file, of the links that lead to it and of their pyvenv.cfg.
    `versions` are the texts in a CPython program that look like its version; none where a library
    has the interpreter, or where the program is not a CPython.
    """

    resolved: str
    kind: str
    cpython: bool
    identity: str = ""
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """`touched` pairs a tracked file, by its index, with its change; `native` were built in place.

    `shadows` stood in the place of tracked folders and modules and were moved away; `stuck` is what
    could not be. `stamps` are when each tracked file last changed, in ns, as the kernel keeps it.
    `hooks` are what the interpreter runs at each start. `fault` says why nothing was seen.
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
    """What was not as at the commit; `fault` says why it is not now, so that nothing can run.

    `stamps` are those of `Survey`, after everything was put back.
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
    """Hold the checkout against the commit, and move away what stands in its way.

    `interpreter` asks for what the interpreter is and runs at each start, `python` for the first.
    What ends or delays the look lies in the sandbox's files, and so is a finding: `fault`. Raises
    SandboxError where the look could not even begin.
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
            # Of ours, so that it is there whatever the agent did to its own folders.
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
    """Return what the file of an interpreter is now, None where it cannot be looked at."""
    ended = context.run(
        Command(
            argv=(context.sandbox.trusted_python, "-I", "-S", context.probe("program"), python),
            cwd=context.layout.tools,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    )
    return answer_of(ended.stdout, InterpreterFile) if ended.exit_code == 0 else None


def describe_change(python: str, known: str | None, now: InterpreterFile | None) -> str | None:
    """Return how an interpreter differs from the one that was examined, None if it does not.

    `known` is its identity then; None stands in records of before it was kept.
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
        fault = f"the checkout cannot be made as at the commit: {show(names[0])} stays as it is"
    return Restored(touched=touched, stamps=left.stamps, fault=fault)


def protect(context: ProbeContext, archive: bytes) -> None:
    """Put files into the checkout, out of reach of the runs, in a sandbox that can keep them so.

    What an entry point of the manifest changes itself stays within reach.
    """
    entrypoints = context.manifest.entrypoints.values()
    writable = frozenset(path for entrypoint in entrypoints for path in entrypoint.writes)
    context.sandbox.protect(context.layout.repository, archive, writable=writable)


def escape_path(path: str) -> str:
    """Return a tracked path as text: bytes that are no UTF-8 stand in it as surrogates."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _touched(source: Source, seen: Survey) -> tuple[Touched, ...]:
    """Return what a verdict tells of the changes: of very many, the first."""
    changed = [(escape_path(source.files[index].path), change) for index, change in seen.touched]
    shadows = [(path, Change.SHADOWED) for path in seen.shadows]
    told = (*changed[:_TOLD], *shadows[:_TOLD])
    return tuple(Touched(path=path, change=change) for path, change in told)


def _why(ended: Ended) -> str:
    if ended.timed_out:
        return f"no answer within {ended.seconds:.0f} s"
    last = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return f"exit code {ended.exit_code} {show(last) if last else ''}".strip()
