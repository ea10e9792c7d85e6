"""Tells modules that are really installed from stubs that only make an import resolve."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reb_action.documents import answer_of
from reb_action.errors import SandboxError
from reb_action.model.observation import Interpreter
from reb_action.probe.context import ProbeContext, make_nonce
from reb_action.sandbox.protocol import Command, Ended

UNLISTED_BYTES: Final = 500
"""Code that a module must have if no distribution lists it: some twenty lines, no mere stub."""

_TIMEOUT_SECONDS: Final = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Module:
    """A module in a search path; `listed` in the metadata of a distribution."""

    name: str
    listed: bool
    code_bytes: int

    @property
    def is_hollow(self) -> bool:
        """Whether there is too little code behind the name to call it installed.

        A wheel, an editable install and a folder in a .pth file are listed. A module that was only
        copied into a search path is not listed, and counts if it is more than a stub.
        """
        return self.code_bytes < (1 if self.listed else UNLISTED_BYTES)


@dataclass(frozen=True, kw_only=True, slots=True)
class InstalledModules:
    """The code behind the requested names; `fault`: why it cannot be determined.

    `built` are the native files of the checkout that are extension modules under their own name.
    """

    modules: tuple[Module, ...] = ()
    built: tuple[str, ...] = ()
    fault: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """Return the names with a module."""
        return frozenset(module.name for module in self.modules)

    @property
    def hollow(self) -> frozenset[str]:
        """Return the names with stubs only."""
        return frozenset(module.name for module in self.modules if module.is_hollow)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What to search: top-level `names`, and `native` files that may be extension modules.

    `skipped` are paths of the repository's own modules, which do not count; `led` are [name, path]
    of modules that the interpreter finds outside its search paths.
    """

    names: Collection[str]
    native: Sequence[str] = ()
    skipped: Sequence[str] = ()
    led: Sequence[tuple[str, str]] = ()


_NOTHING: Final = Wanted(names=())


def inspect_modules(
    context: ProbeContext, interpreter: Interpreter, wanted: Wanted
) -> InstalledModules:
    """Search code behind names; raises SandboxError only if the search itself does not work."""
    asked = _question(interpreter.search_paths, wanted)
    ended = _ask(context, asked)
    seen = answer_of(ended.stdout, InstalledModules)
    if seen is not None:
        return seen
    nothing = _ask(context, _question((), _NOTHING))
    if answer_of(nothing.stdout, InstalledModules) is None:
        raise SandboxError(f"could not list what is installed: {why(nothing)}; run it again")
    return InstalledModules(fault=f"could not list what is installed: {why(ended)}")


def _question(search_paths: Sequence[str], wanted: Wanted) -> dict[str, object]:
    return {
        "search_paths": list(search_paths),
        "names": sorted(wanted.names),
        "native": list(wanted.native),
        "skipped": list(wanted.skipped),
        "led": [list(pair) for pair in wanted.led],
    }


def _ask(context: ProbeContext, question: Mapping[str, object]) -> Ended:
    asked = context.ask(f"stubs-{make_nonce()}", question)
    return context.run(
        Command(
            argv=(context.sandbox.trusted_python, "-I", "-S", context.probe("stubs"), asked),
            cwd=context.layout.tools,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    )


def why(ended: Ended) -> str:
    """Return how a probe without an answer ended."""
    if ended.timed_out:
        return f"no end within {ended.seconds:.0f} s"
    last = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return last[:200] or f"exit code {ended.exit_code}"
