"""Tells modules that are really installed from stubs that only make an import resolve."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from reb_action.documents import answer_of
from reb_action.errors import SandboxError
from reb_action.model.observation import Interpreter
from reb_action.probing.room import Room, nonce
from reb_action.sandbox.protocol import Command

UNLISTED_BYTES: Final = 500
"""Code that a module must have if no distribution lists it: some twenty lines, no mere stub."""

_TIMEOUT_SECONDS: Final = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Module:
    """A module that stands in a search path; `listed` by the metadata of a distribution."""

    name: str
    listed: bool
    code_bytes: int

    @property
    def is_hollow(self) -> bool:
        """Whether there is too little behind the name to call it installed.

        A wheel or an editable install is listed. What was copied, or put on the path by hand, is
        not, and counts all the same if it is more than a stub.
        """
        return self.code_bytes < (1 if self.listed else UNLISTED_BYTES)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    modules: tuple[Module, ...]


def hollow_modules(room: Room, interpreter: Interpreter, names: Collection[str]) -> tuple[str, ...]:
    """Return which of the names only stubs stand for; raises SandboxError when no answer comes."""
    question = {"search_paths": list(interpreter.search_paths), "names": sorted(names)}
    asked = room.ask(f"installed-{nonce()}", question)
    ended = room.sandbox.run(
        Command(
            argv=(room.sandbox.trusted_python, "-I", "-S", room.probe("installed"), asked),
            cwd=room.layout.workspace,
            timeout_seconds=_TIMEOUT_SECONDS,
        )
    )
    seen = answer_of(ended.stdout, _Answer)
    if seen is None:
        why = ended.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise SandboxError(f"what is installed cannot be seen: {why or 'no answer'}; run it again")
    return tuple(module.name for module in seen.modules if module.is_hollow)
