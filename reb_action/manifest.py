"""Reads `repos/<owner>__<name>.yaml`: schema first, then what no schema can say."""

import re
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Final, cast

import yaml

from reb_action.documents import Json, from_json, problem, read_bytes, show, to_json
from reb_action.errors import DocumentError, UsageError
from reb_action.layout import data_folder
from reb_action.model.manifest import (
    RUN_LEVELS,
    Entrypoint,
    FileProof,
    Level,
    LogProof,
    Manifest,
    MetricProof,
    Proof,
    StepsProof,
)

_LIMIT_BYTES: Final = 64 * 1024
_NAMES: Final = frozenset({"python", "repo", "out", "files", "assets", "ranks"})


def load(path: Path) -> Manifest:
    """Read one manifest; raises DocumentError that names file, key and value."""
    data = _parse_yaml(read_bytes(path, limit=_LIMIT_BYTES), path.name)
    fault = problem(data, "manifest")
    if fault is not None:
        raise DocumentError(f"{path.name}: {fault}")
    manifest = from_json(data, Manifest)
    fault = next(_problems(manifest, data), None)
    if fault is not None:
        raise DocumentError(f"{path.name}: {fault}")
    return manifest


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
        return load(Path(name))
    path = data_folder("repos") / f"{name.replace('/', '__')}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in data_folder("repos").glob("*.yaml")))
        raise UsageError(
            f"there is no manifest for {show(name)}; name a file ending in .yaml or one of: {known}"
        )
    return load(path)


def pattern_of(proof: Proof) -> str | None:
    """Return the pattern of a proof that reads the log."""
    match proof:
        case LogProof(log=pattern) | MetricProof(metric=pattern) | StepsProof(steps=pattern):
            return pattern
        case FileProof():
            return None


def _problems(manifest: Manifest, data: Json) -> Iterator[str]:
    yield from _restated(data)
    for level in RUN_LEVELS:
        places = [level in part for part in (manifest.entrypoints, manifest.not_applicable)]
        places.append(level in manifest.paper_only)
        if sum(places) != 1:
            yield (
                f"{level} must stand in exactly one of entrypoints, not_applicable and paper_only"
            )
    for level, entrypoint in manifest.entrypoints.items():
        yield from (f"entrypoints.{level}: {fault}" for fault in _faults(level, entrypoint))


def _restated(data: Json) -> Iterator[str]:
    document = cast(dict[str, Json], data)
    if document.get("frameworks") == ["torch"]:
        yield "frameworks: torch is the default; leave it out"
    entrypoints = cast(dict[str, dict[str, Json]], document.get("entrypoints", {}))
    for level, entrypoint in entrypoints.items():
        for key, default in _DEFAULTS.items():
            if key in entrypoint and entrypoint[key] == default:
                yield f"entrypoints.{level}.{key}: {show(default)} is the default; leave it out"


def _defaults() -> dict[str, Json]:
    blank = cast(dict[str, Json], to_json(Entrypoint(argv=(), decoy="", proofs=())))
    return {key: value for key, value in blank.items() if key not in ("argv", "decoy", "proofs")}


def _faults(level: Level, entrypoint: Entrypoint) -> Iterator[str]:
    texts = (*entrypoint.argv, entrypoint.cwd, *entrypoint.env.values())
    for name in (name for text in texts for name in re.findall(r"\{([a-z_]+)\}", text)):
        if name not in _NAMES:
            yield f"{{{name}}} is not known; use one of {', '.join(sorted(_NAMES))}"
    if (level is Level.C4) != (entrypoint.ranks > 1):
        yield "ranks belongs to C4, and C4 needs at least 2"
    for proof in entrypoint.proofs:
        pattern = pattern_of(proof)
        if isinstance(proof, MetricProof) and re.compile(proof.metric).groups != 1:
            yield f"metric {show(proof.metric)} needs exactly one group"
        if pattern is not None and re.search(pattern, ""):
            yield f"the pattern {show(pattern)} matches nothing at all, so it proves nothing"


class _Loader(yaml.SafeLoader):
    """Refuses what YAML would silently accept: duplicate keys and aliases."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        keys = [cast(str, key.value) for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.MarkedYAMLError(problem=f"the key {min(twice)} occurs twice")
        return cast(dict[Hashable, object], super().construct_mapping(node, deep=deep))


def _parse_yaml(data: bytes, name: str) -> Json:
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(data, Loader=_Loader)):
            raise DocumentError(f"{name}: aliases are not allowed; write the value out")
        return cast(Json, yaml.load(data, Loader=_Loader))  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise DocumentError(f"{name}: not readable as YAML: {_yaml_clause(error)}") from None


def _yaml_clause(error: Exception) -> str:
    clause = getattr(error, "problem", None) or type(error).__name__
    mark = getattr(error, "problem_mark", None)
    return f"{clause} (line {mark.line + 1})" if mark is not None else str(clause)


_DEFAULTS: Final = _defaults()
