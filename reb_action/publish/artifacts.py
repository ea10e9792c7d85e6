"""Reads untrusted artifacts of a run: only the files of a trial, within limits."""

import os
import re
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Final

from reb_action.errors import DocumentError
from reb_action.model.github import Artifact
from reb_action.model.manifest import Level
from reb_action.results import early_stop
from reb_action.session.layout import SessionLayout

ENTRIES: Final = 10_000
"""Maximum files of one artifact: a trial has about twenty, a batch some dozens of trials."""
MEMBER_BYTES: Final = 64 * 1024 * 1024
UNPACKED_BYTES: Final = 512 * 1024 * 1024
RATIO: Final = 200
"""Maximum growth of a zip. Repetitive logs grow more, so FREE_BYTES are always allowed."""
FREE_BYTES: Final = 16 * 1024 * 1024

_END: Final = struct.Struct("<4s4H2LH")
_END_SIGNATURE: Final = b"PK\x05\x06"
_LOCATOR_SIGNATURE: Final = b"PK\x06\x07"
_LOCATOR_BYTES: Final = 20
_DIRECTORY_ENTRY_BYTES: Final = 46 + 512
"""Maximum size of one entry of a zip's directory: its fixed part and a name of 512 bytes."""
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError),
    *(RuntimeError, ValueError, OverflowError),
)
"""The errors of zipfile for a corrupt or malicious zip."""

_TRIAL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_NAME: Final = re.compile(rf"reb\.([a-z0-9-]+)\.({_TRIAL.pattern})\.a([1-9][0-9]{{0,3}})")
_LAYOUT: Final = SessionLayout(folder=Path())
TRIAL_FILES: Final = frozenset(
    path.as_posix()
    for path in (
        *(
            _LAYOUT.session,
            _LAYOUT.agent_run,
            _LAYOUT.agent_log,
            _LAYOUT.model_calls,
            _LAYOUT.report,
        ),
        *(_LAYOUT.freeze, _LAYOUT.interpreter, _LAYOUT.verdict),
        *(_LAYOUT.observation(level) for level in Level),
        *(_LAYOUT.log(level) for level in Level),
    )
)
"""The files of a trial's folder that a verdict is computed from, and the verdict."""


def name_plan(key: str) -> str:
    """Return the name of the artifact with the plan of a benchmark."""
    return f"{key}-plan"


def find_plan(listed: Iterable[Artifact], *, key: str) -> Artifact | None:
    """Return the newest artifact with a plan: a partly repeated run has several."""
    name = name_plan(key)
    plans = (artifact for artifact in listed if artifact.name == name and not artifact.expired)
    return max(plans, key=lambda artifact: artifact.created_at, default=None)


def find_trials(
    listed: Iterable[Artifact], *, key: str, attempt: int
) -> dict[str, tuple[Artifact, ...]]:
    """Return the artifacts of each entry of the matrix, the newest first, by the entry's name.

    The name contains the benchmark's key and the attempt of the run; the order of ids means
    nothing. Of one attempt only the newest counts. Expired artifacts and those of a later attempt
    are ignored.
    """
    newest: dict[tuple[str, int], Artifact] = {}
    for artifact in listed:
        match = _NAME.fullmatch(artifact.name)
        if match is None or artifact.expired or match[1] != key or int(match[3]) > attempt:
            continue
        place = match[2], int(match[3])
        if place not in newest or newest[place].created_at < artifact.created_at:
            newest[place] = artifact
    found: dict[str, tuple[Artifact, ...]] = {}
    for name, number in sorted(newest, reverse=True):
        found[name] = (*found.get(name, ()), newest[name, number])
    return found


def unpack_plan(data: bytes, folder: Path) -> Path:
    """Write the plan of an artifact into a new folder; return its path; raises DocumentError."""
    path = folder / "plan.json"
    _unpack(data, folder, what="the artifact with the plan", known=lambda name: name == path.name)
    return path


def unpack_trials(data: bytes, folder: Path) -> int:
    """Write the files of a trial, or of a batch's trials, into a new folder; return their bytes.

    Raises DocumentError, and writes nothing, if a limit is exceeded or the zip is not an upload of
    reb.
    """
    return _unpack(data, folder, what=f"the artifact {folder.name}", known=is_trial_file)


def is_trial_file(name: str) -> bool:
    """Return whether a trial's folder, or a batch's folder of such folders, has such a file."""
    trial, _, rest = name.partition("/")
    if name == early_stop.NAME:
        return True
    return name in TRIAL_FILES or (rest in TRIAL_FILES and _TRIAL.fullmatch(trial) is not None)


def demand_plain(folder: Path) -> None:
    """Raise DocumentError if a folder of downloaded artifacts has a symlink or special file."""
    for entry in _entries(folder):
        if not (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)):
            raise DocumentError(
                f"{entry.path} is not a regular file; artifacts of reb have no others"
            )


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(Path(entry.path))


def _unpack(data: bytes, folder: Path, *, what: str, known: Callable[[str], bool]) -> int:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".unpacking-") as name:
        part = Path(name) / "part"
        part.mkdir()
        try:
            _demand_directory(data)
            with zipfile.ZipFile(BytesIO(data)) as archive:
                size = _write(archive, _select(archive, known), part, limit=_limit(len(data)))
        except _BROKEN as error:
            raise DocumentError(f"{what} cannot be read: {error}") from None
        part.rename(folder)
    return size


def _demand_directory(data: bytes) -> None:
    """Raise ValueError for a directory that would take too long to list.

    zipfile reads the directory by its size and zip64 records, not by its count of entries.
    """
    if len(data) < _END.size or data[-_END.size :][:4] != _END_SIGNATURE:
        raise ValueError("it does not end as a zip file does")
    if data[-_END.size - _LOCATOR_BYTES : -_END.size].startswith(_LOCATOR_SIGNATURE):
        raise ValueError("zip64 archives are not accepted")
    _, _, _, _, count, size, _, _ = _END.unpack(data[-_END.size :])
    if count > ENTRIES or size > count * _DIRECTORY_ENTRY_BYTES:
        raise ValueError(f"its directory has {count} entries in {size} bytes")


def _select(archive: zipfile.ZipFile, known: Callable[[str], bool]) -> Iterator[zipfile.ZipInfo]:
    names: set[str] = set()
    for info in archive.infolist():
        if not known(info.orig_filename):
            continue
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise ValueError(f"{info.orig_filename} is not a regular file")
        if info.orig_filename in names:
            raise ValueError(f"{info.orig_filename} occurs twice in it")
        if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
            raise ValueError(f"{info.orig_filename} is encrypted or has an unknown compression")
        names.add(info.orig_filename)
        yield info


def _limit(packed: int) -> int:
    return min(UNPACKED_BYTES, FREE_BYTES + RATIO * packed)


def _write(
    archive: zipfile.ZipFile, members: Iterable[zipfile.ZipInfo], folder: Path, *, limit: int
) -> int:
    remaining = limit
    for info in members:
        path = folder / info.orig_filename
        path.parent.mkdir(parents=True, exist_ok=True)
        most = min(MEMBER_BYTES, remaining)
        # The size in an entry can be wrong.
        with archive.open(info) as source:
            content = source.read(most + 1)
        if len(content) > most:
            raise ValueError(f"{info.orig_filename} unpacks to more than {most} bytes")
        path.write_bytes(content)
        remaining -= len(content)
    return limit - remaining
