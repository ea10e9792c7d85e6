"""Converts values of this package to JSON and back, and validates both against `schemas/`.

The only place that parses JSON. Reading documents of reb is strict: UTF-8 without a byte order
mark, no duplicate keys, no NaN, limited size, depth and numbers. Files of an agent are parsed
tolerantly. Writing is canonical (sorted keys, two spaces, one final newline), so equal values are
equal bytes.
"""

from reb_action.documents.answers import answer_of
from reb_action.documents.files import (
    LIMIT_BYTES,
    SCHEMA,
    decode,
    encode,
    find_refusal,
    from_json,
    read,
    read_bytes,
    read_input,
    to_json,
    write,
    write_bytes,
)
from reb_action.documents.schema import Problem, find_field_problems, find_problem, list_problems
from reb_action.documents.strict_json import Json, NotJsonError, dump_json, parse_json, show
from reb_action.documents.tolerant import (
    TolerantJson,
    find_oddity,
    parse_tolerantly,
    replace_surrogates,
)

__all__ = [
    "LIMIT_BYTES",
    "SCHEMA",
    "Json",
    "NotJsonError",
    "Problem",
    "TolerantJson",
    "answer_of",
    "decode",
    "dump_json",
    "encode",
    "find_field_problems",
    "find_oddity",
    "find_problem",
    "find_refusal",
    "from_json",
    "list_problems",
    "parse_json",
    "parse_tolerantly",
    "read",
    "read_bytes",
    "read_input",
    "replace_surrogates",
    "show",
    "to_json",
    "write",
    "write_bytes",
]
