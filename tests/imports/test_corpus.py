"""Level C0 over the real corpus: the paper's totals, and reduced files equal to whole ones.

    REB_MIRRORS=FOLDER pytest tests/imports/test_corpus.py -m slow

FOLDER holds git repositories as `reb` takes them for its mirror (`<owner>__<name>` and so on).
A repository that is not there, or lacks its pinned commit, is skipped and says so. Takes about
half a minute for a repository on one core.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load_folder
from reb_action.errors import SourceError
from reb_action.imports import imported_names, is_counted, owners, sufficient_source
from reb_action.model.manifest import Manifest
from reb_action.probe.imports import repository_files
from reb_action.probe.toolchain import copy_toolchain, find_toolchain
from reb_action.resources import data_folder
from reb_action.source.checkout import checkout
from reb_action.source.pristine import Source
from tests.support.pyright_run import empty_interpreter, unresolved

NAMES = Path(__file__).parent / "corpus_names.json"
MIRRORS = os.environ.get("REB_MIRRORS")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not MIRRORS, reason="REB_MIRRORS names no folder with git mirrors"),
]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    copy_toolchain(find_toolchain(), folder)
    return folder


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("manifest", load_folder(data_folder("repos")), ids=lambda each: each.slug)
def test_total_and_missing_are_as_in_the_whole_repository(
    manifest: Manifest, tools: Path, tmp_path: Path
):
    source = pinned(manifest, tmp_path / "source")
    whole = dict(counted(source))
    names = [imported_names(content) for content in whole.values()]
    assert len(frozenset[str]().union(*names)) == manifest.imports

    beside = [(file.path, b"") for file in source.files if is_beside(file.path)]
    reduced = {path: sufficient_source(content) for path, content in whole.items()}
    results = [
        unresolved(tools, tmp_path / name, [*files.items(), *beside], search=empty_interpreter())
        for name, files in (("whole", whole), ("reduced", reduced))
    ]
    assert results[0] == results[1]
    shutil.rmtree(tmp_path)


@pytest.mark.parametrize("manifest", load_folder(data_folder("repos")), ids=lambda each: each.slug)
def test_names_stay_on_the_side_that_was_decided(manifest: Manifest, tmp_path: Path):
    decided = json.loads(NAMES.read_text()).get(manifest.slug)
    source = pinned(manifest, tmp_path / "source")
    found = owners(repository_files(source), version=(3, 11))
    names = {"required": sorted(found.third_party), "optional": sorted(found.optional)}
    assert names == decided
    assert {name for name in manifest.unobtainable if "." not in name} <= found.third_party
    shutil.rmtree(tmp_path)


def pinned(manifest: Manifest, folder: Path) -> Source:
    """Check the commit out from the mirrors alone, never from the network."""
    nowhere = (folder.parent / "nowhere").as_uri()
    try:
        return checkout(manifest, folder=folder, mirror=Path(MIRRORS or ""), origin=nowhere)
    except SourceError as error:
        pytest.skip(f"no mirror has it: {error}")


def counted(source: Source) -> list[tuple[str, bytes]]:
    paths = [file.path for file in source.files if is_counted(file.path)]
    return [(path, (source.folder / path).read_bytes()) for path in paths]


def is_beside(path: str) -> bool:
    """Tell whether an import can resolve to the path, though it is not counted."""
    return path.endswith((".py", ".pyi", ".so")) and not is_counted(path)
