"""Documents on disk: values as validated JSON, read and written atomically."""

import os
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar, cast

import cattrs

from reb_action.documents.schema import find_problem
from reb_action.documents.strict_json import Json, NotJsonError, dump_json, parse_json, show
from reb_action.errors import DocumentError

T = TypeVar("T")

SCHEMA: Final = 1
"""Version of every document of reb; a reader refuses another one."""

LIMIT_BYTES: Final = 64 * 1024 * 1024


_converter: Final = cattrs.Converter(forbid_extra_keys=True, prefer_attrib_converters=False)


def to_json(value: object) -> Json:
    """Return one of our values as plain JSON."""
    return cast(Json, _converter.unstructure(value))


def from_json(data: Json, kind: type[T]) -> T:
    """Return JSON that has passed its schema as one of our values."""
    return _converter.structure(data, kind)


def write(path: Path, value: object, *, kind: str) -> bytes:
    """Write a value as the document `kind`, atomically; returns its bytes."""
    data = _encode_readable(value, kind=kind, name=path.name)
    write_bytes(path, data)
    return data


def find_refusal(value: object, *, kind: str) -> str | None:
    """Return why a value cannot be written as the document `kind`: too large, or not of its schema.

    For values with data of an environment, which must not stop the trial.
    """
    try:
        _encode_readable(value, kind=kind, name=f"the document {kind}")
    except DocumentError as error:
        return str(error)
    return None


def _encode_readable(value: object, *, kind: str, name: str) -> bytes:
    """Return the bytes of a document that can be read again; raises DocumentError."""
    try:
        data = encode(value, kind=kind)
    except ValueError as error:
        raise DocumentError(
            f"{name} could not be written: {error}; please report this error of reb"
        ) from None
    if len(data) > LIMIT_BYTES:
        raise DocumentError(f"{name} would have more than {LIMIT_BYTES} bytes")
    decode(data, type(value), kind=kind, name=name)
    return data


def encode(value: object, *, kind: str) -> bytes:
    """Return the bytes of the document `kind`; raises ValueError for a value that JSON lacks."""
    return dump_json({"document": kind, "schema": SCHEMA, "value": to_json(value)})


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file so that a reader, or a kill at any moment, sees the old or the new one.

    Not for a power failure: a machine that lost power has lost the trial's sandbox as well.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            # The error of a full disk does not name the path.
            error.filename = str(path)
        raise


def read(path: Path, kind_of_value: type[T], *, kind: str) -> T:
    """Read the document `kind`; raises DocumentError that names the file and what is wrong."""
    return decode(read_bytes(path), kind_of_value, kind=kind, name=path.name)


# Steps read the same documents again and again; a value is frozen, so one is as good as another.
@lru_cache(maxsize=256)
def decode(data: bytes, kind_of_value: type[T], *, kind: str, name: str) -> T:
    """Return the value of a document's bytes; `name` is how messages call it."""
    try:
        value = parse_json(data)
    except NotJsonError as error:
        raise DocumentError(f"{name} is not valid JSON: {error}") from None
    fault = _other_kind(value, kind) or find_problem(value, kind)
    if fault is not None:
        raise DocumentError(f"{name} is not a {kind} document of schema {SCHEMA}: {fault}")
    return from_json(cast(dict[str, Json], value)["value"], kind_of_value)


def _other_kind(value: Json, kind: str) -> str | None:
    """Return the kind of a wrong document; otherwise the error would name a field of it."""
    said = (
        {key: value.get(key) for key in ("document", "schema")} if isinstance(value, dict) else {}
    )
    wanted: dict[str, Json] = {"document": kind, "schema": SCHEMA}
    return f"it says {show(said)}" if said and said != wanted else None


def read_input(path: Path, *, limit: int) -> bytes:
    """Read a regular file that the user wrote, up to a limit; raises DocumentError."""
    return read_bytes(path, limit=limit, remedy="name the file itself; links are not followed")


def read_bytes(
    path: Path, *, limit: int = LIMIT_BYTES, remedy: str = "remove it and run the step again"
) -> bytes:
    """Read a regular file of reb, up to a limit; raises DocumentError."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise DocumentError(f"{path} is not a regular file; {remedy}")
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError:
        raise DocumentError(f"{path} does not exist; run the step that makes it first") from None
    except OSError as error:
        raise DocumentError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > limit:
        raise DocumentError(f"{path} is larger than {limit} bytes; it is not a document of reb")
    return data
