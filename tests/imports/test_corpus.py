"""Level C0 over the real corpus: the paper's numbers are those of pyright on the checkout itself.

    REB_MIRRORS=FOLDER pytest tests/imports/test_corpus.py -m slow

FOLDER holds git repositories as `reb` takes them for its mirror (`<owner>__<name>` and so on).
A repository that is not there, or lacks its pinned commit, is skipped and says so. Takes about
half a minute for a repository on one core.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load_folder
from reb_action.errors import SourceError
from reb_action.imports import imported_names, owners, read_unresolved
from reb_action.model.manifest import Manifest
from reb_action.probe.imports import files_for_pyright, repository_files
from reb_action.probe.toolchain import copy_toolchain, find_toolchain, write_tree
from reb_action.qualify.oracle import uv
from reb_action.resources import data_folder
from reb_action.source.checkout import checkout
from reb_action.source.pristine import Source
from tests.support.import_world import interpreter_of
from tests.support.pyright_run import answer, complete_toolchain, empty_interpreter

NAMES = Path(__file__).parent / "corpus_names.json"
MIRRORS = os.environ.get("REB_MIRRORS")

ROOT = Path(__file__).parents[2]
GIT = shutil.ignore_patterns(".git")
TEN = (
    "GeeeekExplorer__nano-vllm",
    "NVIDIA__kvpress",
    "OpenBMB__VoxCPM",
    "SWivid__F5-TTS",
    "alephpi__Texo",
    "apple__ml-mdm",
    "feifeibear__long-context-attention",
    "meta-pytorch__torchft",
    "rllm-team__rllm",
    "yuanze-lin__Olympus",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not MIRRORS, reason="REB_MIRRORS names no folder with git mirrors"),
]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    copy_toolchain(find_toolchain(), folder, may_link=True)
    return folder


@pytest.mark.timeout(1500)
@pytest.mark.parametrize("manifest", load_folder(data_folder("repos")), ids=lambda each: each.slug)
def test_total_and_missing_are_as_in_the_checkout_itself(
    manifest: Manifest, tools: Path, tmp_path: Path
):
    source = pinned(manifest, tmp_path / "source")
    files = repository_files(source)
    names = [imported_names(content) for content in files.counted.values()]
    assert len(frozenset[str]().union(*names)) == manifest.imports

    search = empty_interpreter()
    write_tree(tmp_path / "checkout", files=(), search=search)
    tree = tmp_path / "checkout" / "tree"
    shutil.copytree(source.folder, tree, symlinks=True, dirs_exist_ok=True, ignore=GIT)
    seen = files_for_pyright(source, files)
    write_tree(tmp_path / "seen", files=seen.items(), links=files.links.items(), search=search)
    complete = complete_toolchain(tmp_path / "complete")
    checkout = read_unresolved(answer(complete, tmp_path / "checkout"))
    reduced = read_unresolved(answer(tools, tmp_path / "seen"))
    # How many files pyright counts depends on what stands beside them; the names do not.
    assert (checkout.missing, checkout.stub_only) == (reduced.missing, reduced.stub_only)
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


@pytest.mark.timeout(1500)
def test_another_python_of_the_harness_says_the_same(tmp_path: Path):
    python = tmp_path / "venv" / "bin" / "python"
    make = [uv() or "uv", "venv", "-q", "-p", interpreter_of("python3.13"), tmp_path / "venv"]
    if subprocess.run(make, check=False).returncode:
        pytest.skip("there is no Python 3.13")
    lock = ("--require-hashes", "-r", ROOT / "requirements.lock")
    subprocess.run([uv() or "uv", "pip", "install", "-q", "--python", python, *lock], check=True)

    def answers(interpreter: str | Path) -> object:
        argv = [interpreter, "-m", "tests.support.import_answers", MIRRORS or "", *TEN]
        run = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True, timeout=900)
        return json.loads(run.stdout)

    assert answers(sys.executable) == answers(python)


def pinned(manifest: Manifest, folder: Path) -> Source:
    """Check the commit out from the mirrors alone, never from the network."""
    nowhere = (folder.parent / "nowhere").as_uri()
    try:
        mirror = Path(MIRRORS or "")
        return checkout(manifest, folder=folder, mirror=mirror, origins=(nowhere,), tell=print)
    except SourceError as error:
        pytest.skip(f"no mirror has it: {error}")
