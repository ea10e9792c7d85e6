"""Reads `repos/<owner>__<name>.yaml`: checks the schema, then further rules."""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Final, cast

from reb_action.documents import Json, find_problem, from_json, read_bytes, show, to_json
from reb_action.documents.strict_yaml import parse_yaml
from reb_action.errors import DocumentError, UsageError
from reb_action.judge.proofs import may_crawl, may_explode
from reb_action.model.manifest import (
    RUN_LEVELS,
    SELF,
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
from reb_action.resources import data_folder

_LIMIT_BYTES: Final = 64 * 1024
_NAMES: Final = frozenset({"python", "repo", "out", "files", "assets", "ranks"})


def load(path: Path) -> Manifest:
    """Read one manifest; raises DocumentError that names file, key and value."""
    data = parse_yaml(read_bytes(path, limit=_LIMIT_BYTES), path.name)
    fault = find_problem(data, "manifest")
    if fault is not None:
        raise DocumentError(f"{path.name}: {fault}")
    manifest = from_json(_with_lines(data), Manifest)
    fault = next(_problems(manifest, data), None)
    if fault is not None:
        raise DocumentError(f"{path.name}: {fault}")
    return manifest


def _with_lines(data: Json) -> Json:
    """Return a manifest whose `setup`, if it is a list, is the object with these lines."""
    content = cast(dict[str, Json], data)
    lines = content.get("setup")
    return {**content, "setup": {"lines": lines}} if isinstance(lines, list) else content


def load_folder(folder: Path) -> tuple[Manifest, ...]:
    """Read every manifest of a folder, by name; raises DocumentError for the first bad one."""
    manifests = tuple(load(path) for path in sorted(folder.glob("*.yaml")))
    if not manifests:
        raise UsageError(f"{folder} holds no manifest (*.yaml)")
    for path, manifest in zip(sorted(folder.glob("*.yaml")), manifests, strict=True):
        if path.stem != manifest.slug:
            raise DocumentError(
                f"{path.name}: {manifest.repository} belongs in {manifest.slug}.yaml"
            )
    return manifests


def find(name: str) -> Manifest:
    """Return the manifest of `owner/name`, or of a path to a manifest of the caller's own."""
    if name.endswith((".yaml", ".yml")):
        if not Path(name).exists():
            raise UsageError(f"there is no manifest {show(name)}")
        return load(Path(name))
    path = data_folder("repos") / f"{name.replace('/', '__')}.yaml"
    if not path.is_file():
        raise UsageError(f"there is no manifest for {show(name)}; {_nearest(name)}")
    return load(path)


def _nearest(name: str) -> str:
    """Return the known repository that a wrong name may mean."""
    known = {path.stem.replace("__", "/", 1) for path in data_folder("repos").glob("*.yaml")}
    lower = {one.lower(): one for one in sorted(known)}
    same = name.lower()
    close = [same] if same in lower else get_close_matches(same, lower, n=3)
    meant = f"did you mean {' or '.join(lower[one] for one in close)}? " if close else ""
    return f"{meant}repos/README.md lists the corpus; a manifest of your own is a path to a .yaml"


def in_corpus(manifest: Manifest) -> bool:
    """Return whether a manifest is the one that comes with reb for its repository."""
    path = data_folder("repos") / f"{manifest.slug}.yaml"
    return path.is_file() and load(path) == manifest


def pattern_of(proof: Proof) -> str | None:
    """Return the pattern of a proof that reads the log."""
    match proof:
        case LogProof(log=pattern) | MetricProof(metric=pattern) | StepsProof(steps=pattern):
            return pattern
        case FileProof():
            return None


def _problems(manifest: Manifest, data: Json) -> Iterator[str]:
    yield from _restated(data)
    if manifest.commit == SELF and manifest.imports is not None:
        yield "imports: with commit: self it is counted; leave it out"
    if manifest.commit != SELF and manifest.imports is None:
        yield "the key imports is missing"
    yield from (f"{key}: {show(path)} leads out of its folder" for key, path in _paths(manifest))
    if not manifest.frameworks and Level.C2 not in manifest.not_applicable:
        yield "frameworks: the list is empty, so C2 must be in not_applicable"
    for level in RUN_LEVELS:
        places = [level in part for part in (manifest.entrypoints, manifest.not_applicable)]
        places.append(level in manifest.paper_only)
        if sum(places) != 1:
            yield f"{level} must be in exactly one of entrypoints, not_applicable and paper_only"
    for level, entrypoint in manifest.entrypoints.items():
        yield from (f"entrypoints.{level}: {fault}" for fault in _faults(level, entrypoint))
    if manifest.stages and Level.C1 not in manifest.entrypoints:
        yield "stages: they come after C1, which is not in entrypoints"
    for name, stage in manifest.stages.items():
        yield from (f"stages.{name}: {fault}" for fault in _command_faults(stage))


def _restated(data: Json) -> Iterator[str]:
    for where, part, kind in _parts(cast(Mapping[str, Json], data)):
        for key, default in _defaults(kind):
            if key in part and part[key] == default:
                yield f"{where}{key}: {show(default)} is the default; leave it out"


def _parts(data: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json], type]]:
    """Yield each part of a manifest with defaults: the part, its path and its type."""
    yield "", data, Manifest
    for name, stage in cast(Mapping[str, Mapping[str, Json]], data.get("stages") or {}).items():
        yield f"stages.{name}.", stage, Stage
    yield "oracle.", cast(Mapping[str, Json], data.get("oracle") or {}), Oracle
    entrypoints = cast(Mapping[str, Mapping[str, Json]], data.get("entrypoints") or {})
    for level, entrypoint in entrypoints.items():
        yield f"entrypoints.{level}.", entrypoint, Entrypoint
        for index, proof in enumerate(cast(list[Mapping[str, Json]], entrypoint["proofs"])):
            yield f"entrypoints.{level}.proofs.{index}.", proof, FileProof


def _defaults(kind: type) -> Iterator[tuple[str, Json]]:
    for field in dataclasses.fields(kind):
        if field.default is not dataclasses.MISSING:
            yield field.name, to_json(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            yield field.name, to_json(field.default_factory())


def _paths(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the paths that would lead out of their folders."""
    named = [("files", name) for name in manifest.files]
    named += [("assets", asset.path) for asset in manifest.assets]
    named += [("setup", path) for path in (manifest.setup and manifest.setup.path,) if path]
    named += [(f"stages.{name}", stage.cwd) for name, stage in manifest.stages.items()]
    for level, one in manifest.entrypoints.items():
        files = [proof.file for proof in one.proofs if isinstance(proof, FileProof)]
        named += [(f"entrypoints.{level}", path) for path in (one.decoy, one.cwd, *files)]
    for key, path in named:
        parts = PurePosixPath(path).parts
        if ".." in parts or not parts:
            yield key, path


def _faults(level: Level, entrypoint: Entrypoint) -> Iterator[str]:
    if (level is Level.C4) != (entrypoint.ranks > 1):
        yield "only C4 has ranks, and it needs at least 2"
    yield from _command_faults(entrypoint)


def _command_faults(command: Entrypoint | Stage) -> Iterator[str]:
    texts = (*command.argv, command.cwd, *command.env.values())
    for name in (name for text in texts for name in re.findall(r"\{([a-z_]+)\}", text)):
        if name not in _NAMES:
            yield f"{{{name}}} is not known; use one of {', '.join(sorted(_NAMES))}"
    for proof in command.proofs:
        yield from _proof_faults(proof)


def _proof_faults(proof: Proof) -> Iterator[str]:
    pattern = pattern_of(proof)
    if isinstance(proof, MetricProof):
        least, most = proof.minimum, proof.maximum
        if re.compile(proof.metric).groups != 1:
            yield f"metric {show(proof.metric)} needs exactly one group"
        if least is not None and most is not None and least > most:
            yield f"minimum {least} is above maximum {most}"
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
