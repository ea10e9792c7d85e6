"""Places an agent in a sandbox: its files, its environment and its words, every name filled in."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from reb_action.agents.environment import Model, base, fill, values
from reb_action.agents.spec import AgentFile, AgentSpec, Stdin
from reb_action.errors import SandboxError
from reb_action.model.fault import FaultCause
from reb_action.sandbox.archive import Member, pack
from reb_action.sandbox.layout import SandboxLayout
from reb_action.sandbox.protocol import Command, Sandbox, User

_KEY: Final = "{key}"
_NO_PROGRAM: Final = 3
# One command and not three: each costs a container a tenth of a second.
_PREPARE: Final = f"""
import os, shutil, sys
report, tmp, program, resumes = sys.argv[1:]
if resumes:
    pass
elif os.path.isdir(report) and not os.path.islink(report):
    shutil.rmtree(report)
elif os.path.lexists(report):
    os.unlink(report)
os.makedirs(tmp, exist_ok=True)
sys.exit(0 if shutil.which(program) else {_NO_PROGRAM})
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Launch:
    """The inputs of one run of an agent; only the agent's own command gets `secret_env`.

    `state` is None if the agent has no writable folder. With `resumes` the run continues
    earlier work, and the earlier report is kept.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    secret_env: Mapping[str, str] = field(repr=False)
    files: tuple[Member, ...]
    state: tuple[Member, ...] | None
    stdin: bytes
    tmp: str
    resumes: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SetupFault:
    """Why an agent could not be started."""

    detail: str
    cause: FaultCause | None


def launch(
    layout: SandboxLayout,
    spec: AgentSpec,
    *,
    prompt: str,
    deadline_seconds: int,
    settings: Mapping[str, str],
    model: Model | None,
    resumes: bool = False,
) -> Launch:
    """Return the inputs with which an agent is started, or resumed, in this sandbox."""
    known = values(layout, deadline_seconds=deadline_seconds, prompt=prompt, model=model)
    own = {name: fill(text, known) for name, text in spec.env.items() if _KEY not in text}
    keys = {name: fill(text, known) for name, text in spec.env.items() if _KEY in text}
    return Launch(
        argv=tuple(_words(spec.resume if resumes else spec.argv, spec, known)),
        env={**base(known), **settings, **own},
        secret_env=keys,
        files=(*_members(spec.files, known), Member(path="prompt.md", content=prompt.encode())),
        state=tuple(_members(spec.state, known)) if spec.dialect or spec.state else None,
        stdin=prompt.encode() if spec.stdin is Stdin.PROMPT else b"",
        tmp=known["tmp"],
        resumes=resumes,
    )


def writes_key(spec: AgentSpec) -> bool:
    """Return whether the key is in a file or in argv, and not only in a variable."""
    files = (*spec.files, *spec.state)
    return any(_KEY in word for word in (*spec.argv, *spec.resume)) or any(
        _KEY.encode() in file.content for file in files if file.text
    )


def place(sandbox: Sandbox, launch: Launch, *, deadline: float) -> SetupFault | None:
    """Put an agent's files into the sandbox; return why it cannot start, if it cannot.

    `deadline` is a time of the monotonic clock.
    """
    layout = sandbox.layout
    sandbox.put(layout.agent, pack(launch.files), user=User.ROOT)
    if launch.state is not None:
        sandbox.put(layout.state, pack(launch.state))
    # As the agent, because it owns these folders: root without capabilities could not.
    words = (layout.report, launch.tmp, launch.argv[0], "1" if launch.resumes else "")
    argv = (sandbox.trusted_python, "-I", "-c", _PREPARE, *words)
    seconds = max(deadline - time.monotonic(), 1.0)
    command = Command(argv=argv, cwd=layout.repository, timeout_seconds=seconds, env=launch.env)
    done = sandbox.run(command)
    if done.timed_out:
        return SetupFault(detail="the agent's files were not in place", cause=FaultCause.SETUP_SLOW)
    if done.exit_code == _NO_PROGRAM:
        detail = f"the sandbox has no program {launch.argv[0]}"
        return SetupFault(detail=detail, cause=FaultCause.PROGRAM_MISSING)
    if done.exit_code != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[-200:]
        raise SandboxError(
            f"the agent's folders could not be prepared ({said}); start the trial again"
        )
    return None


def replace_task(sandbox: Sandbox, launch: Launch) -> None:
    """Replace the task by another one; the rest of the sandbox stays as it is."""
    sandbox.put(sandbox.layout.agent, pack(launch.files), user=User.ROOT)


def _members(files: Iterable[AgentFile], known: Mapping[str, str]) -> Iterable[Member]:
    for file in files:
        text = fill(file.content.decode(), known).encode() if file.text else file.content
        yield Member(path=file.name, content=text, executable=file.executable)


def _words(argv: Iterable[str], spec: AgentSpec, known: Mapping[str, str]) -> Iterable[str]:
    # The user's argument is not expanded: it may contain braces.
    for word in argv:
        yield from spec.command if word == "{command}" else (fill(word, known),)
