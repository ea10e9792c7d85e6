"""The rules of a manifest that no schema can state."""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from reb_action.documents import Json, Problem, show, to_json
from reb_action.judge.proofs import may_crawl, may_explode
from reb_action.model.manifest import (
    RUN_LEVELS,
    SELF,
    CurveProof,
    Entrypoint,
    FileProof,
    Level,
    LogProof,
    Manifest,
    MetricProof,
    Oracle,
    Proof,
    Stage,
    StepsProof,
)

_NAMES: Final = frozenset({"python", "repo", "out", "files", "assets", "ranks", "seed"})
_NUL: Final = "it has a NUL character, which no command can have"
_PLACES: Final = ("entrypoints", "not_applicable", "paper_only")
_Data = Mapping[str, Json]


def list_broken_rules(manifest: Manifest, data: _Data) -> Iterator[Problem]:
    """Yield every rule that a manifest breaks.

    `data` is its document as it was written, which may have parts that `manifest` lacks.
    """
    yield from _list_restated(data)
    if manifest.commit == SELF and manifest.imports is not None:
        yield _problem(("imports",), "with commit: self it is counted; leave it out")
    for at, path in _list_paths(manifest):
        parts = PurePosixPath(path).parts
        if ".." in parts or not parts:
            yield _problem(at, f"{show(path)} leads out of its folder")
    if not manifest.frameworks and "C2" not in _keys(data, "not_applicable"):
        yield _problem(("frameworks",), "the list is empty, so C2 must be in not_applicable")
    yield from _list_misplaced(data)
    yield from _list_reasons_of_nothing(data)
    for level, entrypoint in manifest.entrypoints.items():
        yield from _list_entrypoint_faults(level, entrypoint)
    if manifest.stages and "C1" not in _keys(data, "entrypoints"):
        yield _problem(("stages",), "they come after C1, which is not in entrypoints")
    for name, stage in manifest.stages.items():
        yield from _list_command_faults(("stages", name), stage)
        for index, proof in enumerate(stage.proofs):
            if isinstance(proof, CurveProof) and proof.repeats is not None:
                at = ("stages", name, "proofs", index)
                yield _problem(at, "a stage is run once; leave repeats out", shown=2)
    if manifest.setup is not None:
        yield from _list_setup_faults(manifest.setup.lines)


def _list_setup_faults(lines: tuple[str, ...]) -> Iterator[Problem]:
    if lines and all(line.strip().startswith("#") or not line.strip() for line in lines):
        yield _problem(("setup",), "no line has a command")
    for index, line in enumerate(lines):
        if "\0" in line:
            yield _problem(("setup", index), _NUL)


def _problem(at: tuple[str | int, ...], clause: str, shown: int | None = None) -> Problem:
    """Return a problem; `shown` is how many of the steps its text names."""
    return Problem(at=at, text=f"{'.'.join(map(str, at[:shown]))}: {clause}")


def _keys(data: _Data, key: str) -> Mapping[str, Json]:
    part = data.get(key)
    return part if isinstance(part, dict) else {}


def _list_misplaced(data: _Data) -> Iterator[Problem]:
    """Yield the levels that stand nowhere, or in several places."""
    for level in RUN_LEVELS:
        places = [key for key in _PLACES if level in _keys(data, key)]
        if len(places) != 1:
            at = (places[-1], str(level)) if places else ()
            yield Problem(at=at, text=f"{level} must be in exactly one of {_list_places()}")


def _list_reasons_of_nothing(data: _Data) -> Iterator[Problem]:
    """Yield the levels that have a reason about their entry point, and no entry point."""
    for key in ("weak_proofs", "not_qualified"):
        for level in _keys(data, key):
            if level in RUN_LEVELS and level not in _keys(data, "entrypoints"):
                yield _problem((key, level), f"{level} is not in entrypoints")


def _list_places() -> str:
    return f"{', '.join(_PLACES[:-1])} and {_PLACES[-1]}"


def _list_restated(data: _Data) -> Iterator[Problem]:
    for at, part, kind in _list_parts(data):
        for key, default in _defaults(kind):
            if key in part and part[key] == default:
                yield _problem((*at, key), f"{show(default)} is the default; leave it out")


def _list_parts(data: _Data) -> Iterator[tuple[tuple[str | int, ...], _Data, type]]:
    """Yield each part of a manifest with defaults: its steps, the part and its type."""
    yield (), data, Manifest
    for name, stage in _keys(data, "stages").items():
        if isinstance(stage, dict):
            yield ("stages", name), stage, Stage
    yield ("oracle",), _keys(data, "oracle"), Oracle
    for level, entrypoint in _keys(data, "entrypoints").items():
        if not isinstance(entrypoint, dict):
            continue
        yield ("entrypoints", level), entrypoint, Entrypoint
        proofs = entrypoint.get("proofs")
        for index, proof in enumerate(proofs if isinstance(proofs, list) else ()):
            if isinstance(proof, dict) and "file" in proof:
                yield ("entrypoints", level, "proofs", index), proof, FileProof


def _defaults(kind: type) -> Iterator[tuple[str, Json]]:
    for field in dataclasses.fields(kind):
        if field.default is not dataclasses.MISSING:
            yield field.name, to_json(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            yield field.name, to_json(field.default_factory())


def _list_paths(manifest: Manifest) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the paths that must stay in their folders, each with the key that it stands under."""
    yield from ((("files",), name) for name in manifest.files)
    yield from ((("assets",), asset.path) for asset in manifest.assets)
    if manifest.setup is not None and manifest.setup.path is not None:
        yield ("setup",), manifest.setup.path
    yield from ((("stages", name), stage.cwd) for name, stage in manifest.stages.items())
    for level, entrypoint in manifest.entrypoints.items():
        files = [proof.file for proof in entrypoint.proofs if isinstance(proof, FileProof)]
        for path in (entrypoint.decoy, entrypoint.cwd, *files):
            yield ("entrypoints", str(level)), path


def _list_entrypoint_faults(level: Level, entrypoint: Entrypoint) -> Iterator[Problem]:
    at = ("entrypoints", str(level))
    if (level is Level.C4) != (entrypoint.ranks > 1):
        yield _problem(at, "only C4 has ranks, and it needs at least 2")
    yield from _list_command_faults(at, entrypoint)


def _list_command_faults(at: tuple[str, str], command: Entrypoint | Stage) -> Iterator[Problem]:
    texts = (*command.argv, command.cwd, *command.env.values())
    if any("\0" in text for text in texts):
        yield _problem(at, _NUL)
    for name in (name for text in texts for name in re.findall(r"\{([a-z_]+)\}", text)):
        if name not in _NAMES:
            known = ", ".join(sorted(_NAMES))
            yield _problem(at, f"{{{name}}} is not known; use one of {known}")
    for index, proof in enumerate(command.proofs):
        for clause in _list_proof_faults(proof):
            yield _problem((*at, "proofs", index), clause, shown=2)


def _list_proof_faults(proof: Proof) -> Iterator[str]:
    pattern = _pattern_of(proof)
    if isinstance(proof, MetricProof):
        least, most = proof.minimum, proof.maximum
        if re.compile(proof.metric).groups != 1:
            yield f"metric {show(proof.metric)} needs exactly one group"
        if least is not None and most is not None and least > most:
            yield f"minimum {least} is above maximum {most}"
    if isinstance(proof, CurveProof) and re.compile(proof.curve).groups != 1:
        yield f"curve {show(proof.curve)} needs exactly one group"
    if pattern is not None and re.search(pattern, ""):
        yield f"the pattern {show(pattern)} matches nothing at all, so it proves nothing"
    if pattern is not None and may_explode(pattern):
        yield (
            f"the pattern {show(pattern)} repeats a repetition or an alternative; its search"
            " may never end"
        )
    if pattern is not None and may_crawl(pattern):
        yield (
            f"the pattern {show(pattern)} has more than two unbounded wildcards; its search"
            " may take too long"
        )


def _pattern_of(proof: Proof) -> str | None:
    """Return the pattern of a proof that reads the log."""
    match proof:
        case LogProof(log=pattern) | MetricProof(metric=pattern) | StepsProof(steps=pattern):
            return pattern
        case CurveProof(curve=pattern):
            return pattern
        case FileProof():
            return None
