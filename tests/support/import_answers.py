"""Prints all that the harness's own Python takes part in at C0, for chosen repositories, as JSON.

python -m tests.support.import_answers MIRRORS SLUG...
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

from reb_action.corpus.manifests import load
from reb_action.imports import imported_names, owners
from reb_action.probe.imports import files_for_pyright, repository_files
from reb_action.resources import data_folder
from reb_action.source.checkout import checkout


def _tell(reason: str) -> None:
    sys.stderr.write(f"{reason}\n")


def answers(slug: str, mirrors: Path) -> dict[str, object]:
    """Return what C0 asks for in a repository, and a hash of what pyright is to look at."""
    manifest = load(data_folder("repos") / f"{slug}.yaml")
    with tempfile.TemporaryDirectory() as folder:
        nowhere = Path(folder, "nowhere").as_uri()
        place = Path(folder, "it")
        source = checkout(manifest, folder=place, mirror=mirrors, origins=(nowhere,), tell=_tell)
        files = repository_files(source)
        owned = owners(files, version=(3, 11))
        seen = hashlib.sha256(repr(sorted(files_for_pyright(source, files).items())).encode())
    names = frozenset[str]().union(*map(imported_names, files.counted.values()))
    return {
        "wanted": sorted({f"{one.module} {one.optional}" for one in owned.wanted}),
        "third_party": sorted(owned.third_party),
        "own": sorted(owned.own),
        "paper": sorted(names),
        "seen by pyright": seen.hexdigest(),
    }


if __name__ == "__main__":
    place, *slugs = sys.argv[1:]
    sys.stdout.write(json.dumps({slug: answers(slug, Path(place)) for slug in slugs}))
