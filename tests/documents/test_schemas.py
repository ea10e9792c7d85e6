"""The schemas agree with the types, with each other, and with every manifest of the corpus."""

import json
import subprocess
import sys
from dataclasses import MISSING, fields
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reb_action.corpus import manifests as corpus_manifests
from reb_action.model.manifest import (
    Asset,
    CurveProof,
    Entrypoint,
    FileKind,
    FileProof,
    Framework,
    Level,
    LogProof,
    Manifest,
    MetricProof,
    Oracle,
    Setup,
    Stage,
    StepsProof,
)
from reb_action.model.report import Report
from reb_action.session.evidence import DOCUMENTS

ROOT = Path(__file__).parents[2]
SCHEMAS = {path.name.removesuffix(".schema.json"): path for path in ROOT.glob("schemas/*.json")}
REPOSITORIES = sorted(ROOT.glob("repos/*.yaml"))
HAND_WRITTEN = {"manifest", "report", "agent"}

# The paper's denominators (section 4): repositories that a level counts over.
PAPER = {Level.C1: 29, Level.C2: 44, Level.C3: 43, Level.C4: 32}
PAPER_IMPORTS = 2858


def schema(name):
    return json.loads(SCHEMAS[name].read_text())


MANIFEST = schema("manifest")
ENTRYPOINT = MANIFEST["$defs"]["entrypoint"]
PROOFS = ENTRYPOINT["properties"]["proofs"]["items"]["oneOf"]


def test_generated_schemas_are_up_to_date():
    argv = [sys.executable, "schemas/generate.py", "--check"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


# Shell lines are written as a list, and whether a manifest follows its checkout is known later.
_NOT_WRITTEN = {Manifest: {"follows_checkout"}, Setup: {"lines"}}


def test_every_document_has_its_schema():
    assert set(DOCUMENTS) | HAND_WRITTEN <= set(SCHEMAS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_valid_and_says_what_it_is(name):
    text = schema(name)
    Draft202012Validator.check_schema(text)
    assert text["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert text["$id"] == f"{name}.schema.json"
    assert text["description"]


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        (Manifest, MANIFEST),
        (Entrypoint, ENTRYPOINT),
        (Asset, MANIFEST["properties"]["assets"]["items"]),
        (Oracle, MANIFEST["properties"]["oracle"]),
        (Setup, MANIFEST["properties"]["setup"]["oneOf"][1]),
        (Stage, MANIFEST["properties"]["stages"]["additionalProperties"]),
        (FileProof, PROOFS[0]),
        (LogProof, PROOFS[1]),
        (MetricProof, PROOFS[2]),
        (StepsProof, PROOFS[3]),
        (CurveProof, PROOFS[4]),
    ],
)
def test_keys_of_the_schema_are_the_fields_of_the_type(kind, part):
    written = {field.name for field in fields(kind)} - _NOT_WRITTEN.get(kind, set())
    assert set(part["properties"]) == written
    assert part["additionalProperties"] is False
    needed = {
        field.name
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    }
    assert set(part.get("required", ())) == needed


def test_words_of_the_schema_are_those_of_the_types():
    assert PROOFS[0]["properties"]["kind"]["enum"] == list(FileKind)
    assert MANIFEST["properties"]["frameworks"]["items"]["enum"] == list(Framework)
    reasons = MANIFEST["$defs"]["reasons"]["propertyNames"]["enum"]
    assert reasons == [Level.C1, Level.C2, Level.C3, Level.C4]


def test_report_has_every_field_of_the_schema_that_is_kept():
    text = schema("report")
    kept = {field.name for field in fields(Report)} - {"faults"}
    assert kept == {*text["required"], "environment"}
    ignored = {"dataset_hf_id", "model_hf_id", "installed_packages", "capabilities", "artifacts"}
    assert set(text["properties"]) == kept | ignored


@pytest.mark.parametrize("path", REPOSITORIES, ids=[path.stem for path in REPOSITORIES])
def test_manifest_of_the_corpus_is_read(path):
    read = corpus_manifests.load(path)
    assert path.stem == read.slug
    assert read.domain != "example"


def counted(manifests, level):
    return sum(level not in one.not_applicable for one in manifests)


def test_denominators_of_the_corpus_are_the_papers():
    manifests = [corpus_manifests.load(path) for path in REPOSITORIES]
    counts = {level: counted(manifests, level) for level in PAPER}
    imports = sum(one.imports for one in manifests)
    if len(manifests) < PAPER[Level.C2]:
        assert all(counts[level] <= PAPER[level] for level in PAPER)
        assert imports < PAPER_IMPORTS
    else:
        assert (counts, imports) == (PAPER, PAPER_IMPORTS)
