"""Reads `repos/<owner>__<name>.yaml`: checks the schema, then further rules."""

from difflib import get_close_matches
from pathlib import Path
from typing import Final

from reb_action.corpus.validation import Fault, describe, find_faults, read_manifest
from reb_action.documents import read_input, show
from reb_action.documents.strict_yaml import parse_yaml
from reb_action.errors import DocumentError, UsageError
from reb_action.model.manifest import Manifest
from reb_action.resources import data_folder

_LIMIT_BYTES: Final = 64 * 1024


def load(path: Path) -> Manifest:
    """Read one manifest; raises DocumentError that names file, line, key and value."""
    manifest, faults = read(path)
    if manifest is None:
        first = next(describe(path.name, faults))
        more = len(faults) - 1
        rest = f" (and {more} more; reb validate lists all)" if more else ""
        raise DocumentError(f"{first}{rest}")
    return manifest


def read(path: Path) -> tuple[Manifest | None, tuple[Fault, ...]]:
    """Return a manifest, or None and all its faults; raises DocumentError if it is not YAML."""
    source = read_input(path, limit=_LIMIT_BYTES)
    data = parse_yaml(source, path.name)
    faults = find_faults(data, source)
    return (None, faults) if faults else (read_manifest(data), ())


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


def list_repositories() -> tuple[str, ...]:
    """Return the names, owner/name, of the corpus."""
    stems = (path.stem for path in data_folder("repos").glob("*.yaml"))
    return tuple(sorted(stem.replace("__", "/", 1) for stem in stems))


def _nearest(name: str) -> str:
    """Return the known repository that a wrong name may mean."""
    lower = {one.lower(): one for one in list_repositories()}
    same = name.lower()
    close = [same] if same in lower else get_close_matches(same, lower, n=3)
    meant = f"did you mean {' or '.join(lower[one] for one in close)}? " if close else ""
    return f"{meant}repos/README.md lists the corpus; a manifest of your own is a path to a .yaml"


def in_corpus(manifest: Manifest) -> bool:
    """Return whether a manifest is the one that comes with reb for its repository."""
    path = data_folder("repos") / f"{manifest.slug}.yaml"
    return path.is_file() and load(path) == manifest
