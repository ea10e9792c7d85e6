"""The argument of an agent: a command line, or a folder."""

import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Final, assert_never

from reb_action.agents.spec import AgentFile, AgentSpec, Takes
from reb_action.documents import show
from reb_action.errors import PlaceError, UsageError

_FOLDER_BYTES: Final = 64 * 1024 * 1024


def with_argument(spec: AgentSpec, argument: str | None) -> AgentSpec:
    """Return an agent with its argument; raises UsageError for an unfit one, PlaceError."""
    match spec.takes:
        case Takes.NOTHING if argument is None:
            return spec
        case Takes.NOTHING:
            raise UsageError(f"the agent {spec.name} takes no argument; leave it out")
        case Takes.COMMAND:
            return replace(spec, command=_words(spec.name, argument or ""))
        case Takes.FOLDER:
            return replace(spec, files=(*spec.files, *_folder(spec.name, argument or "")))
        case _:
            assert_never(spec.takes)


def _words(name: str, line: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(f"the command line of the agent {name}: {error}".lower()) from None
    if not words:
        raise UsageError(f"the agent {name} needs a command line as its argument")
    return words


def _folder(name: str, text: str) -> tuple[AgentFile, ...]:
    folder = Path(text)
    if not text or not folder.is_dir():
        raise UsageError(
            f"the agent {name} needs a folder as its argument; {show(text)} is not a folder"
        )
    paths = _own_files(folder)
    if not paths:
        raise UsageError(f"{folder} has no regular file; give {name} another folder")
    if sum(path.stat().st_size for path in paths) > _FOLDER_BYTES:
        raise UsageError(f"{folder} has more than {_FOLDER_BYTES} bytes; give a smaller folder")
    return tuple(
        AgentFile(
            name=f"folder/{path.relative_to(folder)}",
            content=_content(path),
            executable=bool(path.stat().st_mode & 0o100),
        )
        for path in paths
    )


def _own_files(folder: Path) -> list[Path]:
    """Return the files of a folder; an unreadable subfolder is an error, not an empty folder."""
    walk = os.walk(folder, onerror=_refuse)
    paths = (Path(place) / name for place, _, names in walk for name in names)
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise _refused(error) from None


def _refuse(error: OSError) -> None:
    raise _refused(error) from None


def _refused(error: OSError) -> PlaceError:
    return PlaceError(f"{error.filename} cannot be read: {error.strerror}; the agent needs it")
