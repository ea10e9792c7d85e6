"""What every probe is given: the sandbox, its mount, and the environment of the probe phase."""

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from reb_action.model.manifest import Manifest
from reb_action.model.report import Report
from reb_action.resources import data_folder
from reb_action.sandbox.layout import SandboxLayout
from reb_action.sandbox.local.files import remove_tree
from reb_action.sandbox.protocol import Command, Ended, Sandbox

_LEAST_SECONDS: Final = 1.0
_SYSTEM_PATH: Final = "/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin"

_QUIET: Final[Mapping[str, str]] = {
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PYTHONUNBUFFERED": "1",
    "WANDB_MODE": "offline",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # Git refuses a checkout of another user, and in a sandbox that can, this one is root's.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}

OFFLINE: Final[Mapping[str, str]] = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
}
"""Turns a hub look-up, which cannot work without a network, into an error instead of a wait."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeContext:
    """The environment of probes; `mount` is the harness side of `layout.tools`, unseen by the
    agent.

    `hidden` are values that no log may show. `ends_at` is the time, of `time.monotonic`, at which
    all commands together must have ended; None where only each has a limit of its own.
    """

    sandbox: Sandbox
    mount: Path
    manifest: Manifest
    hidden: tuple[str, ...] = ()
    ends_at: float | None = None

    @property
    def layout(self) -> SandboxLayout:
        """Return where things are inside."""
        return self.sandbox.layout

    def probe(self, name: str) -> str:
        """Return the path of a probe inside the sandbox."""
        return f"{self.layout.tools}/probes/{name}.py"

    def run(self, command: Command) -> Ended:
        """Run a command of the harness once no process of an earlier one is left."""
        self.clear()
        seconds = self.limit_seconds(command.timeout_seconds)
        return self.sandbox.run(replace(command, timeout_seconds=seconds))

    def limit_seconds(self, seconds: float) -> float:
        """Return the time limit of a command that asks for so many seconds."""
        if self.ends_at is None:
            return seconds
        return max(min(seconds, self.ends_at - time.monotonic()), _LEAST_SECONDS)

    def clear(self) -> tuple[str, ...]:
        """End the processes that earlier commands left, and return their names.

        Restores the probes where commands can change them; in a container their mount is read-only.
        """
        names = self.sandbox.clear()
        if not self.sandbox.separates_users:
            reveal(self.mount, self.manifest)
        return names

    def ask(self, name: str, question: object) -> str:
        """Write a question to the mount and return its path inside the sandbox."""
        place = self.mount / "questions" / f"{name}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(question), encoding="utf-8")
        return f"{self.layout.tools}/questions/{place.name}"


def reveal(mount: Path, manifest: Manifest) -> None:
    """Fill the mount with the probes and the manifest's files; only after the freeze. A correct

    folder is kept; any other is made again.
    """
    folder = data_folder("probes")
    paths = (*folder.glob("*.py"), *folder.glob("*/*.so"))
    probes = {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    files = {name: text.encode() for name, text in manifest.files.items()}
    for place, wanted in ((mount / "probes", probes), (mount / "files", files)):
        if wanted and not _holds(place, wanted):
            remove_tree(place)
            place.mkdir(parents=True)
            for name, content in wanted.items():
                (place / name).parent.mkdir(exist_ok=True)
                (place / name).write_bytes(content)


def _holds(place: Path, wanted: Mapping[str, bytes]) -> bool:
    """Return whether a folder has just these regular files, links to folders being none."""
    if place.is_symlink() or not place.is_dir():
        return False
    found = (path for path in place.rglob("*") if path.is_symlink() or not path.is_dir())
    paths = {str(path.relative_to(place)): path for path in found}
    return paths.keys() == wanted.keys() and all(
        not path.is_symlink()
        and path.is_file()
        and path.stat().st_size == len(wanted[name])
        and path.read_bytes() == wanted[name]
        for name, path in paths.items()
    )


def make_nonce() -> str:
    """Return a random name that the agent cannot have known before."""
    return secrets.token_hex(16)


def build_environment(
    context: ProbeContext, report: Report, extra: Mapping[str, str]
) -> dict[str, str]:
    """Return all variables of a probe: the harness's, then the report's, then `extra`.

    PATH starts with the folder of the reported interpreter, as after activation.
    """
    own = str(Path(report.python_path).parent)
    front = [own, *(entry for entry in report.environment.get("PATH", "").split(":") if entry)]
    named = {key: value for key, value in report.environment.items() if key != "PATH"}
    path = ":".join((*front, _SYSTEM_PATH))
    return {**_QUIET, "HOME": context.layout.home, "PATH": path, **named, **extra}
