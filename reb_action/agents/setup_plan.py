"""Turns the manifest's `setup` into shell lines: a list, a script, or a file that has commands.

The files of the repository are read as data, on the side of the harness. A Dockerfile is not
built: its RUN lines run in the sandbox, in the checkout. What needs root is left out and named.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, cast

from reb_action.agents.spec import AgentFile
from reb_action.documents import Json, dump_json, read_bytes, show
from reb_action.errors import DocumentError, UsageError
from reb_action.model.manifest import Level, Manifest, Setup

_LIMIT_BYTES: Final = 256 * 1024
_IMAGE: Final = re.compile(r"\bpython:(?:\d+-)?(3\.\d{1,2})\b")
_ROOT: Final = re.compile(
    r"\s*(?:sudo\s+)?(?:apt-get|apt|yum|dnf|apk|useradd|groupadd|chown|ln\s+-\S*\s+/)\b"
)
_CLEANING: Final = re.compile(r"\s*rm\s+-rf?\s+/var/")
_COMMANDS: Final = ("onCreateCommand", "updateContentCommand", "postCreateCommand")


@dataclass(frozen=True, kw_only=True, slots=True)
class SetupPlan:
    """Shell lines in order; `python` is the version that the instructions name, None for any.

    `conda`: the lines make a conda environment at `{prefix}` with the tool `{conda}`. `skipped` are
    commands that are left out, because they need root.
    """

    lines: tuple[str, ...]
    python: str | None = None
    conda: bool = False
    skipped: tuple[str, ...] = ()


def write_setup(manifest: Manifest, checkout: Path) -> AgentFile:
    """Return `setup.json` for the agent documented; raises UsageError, DocumentError."""
    if manifest.setup is None:
        raise UsageError(
            f"the manifest of {manifest.repository} has no setup, which the agent documented"
            " follows; write the lines of the README under setup:"
        )
    plan = read_setup(manifest.setup, checkout)
    content: Json = {
        "lines": [*plan.lines],
        "python": plan.python,
        "conda": plan.conda,
        "skipped": [*plan.skipped],
        "command": _command(manifest),
    }
    return AgentFile(name="setup.json", content=dump_json(content))


def read_setup(setup: Setup, checkout: Path) -> SetupPlan:
    """Return the lines of a setup, from the files of a checkout; raises DocumentError."""
    if setup.script is not None:
        return SetupPlan(lines=(f"bash {shlex.quote(setup.script)}",))
    if setup.environment is not None:
        file = shlex.quote(setup.environment)
        return SetupPlan(lines=(f"{{conda}} env create --yes -p {{prefix}} -f {file}",), conda=True)
    if setup.dockerfile is not None:
        return _read_dockerfile(_text(checkout, setup.dockerfile))
    if setup.devcontainer is not None:
        return _read_devcontainer(checkout, setup.devcontainer)
    return SetupPlan(lines=setup.lines)


def _command(manifest: Manifest) -> Json:
    """Return C1's entry point, or None if only the harness can run it."""
    entrypoint = manifest.entrypoints.get(Level.C1)
    if entrypoint is None or manifest.assets:
        return None
    return {
        "argv": [*entrypoint.argv],
        "cwd": entrypoint.cwd,
        "env": dict(entrypoint.env),
        "timeout_seconds": entrypoint.timeout_seconds,
        "files": dict(manifest.files),
    }


def _text(checkout: Path, path: str) -> str:
    place = checkout / path
    if not place.resolve().is_relative_to(checkout.resolve()):
        raise DocumentError(f"{show(path)} leads out of the checkout; name a file in it")
    return read_bytes(place, limit=_LIMIT_BYTES).decode("utf-8", "replace")


def _read_dockerfile(text: str) -> SetupPlan:
    """Return the commands of a Dockerfile's last stage."""
    lines: list[str] = []
    skipped: list[str] = []
    python = None
    for word, rest in _instructions(text):
        match word:
            case "FROM":
                lines.clear()
                skipped.clear()
                found = _IMAGE.search(rest)
                python = found[1] if found else None
            case "ENV" | "ARG":
                lines += _exports(rest)
            case "WORKDIR" if not rest.startswith(("/", "$")):
                lines.append(f"cd {shlex.quote(rest)}")
            case "RUN":
                kept, left_out = _without_root(_shell(rest))
                lines += [kept] if kept else []
                skipped += left_out
            case _:
                continue
    return SetupPlan(lines=tuple(lines), python=python, skipped=tuple(skipped))


def _instructions(text: str) -> Iterator[tuple[str, str]]:
    kept = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\s*\n", " ", "\n".join(kept)).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word:
            yield word.upper(), re.sub(r"^(?:--\S+\s+)+", "", rest.strip())


def _shell(rest: str) -> str:
    """Return a RUN as a shell line, also if it is a JSON list of words."""
    if rest.startswith("["):
        try:
            return shlex.join(cast(list[str], json.loads(rest)))
        except (ValueError, TypeError):
            return rest
    return rest


def _without_root(line: str) -> tuple[str, list[str]]:
    """Return a shell line without the commands that install system packages, and these."""
    parts = re.split(r"\s*&&\s*", line)
    root = [part for part in parts if _ROOT.match(part)]
    kept = [part for part in parts if not _ROOT.match(part) and not _CLEANING.match(part)]
    return " && ".join(kept), root


def _exports(rest: str) -> Iterator[str]:
    name, space, value = rest.partition(" ")
    if "=" not in name:
        # The old form of ENV, without an equals sign; an ARG without a value sets nothing.
        if space:
            yield f"export {name}={shlex.quote(value)}"
        return
    try:
        pairs = shlex.split(rest)
    except ValueError:
        raise DocumentError(f"a Dockerfile has {show(rest)}, which is not readable") from None
    for pair in pairs:
        key, _, text = pair.partition("=")
        # Double quotes, because a value may name an earlier variable.
        yield f'export {key}="{text}"'


def _read_devcontainer(checkout: Path, path: str) -> SetupPlan:
    """Return the commands of a devcontainer: its Dockerfile's, then its own."""
    try:
        value: object = json.loads(_strip_comments(_text(checkout, path)))
    except ValueError as error:
        raise DocumentError(f"{path} is not readable as JSON: {error}") from None
    if not isinstance(value, dict):
        raise DocumentError(f"{path} is not an object of JSON")
    content = cast(Mapping[str, object], value)
    build = cast(Mapping[str, object], content.get("build") or {})
    file = build.get("dockerfile") or content.get("dockerFile")
    found = _IMAGE.search(str(content.get("image", "")))
    plan = SetupPlan(lines=(), python=found[1] if found else None)
    if isinstance(file, str):
        place = PurePosixPath(path).parent / file
        if ".." in place.parts:
            raise DocumentError(f"{path}: its Dockerfile {show(file)} lies in another folder")
        plan = _read_dockerfile(_text(checkout, str(place)))
    lines = [line for key in _COMMANDS for line in _lifecycle(content.get(key))]
    kept = [_without_root(line) for line in lines]
    return SetupPlan(
        lines=(*plan.lines, *(line for line, _ in kept if line)),
        python=plan.python,
        skipped=(*plan.skipped, *(part for _, root in kept for part in root)),
    )


def _lifecycle(value: object) -> Iterator[str]:
    """Yield the shell lines of a lifecycle command: a line, a list of words, or several by name."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield shlex.join(str(word) for word in cast(list[object], value))
    elif isinstance(value, dict):
        for each in cast(Mapping[str, object], value).values():
            yield from _lifecycle(each)


def _strip_comments(text: str) -> str:
    """Return JSON with comments and trailing commas as JSON; texts stay as they are."""
    tokens = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
    plain = tokens.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    comma = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
    return comma.sub(lambda match: match[1] or "", plain)
