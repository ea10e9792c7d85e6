"""What a manifest names of its repository is there at the commit, or it is refused by name."""

from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.errors import DocumentError
from reb_action.model.manifest import Level, Oracle
from reb_action.source import entrypoints
from reb_action.source.pristine import Source, TrackedFile
from tests.support.evidence import ENTRYPOINT, MANIFEST

MODES = {
    "train.py": "100644",
    "tools/run.py": "100755",
    "tools/setup.py": "100644",
    "pyproject.toml": "100644",
    "latest.py": "120000",
    "data": "120000",
}
SOURCE = Source(
    folder=Path("/nowhere"),
    commit=MANIFEST.commit,
    committed_at=0,
    files=tuple(
        TrackedFile(path=path, mode=mode, blob_sha1="", size_bytes=1)
        for path, mode in MODES.items()
    ),
    submodules=("third",),
)


def with_entrypoint(**change):
    return replace(MANIFEST, entrypoints={Level.C3: replace(ENTRYPOINT, **change)})


def fault(demand, manifest):
    """Return what is told between the manifest's name and the advice."""
    with pytest.raises(DocumentError) as told:
        demand(manifest, SOURCE)
    begin, end = "the manifest of owner/name: ", " at commit 000000000000; correct the path or"
    assert str(told.value).startswith(begin)
    return str(told.value)[len(begin) :].partition(end)[0]


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ({"decoy": "nope.py"}, 'decoy: "nope.py" is not a tracked file'),
        ({"decoy": "tools"}, 'decoy: "tools" is not a tracked file'),
        ({"decoy": "Train.py"}, 'decoy: "Train.py" is not a tracked file'),
        ({"decoy": "latest.py"}, 'decoy: "latest.py" is a symbolic link, not a file'),
        ({"decoy": "third/a.py"}, 'decoy: "third/a.py" is not a tracked file'),
        ({"writes": ("log.txt",)}, 'writes: "log.txt" is not a tracked file'),
        ({"writes": ("train.py", "data")}, 'writes: "data" is not a tracked file'),
        ({"argv": ("{python}", "{repo}/a.py")}, 'argv: "{repo}/a.py" is not a tracked file'),
        ({"argv": ("{python}", "trian.py")}, 'argv: "trian.py" is not a tracked file'),
        (
            {"argv": ("{python}", "train.py"), "cwd": "{repo}/tools"},
            'argv: "train.py" is not a tracked file',
        ),
        ({"cwd": "{repo}/tool"}, 'cwd: "{repo}/tool" is not a folder with tracked files'),
        ({"cwd": "{repo}/train.py"}, 'cwd: "{repo}/train.py" is not a folder with tracked files'),
    ],
)
def test_entry_point_that_names_what_is_not_there_is_refused(change, wanted):
    told = fault(entrypoints.demand_entrypoints, with_entrypoint(**change))
    assert told == f"entrypoints.C3.{wanted}"


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"decoy": "./train.py"},
        {"decoy": "tools/run.py", "argv": ("{python}", "{repo}/latest.py"), "cwd": "{repo}/tools/"},
        {"argv": ("a.py", "{out}/made.py", "{repo}/made"), "cwd": "{out}/made"},
        {"cwd": "{repo}/third"},
        {"cwd": "{repo}/data"},
        {"cwd": "{repo}/."},
        {"writes": ("pyproject.toml",)},
    ],
)
def test_entry_point_that_names_what_is_there_or_will_be_made_is_taken(change):
    assert entrypoints.demand_entrypoints(with_entrypoint(**change), SOURCE) is None


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        (".", None),
        ("./tools", None),
        ("tool", '"tool" holds no tracked pyproject.toml or setup.py'),
        ("train.py", '"train.py" holds no tracked pyproject.toml or setup.py'),
        ("tools/..", '"tools/.." holds no tracked pyproject.toml or setup.py'),
    ],
)
def test_oracle_installs_only_what_is_there(path, wanted):
    manifest = replace(MANIFEST, oracle=Oracle(repository=("tools", path)))
    if wanted is None:
        assert entrypoints.demand_oracle(manifest, SOURCE) is None
    else:
        assert fault(entrypoints.demand_oracle, manifest) == f"oracle.repository: {wanted}"


def test_manifest_without_an_oracle_asks_for_nothing():
    assert entrypoints.demand_oracle(MANIFEST, SOURCE) is None
