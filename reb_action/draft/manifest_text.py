"""Writes a drafted manifest as YAML, with a comment on everything that is not certain."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields

from reb_action.corpus.validation import find_faults
from reb_action.documents.strict_yaml import parse_yaml
from reb_action.errors import DocumentError
from reb_action.model.manifest import (
    RUN_LEVELS,
    SELF,
    Entrypoint,
    Level,
    Manifest,
    Proof,
    Setup,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A drafted manifest, and notes by key (`setup`, `C1`, …): what is unsure, and why."""

    manifest: Manifest
    notes: dict[str, tuple[str, ...]]


def write_draft(draft: Draft) -> str:
    """Return the text of a drafted manifest."""
    return "\n".join((*_lines(draft), ""))


def can_write(entrypoint: Entrypoint) -> bool:
    """Return whether a manifest with this entry point for C1 has no fault."""
    others = {level: "left out here" for level in RUN_LEVELS if level is not Level.C1}
    others[Level.C2] = "left out here"
    manifest = Manifest(
        repository="owner/name",
        commit=SELF,
        entrypoints={Level.C1: entrypoint},
        not_applicable=others,
    )
    source = write_draft(Draft(manifest=manifest, notes={})).encode()
    try:
        return not find_faults(parse_yaml(source, "the draft"), source)
    except DocumentError:
        return False


def _lines(draft: Draft) -> Iterator[str]:
    manifest = draft.manifest
    yield "# Drafted by reb init. Look at the lines marked unsure; see docs/own-repository.md."
    yield from _notes(draft, "repository")
    yield f"repository: {manifest.repository}"
    yield f"commit: {_quote(manifest.commit)}"
    yield from _notes(draft, "frameworks")
    names = ", ".join(manifest.frameworks)
    if names != "torch":
        yield f"frameworks: [{names}]"
    if manifest.setup is not None:
        yield from _notes(draft, "setup")
        yield from _setup(manifest.setup)
    if manifest.entrypoints:
        yield "entrypoints:"
    for level, entrypoint in manifest.entrypoints.items():
        yield from _notes(draft, level, "  ")
        yield f"  {level}:"
        yield from _entrypoint(entrypoint)
    if manifest.not_applicable:
        yield "not_applicable:"
    for level, reason in sorted(manifest.not_applicable.items()):
        if level not in RUN_LEVELS or level not in manifest.entrypoints:
            yield from _notes(draft, level, "  ")
            yield f"  {level}: {_quote(reason)}"


def _notes(draft: Draft, key: str | Level, indent: str = "") -> Iterator[str]:
    for note in draft.notes.get(str(key), ()):
        # YAML forbids control characters even in a comment.
        yield f"{indent}# unsure: {replace_unprintable(note)}"


def replace_unprintable(text: str) -> str:
    """Return a text with a mark for each control character and each byte that is not UTF-8."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def _setup(setup: Setup) -> Iterator[str]:
    if setup.lines:
        yield "setup:"
        yield from (f"  - {_quote(line)}" for line in setup.lines)
        return
    for field in fields(setup):
        path = getattr(setup, field.name)
        if path:
            yield f"setup: {{{field.name}: {_quote(path)}}}"


def _entrypoint(entrypoint: Entrypoint) -> Iterator[str]:
    yield f"    argv: [{', '.join(map(_quote, entrypoint.argv))}]"
    yield f"    decoy: {_quote(entrypoint.decoy)}"
    yield "    proofs:"
    yield from (f"      - {_proof(proof)}" for proof in entrypoint.proofs)


def _proof(proof: Proof) -> str:
    """Return a proof in one line, without its defaults."""
    values = {field.name: getattr(proof, field.name) for field in fields(proof)}
    defaults = {field.name: field.default for field in fields(proof)}
    written = {key: value for key, value in values.items() if value != defaults[key]}
    return f"{{{', '.join(f'{key}: {_value(value)}' for key, value in written.items())}}}"


def _value(value: object) -> str:
    return _quote(value) if isinstance(value, str) else json.dumps(value)


def _quote(text: str) -> str:
    """Return a text in YAML's single quotes, in which a backslash is one."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return json.dumps(text)
