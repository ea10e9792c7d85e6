"""The page of the corpus's imports agrees with the names that a test holds C0 to, and adds up."""

import json
import re
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load_folder
from reb_action.imports import is_build_file
from reb_action.model.manifest import Manifest
from reb_action.resources import data_folder

NAMES = json.loads((Path(__file__).parent / "corpus_names.json").read_text())
PAGE = (Path(__file__).parents[2] / "docs" / "imports-corpus.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.splitlines()]
COUNTS = {row[0]: row[1:] for row in ROWS if len(row) == 5 and row[1].isdecimal()}
HIDDEN = ("own", "lost")


def changes(manifest: Manifest) -> dict[str, list[str]]:
    return {
        row[1]: row[2:]
        for row in ROWS
        if row[0] == manifest.repository and row[2:3] != [] and row[2] in ("required", *HIDDEN)
    }


@pytest.mark.parametrize("manifest", load_folder(data_folder("repos")), ids=lambda each: each.slug)
def test_each_name_that_changed_sides_has_a_reason(manifest: Manifest):
    found = NAMES.get(manifest.slug)
    changed = changes(manifest)
    if found is None:
        assert f"| {manifest.repository} | ? | ? | ? | ? |" in PAGE
        assert not changed
        return
    listed = {name for name in manifest.unobtainable if "." not in name}
    required = set(found["required"]) - listed
    new = {name for name, row in changed.items() if row[0] in HIDDEN and row[1] == "required"}
    gone = {name for name, row in changed.items() if row[0] == "required" and "." not in name}
    assert all(row[2] and "?" not in row[2] for row in changed.values())
    assert new <= required
    assert {name for name, row in changed.items() if row[1] == "not counted"} == {
        *manifest.unobtainable
    }
    before, now, optional, unobtainable = map(int, COUNTS[manifest.repository])
    assert now == len(required)
    assert optional == len(found["optional"])
    assert unobtainable == len(listed)
    assert before == now - len(new) + len(gone)


def test_page_has_every_repository():
    slugs = {manifest.repository for manifest in load_folder(data_folder("repos"))}
    assert set(re.findall(r"^\| (\S+/\S+) \|", PAGE, re.MULTILINE)) == slugs


def test_files_that_a_record_left_out_are_none_that_c0_reads():
    records = (data_folder("repos") / "qualified").glob("*.C0.json")
    left = [
        path for one in records for path in json.loads(one.read_text())["value"].get("left_out", [])
    ]
    assert left
    assert [path for path in left if path.endswith((".py", ".pyi", ".so"))] == []
    assert not any(map(is_build_file, left))
