"""Edited copies of the repository's modules: told wherever they stand, and nothing else is."""

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load
from reb_action.imports import STANDARD_LIBRARY
from reb_action.model.manifest import Level
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.edited_copies import list_own_modules, scan_modules
from reb_action.source.pristine import Source, TrackedFile
from tests.support.editable import write_editable

DEMO = Path(__file__).parents[1] / "demo" / "manifest.yaml"
FILES = {
    "scripts/train.py": b"import thing, single\n",
    "src/thing/__init__.py": b"",
    "src/thing/fit.py": b"VALUE = 1\n",
    "src/thing/deep/__init__.py": b"",
    "src/thing/deep/code.py": b"VALUE = 2\n",
    "src/single.py": b"VALUE = 3\n",
    "setup.py": b"",
    "json.py": b"",
}


@pytest.fixture
def source(tmp_path):
    files = tuple(
        TrackedFile(
            path=path,
            mode="100644",
            blob_sha1=hashlib.sha1(
                b"blob %d\0" % len(content) + content, usedforsecurity=False
            ).hexdigest(),
            size_bytes=len(content),
        )
        for path, content in FILES.items()
    )
    return Source(folder=tmp_path, commit="1" * 40, committed_at=2**30, files=files, submodules=())


@pytest.fixture
def context(scratch, tmp_path):
    full = load(DEMO)
    entrypoint = replace(full.entrypoints[Level.C1], decoy="scripts/train.py")
    wanted = replace(full, entrypoints={Level.C1: entrypoint})
    (tmp_path / "mount").mkdir(exist_ok=True)
    reveal(tmp_path / "mount", wanted)
    for path, content in FILES.items():
        place = Path(scratch.layout.repository, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return ProbeContext(sandbox=scratch, mount=tmp_path / "mount", manifest=wanted)


@pytest.fixture
def site(context):
    """A folder of installed packages with true copies of both modules."""
    place = Path(context.layout.home, "site-packages")
    shutil.copytree(Path(context.layout.repository, "src"), place)
    return place


def copies(context, source, search_paths):
    return scan_modules(context, source, search_paths).copies


def shadowing(context, source, *search_paths):
    return scan_modules(context, source, search_paths).shadowing


def write(*paths):
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


@pytest.mark.parametrize(
    "name",
    ["argparse.py", "argparse.pyc", "yaml.py", "yaml.cpython-311.so", "yaml.abi3.so", "native.py"]
    + [f"json/__init__.{suffix}" for suffix in ("py", "pyc", "so", "abi3.so", "cpython-39-x.so")],
)  # fmt: skip
def test_untracked_module_that_stands_for_another_is_told(context, source, name):
    site = Path(context.layout.home, "site-packages")
    write(Path(context.layout.repository, "scripts", name), site / "yaml/__init__.abi3.so")
    write(site / "native.cpython-311.so")
    told = f"scripts/{name.partition('/')[0]}"
    assert shadowing(context, source, str(site)) == (told,)


@pytest.mark.parametrize(
    "name",
    [
        "scripts/own.py",
        "scripts/json/data.txt",
        "scripts/argparse.txt",
        "elsewhere/argparse.py",
        "scripts/outputs/argparse.py",
        "env/site-packages/argparse.py",
    ],
)
def test_untracked_file_that_stands_for_nothing_is_not_told(context, source, name):
    root = Path(context.layout.repository)
    write(root / name, Path(context.layout.home, "site-packages/yaml.py"))
    site = str(Path(context.layout.home, "site-packages"))
    assert shadowing(context, source, site, str(root / "env/site-packages")) == ()


def test_untracked_module_in_a_search_path_within_the_checkout_is_told(context, source):
    # As the .pth file of an editable install adds it; the tracked json.py is the commit's own.
    src = Path(context.layout.repository, "src")
    write(src / "random.py")
    assert shadowing(context, source, str(src), context.layout.repository) == ("src/random.py",)


def test_module_that_stands_for_another_is_told_among_very_many_files(context, source):
    scripts = Path(context.layout.repository, "scripts")
    write(*(scripts / f"0{number:05}" for number in range(20001)), scripts / "argparse.py")
    assert shadowing(context, source) == ("scripts/argparse.py",)


def test_modules_that_are_left_out_are_counted(context, source):
    names = sorted(STANDARD_LIBRARY)[:53]
    write(*(Path(context.layout.repository, "scripts", f"{name}.py") for name in names))
    told = [f"scripts/{name}.py" for name in names]
    assert shadowing(context, source) == (*told[:50], "and 3 more")


def test_modules_of_the_repository_are_what_can_stand_by_itself(source):
    told = [(str(place), below) for place, below, _ in list_own_modules(source)]
    assert told == [
        ("scripts/train.py", ""),
        ("src/thing", "__init__.py"),
        ("src/thing", "fit.py"),
        ("src/thing", "deep/__init__.py"),
        ("src/thing", "deep/code.py"),
        ("src/single.py", ""),
    ]


def test_true_copies_and_the_checkout_itself_are_not_told(context, source, site):
    src = Path(context.layout.repository, "src")
    assert copies(context, source, (str(site), str(src))) == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("thing/fit.py", "VALUE = 9\n"),
        ("thing/deep/code.py", "VALUE = 2\nVALUE = 9\n"),
        ("single.py", "VALUE = 9\n"),
    ],
)
def test_edited_file_of_a_copy_is_told(context, source, site, name, content):
    (site / name).write_text(content)
    assert copies(context, source, (str(site),)) == (f"{site}/{name}",)


def test_copy_that_is_a_link_to_an_edited_one_is_told(context, source, site):
    shutil.move(site / "thing", site / "elsewhere")
    (site / "thing").symlink_to("elsewhere")
    (site / "thing/fit.py").write_text("VALUE = 9\n")
    assert copies(context, source, (str(site),)) == (f"{site}/thing/fit.py",)


def test_edited_copy_beside_the_script_is_told(context, source, site):
    (site / "thing/fit.py").write_text("VALUE = 9\n")
    beside = Path(context.layout.repository, "scripts/thing")
    shutil.move(site / "thing", beside)
    assert copies(context, source, ()) == (f"{beside}/fit.py",)


def test_another_module_of_the_same_name_is_no_copy(context, source, site):
    shutil.rmtree(site / "thing")
    (site / "thing").mkdir()
    (site / "thing/__init__.py").write_text("VALUE = 9\n")
    assert copies(context, source, (str(site),)) == ()


@pytest.mark.parametrize("suffix", ["", ".py"])
def test_edited_clone_behind_the_finder_of_an_editable_install_is_told(
    context, source, site, suffix
):
    clone = site.with_name("clone")
    shutil.move(site, clone)
    site.mkdir()
    (clone / "thing/fit.py").write_text("VALUE = 9\n")
    (clone / "single.py").write_text("VALUE = 9\n")
    mapping = {"single": f"{clone}/single{suffix}", "thing": f"{clone}/thing"}
    write_editable(site, mapping)
    assert copies(context, source, (str(site),)) == (f"{clone}/single.py", f"{clone}/thing/fit.py")


def test_finder_that_leads_into_the_checkout_is_no_copy(context, source, site):
    shutil.rmtree(site)
    site.mkdir()
    write_editable(site, {"thing": f"{context.layout.repository}/src/thing"})
    Path(context.layout.repository, "src/thing/fit.py").write_text("VALUE = 9\n")
    assert copies(context, source, (str(site),)) == ()


def test_copies_of_any_size_and_name_are_told(context, source, site):
    os.truncate(site / "thing/fit.py", 1 << 40)
    odd = site.with_name("odd\udcff")
    site.rename(odd)
    assert copies(context, source, (str(odd),)) == (f"{site.with_name('odd')}\\xff/thing/fit.py",)
