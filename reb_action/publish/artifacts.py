"""Reads artifacts of a run that nobody vouches for: only files that a trial has, within limits."""

import os
import re
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Final

from reb_action.errors import DocumentError
from reb_action.model.github import Artifact
from reb_action.model.manifest import Level
from reb_action.session.layout import SessionLayout

PLAN: Final = "researchenvbench-plan"
ENTRIES: Final = 10_000
"""Files of one artifact: a trial has about twenty, and a batch some dozens of trials."""
MEMBER_BYTES: Final = 64 * 1024 * 1024
UNPACKED_BYTES: Final = 512 * 1024 * 1024
RATIO: Final = 200
"""How far a zip may grow; logs that repeat themselves grow further, so FREE_BYTES always may."""
FREE_BYTES: Final = 16 * 1024 * 1024

_END: Final = struct.Struct("<4s4H2LH")
_END_SIGNATURE: Final = b"PK\x05\x06"
_LOCATOR_SIGNATURE: Final = b"PK\x06\x07"
_LOCATOR_BYTES: Final = 20
_DIRECTORY_ENTRY_BYTES: Final = 46 + 512
"""What one entry of a zip's directory takes: its fixed part, and a name of a decent length."""
_METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED: Final = 1
_BROKEN: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError),
    *(RuntimeError, ValueError, OverflowError),
)
"""What zipfile raises for a zip that is broken, on purpose or not."""

_TRIAL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_NAME: Final = re.compile(rf"reb-({_TRIAL.pattern})\.a([1-9][0-9]{{0,3}})")
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
"""All of a trial's folder that a verdict rests on, or is."""


def plan_of(listed: Iterable[Artifact]) -> Artifact | None:
    """Return the newest artifact with a plan: a run that was repeated in part has several."""
    plans = (one for one in listed if one.name == PLAN and not one.expired)
    return max(plans, key=lambda one: one.created_at, default=None)


def latest(listed: Iterable[Artifact], *, attempt: int) -> dict[str, Artifact]:
    """Return the newest artifact of each entry of the matrix, by the entry's name.

    Its name says the attempt of the run; ids and their order say nothing. What belongs to an
    attempt that there was not yet is ignored, and so is what has expired.
    """
    found: dict[str, tuple[tuple[int, datetime], Artifact]] = {}
    for one in listed:
        match = _NAME.fullmatch(one.name)
        if match is None or one.expired or int(match[2]) > attempt:
            continue
        age = (int(match[2]), one.created_at)
        if match[1] not in found or found[match[1]][0] < age:
            found[match[1]] = (age, one)
    return {name: one for name, (_, one) in found.items()}


def unpack_plan(data: bytes, folder: Path) -> Path:
    """Write the plan of an artifact into a new folder; return its path; raises DocumentError."""
    path = folder / "plan.json"
    _unpack(data, folder, what="the artifact with the plan", known=lambda name: name == path.name)
    return path


def unpack_trials(data: bytes, folder: Path) -> int:
    """Write the files of a trial, or of a batch's trials, into a new folder; return their bytes.

    Raises DocumentError, and writes nothing, for what breaks a limit or no upload of ours can be.
    """
    return _unpack(data, folder, what=f"the artifact {folder.name}", known=is_of_trial)


def is_of_trial(name: str) -> bool:
    """Tell whether a trial's folder, or a folder of trials' folders, has a file of that name."""
    trial, _, rest = name.partition("/")
    return name in TRIAL_FILES or (rest in TRIAL_FILES and _TRIAL.fullmatch(trial) is not None)


def demand_plain(folder: Path) -> None:
    """Raise DocumentError where a folder of downloaded artifacts holds a link or a special file."""
    for entry in _entries(folder):
        if not (entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)):
            raise DocumentError(f"{entry.path} is no regular file; no artifact of ours has such")


def _entries(folder: Path) -> Iterator["os.DirEntry[str]"]:
    with os.scandir(folder) as found:
        for entry in found:
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
                size = _write(archive, _wanted(archive, known), part, most=_most(len(data)))
        except _BROKEN as error:
            raise DocumentError(f"{what} cannot be read: {error}") from None
        part.rename(folder)
    return size


def _demand_directory(data: bytes) -> None:
    """Raise ValueError for a directory that would take long only to list.

    zipfile goes by the directory's size and by records of zip64, not by the count of its entries.
    """
    if len(data) < _END.size or data[-_END.size :][:4] != _END_SIGNATURE:
        raise ValueError("it does not end as a zip")
    if data[-_END.size - _LOCATOR_BYTES : -_END.size].startswith(_LOCATOR_SIGNATURE):
        raise ValueError("it is a zip64, which no trial is large enough for")
    _, _, _, _, count, size, _, _ = _END.unpack(data[-_END.size :])
    if count > ENTRIES or size > count * _DIRECTORY_ENTRY_BYTES:
        raise ValueError(f"its directory has {count} entries in {size} bytes")


def _wanted(archive: zipfile.ZipFile, known: Callable[[str], bool]) -> Iterator[zipfile.ZipInfo]:
    seen: set[str] = set()
    for info in archive.infolist():
        if not known(info.orig_filename):
            continue
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise ValueError(f"{info.orig_filename} is no regular file")
        if info.orig_filename in seen:
            raise ValueError(f"{info.orig_filename} is in it twice")
        if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
            raise ValueError(f"{info.orig_filename} is packed in a way that no upload of ours is")
        seen.add(info.orig_filename)
        yield info


def _most(packed: int) -> int:
    return min(UNPACKED_BYTES, FREE_BYTES + RATIO * packed)


def _write(
    archive: zipfile.ZipFile, wanted: Iterable[zipfile.ZipInfo], folder: Path, *, most: int
) -> int:
    left = most
    for info in wanted:
        path = folder / info.orig_filename
        path.parent.mkdir(parents=True, exist_ok=True)
        limit = min(MEMBER_BYTES, left)
        # What an entry says of its size is not believed.
        with archive.open(info) as source:
            content = source.read(limit + 1)
        if len(content) > limit:
            raise ValueError(f"{info.orig_filename} unpacks to more than {limit} bytes")
        path.write_bytes(content)
        left -= len(content)
    return most - left
