"""Places an agent in a sandbox, runs it to its end or deadline, and says how it ended."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reb_action import __version__
from reb_action.agents.environment import base, fill, values
from reb_action.agents.log import AgentLog
from reb_action.agents.spec import AgentLimits, AgentSpec, Stdin
from reb_action.archive import Member, pack
from reb_action.errors import SandboxError
from reb_action.model.agent import AgentRun, Ending
from reb_action.report import LIMIT_BYTES
from reb_action.sandbox.protocol import Command, Ended, FileFault, Sandbox, User

_NO_PROGRAM: Final = 3
# One command and not three: each costs a container a tenth of a second.
_PREPARE: Final = f"""
import os, shutil, sys
report, tmp, program = sys.argv[1:]
if os.path.isdir(report) and not os.path.islink(report):
    shutil.rmtree(report)
elif os.path.lexists(report):
    os.unlink(report)
os.makedirs(tmp, exist_ok=True)
sys.exit(0 if shutil.which(program) else {_NO_PROGRAM})
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Launch:
    """All that one run of an agent needs, with every name in braces replaced."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: tuple[Member, ...]
    stdin: bytes
    tmp: str


def drive(
    sandbox: Sandbox,
    spec: AgentSpec,
    *,
    prompt: str,
    limits: AgentLimits,
    secrets: Mapping[str, str],
    settings: Mapping[str, str],
    log: Path,
) -> AgentRun:
    """Run an agent; whatever it does is a result, and only a broken sandbox raises SandboxError.

    `secrets` are variables that this one command gets, `settings` those of `environment.settings`.
    """
    began = time.monotonic()
    launch = _launch(sandbox, spec, prompt=prompt, limits=limits, settings=settings)
    fault = _set_up(sandbox, launch, deadline=began + limits.setup_seconds)
    setup_seconds = time.monotonic() - began
    if fault is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{fault}\n", encoding="utf-8")
        return _run(spec, Ending.SETUP_FAILED, fault, ended=None, setup_seconds=setup_seconds)
    ended = _start(sandbox, launch, limits=limits, secrets=secrets, log=log)
    left = sandbox.read(sandbox.layout.report, limit_bytes=LIMIT_BYTES)
    ending, detail = _judge(ended, left, limits)
    return _run(spec, ending, detail, ended=ended, setup_seconds=setup_seconds)


def _launch(
    sandbox: Sandbox,
    spec: AgentSpec,
    *,
    prompt: str,
    limits: AgentLimits,
    settings: Mapping[str, str],
) -> _Launch:
    known = values(sandbox.layout, deadline_seconds=limits.total_seconds)
    own = {name: fill(text, known) for name, text in spec.env.items()}
    files = tuple(
        Member(
            path=file.name,
            content=fill(file.content.decode(), known).encode() if file.text else file.content,
            executable=file.executable,
        )
        for file in spec.files
    )
    return _Launch(
        argv=tuple(_words(spec, known)),
        env={**base(known), **settings, **own},
        files=(*files, Member(path="prompt.md", content=prompt.encode())),
        stdin=prompt.encode() if spec.stdin is Stdin.PROMPT else b"",
        tmp=known["tmp"],
    )


def _words(spec: AgentSpec, known: Mapping[str, str]) -> Iterable[str]:
    # What the user typed stays as it is: it may hold braces of its own.
    for word in spec.argv:
        yield from spec.command if word == "{command}" else (fill(word, known),)


def _set_up(sandbox: Sandbox, launch: _Launch, *, deadline: float) -> str | None:
    layout = sandbox.layout
    sandbox.put(layout.agent, pack(launch.files), user=User.ROOT)
    # As the agent, who owns these places: a root without capabilities could not.
    argv = (sandbox.trusted_python, "-I", "-c", _PREPARE, layout.report, launch.tmp, launch.argv[0])
    seconds = max(deadline - time.monotonic(), 1.0)
    command = Command(argv=argv, cwd=layout.repository, timeout_seconds=seconds, env=launch.env)
    done = sandbox.run(command)
    if done.timed_out:
        return "the setup took longer than its limit"
    if done.exit_code == _NO_PROGRAM:
        return f"the sandbox has no program {launch.argv[0]}"
    if done.exit_code != 0:
        said = done.stderr.decode("utf-8", "replace").strip()[-200:]
        raise SandboxError(f"the agent's folders cannot be prepared ({said}); start it again")
    return None


def _start(
    sandbox: Sandbox,
    launch: _Launch,
    *,
    limits: AgentLimits,
    secrets: Mapping[str, str],
    log: Path,
) -> Ended:
    command = Command(
        argv=launch.argv,
        cwd=sandbox.layout.repository,
        timeout_seconds=limits.total_seconds,
        env=launch.env,
        secret_env=secrets,
        stdin=launch.stdin,
        output_limit_bytes=64 * 1024,
    )
    with AgentLog(log, secrets=secrets.values()) as written:
        return sandbox.run(
            command,
            stdout=lambda data: written.feed("stdout", data),
            stderr=lambda data: written.feed("stderr", data),
        )


def _judge(ended: Ended, left: bytes | FileFault, limits: AgentLimits) -> tuple[Ending, str | None]:
    """Say how an agent without a parser ended: by the clock, else by whether it left a report."""
    if ended.timed_out:
        return Ending.TIMED_OUT, f"it was ended after its limit of {limits.total_seconds} seconds"
    if isinstance(left, FileFault):
        ending = Ending.GAVE_UP if ended.exit_code == 0 else Ending.CRASHED
        return ending, f"it ended with {ended.exit_code} and {_NO_REPORT[left]}"
    if ended.exit_code != 0:
        return Ending.DONE, f"it ended with {ended.exit_code} although it left a report"
    return Ending.DONE, None


def _run(
    spec: AgentSpec,
    ending: Ending,
    detail: str | None,
    *,
    ended: Ended | None,
    setup_seconds: float,
) -> AgentRun:
    return AgentRun(
        agent=spec.name,
        version=__version__,
        ending=ending,
        exit_code=None if ended is None else ended.exit_code,
        seconds=0.0 if ended is None else round(ended.seconds, 3),
        setup_seconds=round(setup_seconds, 3),
        detail=detail,
    )


_NO_REPORT: Final = {
    FileFault.MISSING: "left no report",
    FileFault.NOT_A_FILE: "left a report that is no regular file",
    FileFault.TOO_LARGE: f"left a report of more than {LIMIT_BYTES} bytes",
}
