"""Weak forms of proofs are found, strong proofs are not; the corpus gives its reasons."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from reb_action.cli.corpus import validate
from reb_action.corpus import counts, manifests, reasons
from reb_action.corpus.weak_proofs import list_weak_proofs
from reb_action.model.manifest import (
    CurveProof,
    FileKind,
    FileProof,
    Level,
    LogProof,
    MetricProof,
    StepsProof,
    WeakForm,
)
from reb_action.resources import data_folder
from tests.support.evidence import MANIFEST

BASE = (Path(__file__).parents[1] / "demo" / "manifest.yaml").read_text()
FILE = FileProof(file="{out}/model.pt", kind=FileKind.ZIP, min_bytes=1_000_000)
LOSS = MetricProof(metric=r"final loss (\S+)$", minimum=0.01, maximum=5)
SOURCE = 'print("rank 0 holds", part.shape)\n    print(f"score: 0.7 {done}")'
NAME = MANIFEST.repository.partition("/")[2]
CORPUS = manifests.load_folder(data_folder("repos"))


def made(*proofs):
    command = ("{python}", "{repo}/train.py", "--epochs", "3", "--lr=0.5")
    one = replace(MANIFEST.entrypoints[Level.C1], argv=command, decoy="train.py", proofs=proofs)
    return replace(MANIFEST, entrypoints={Level.C1: one}, files={"start.py": SOURCE})


def found(*proofs):
    return {(weak.form.value, weak.index) for weak in list_weak_proofs(made(*proofs))}


def metric(pattern, minimum=None, maximum=None):
    return MetricProof(metric=pattern, minimum=minimum, maximum=maximum)


WEAK = {
    "a file": ((FILE,), "files_only", None),
    "a file of any kind": ((FileProof(file="{out}/a"),), "files_only", None),
    "two files": ((FILE, FileProof(file="{out}/a")), "files_only", None),
    "words": ((LogProof(log="training is over"),), "no_number", None),
    "words and a file": ((LogProof(log="training is over"), FILE), "no_number", None),
    "one step": ((StepsProof(steps="step done, loss", at_least=1),), "no_number", None),
    "no bounds": ((metric(r"loss (\S+)"),), "unbounded", 0),
    "bounds far away": ((FILE, metric(r"loss (\S+)", -1e6, 1e6)), "unbounded", 1),
    "NMI from 0 to 1": ((metric(r"NMI: (\S+)", 0, 1),), "whole_range", 0),
    "NMI below 0": ((metric(r"Mutual \(NMI\): (\S+)", -0.1, 1.1),), "whole_range", 0),
    "ARI from -1 to 1": ((metric(r"\(ARI\): (\S+)", -1, 1),), "whole_range", 0),
    "cosine from -1 to 1": ((metric(r"^cosine (\S+)", -1, 1),), "whole_range", 0),
    "accuracy at most 1": ((metric(r"accuracy (\S+)", None, 1),), "whole_range", 0),
    "accuracy in percent": ((metric(r"accuracy (\S+) %", 0, 100),), "whole_range", 0),
    "a value from 0 to 1": ((metric(r"^gate (\S+)", 0, 1),), "whole_range", 0),
    "a loss of at least 0": ((metric(r"train_loss=(\S+)", 0),), "whole_range", 0),
    "any word": ((LOSS, LogProof(log=r"\w+ \w+")), "any_text", 1),
    "any line": ((LOSS, StepsProof(steps="...", at_least=9)), "any_text", 1),
    "any number": ((metric(r"(\d+)", 1, 3000),), "any_text", 0),
    "any curve": ((CurveProof(curve=r"([\d.]+)", at_least=9, falls=0.1),), "any_text", 0),
    "INFO": ((LOSS, LogProof(log="INFO")), "any_text", 1),
    "a library's name": ((LOSS, LogProof(log="torch")), "failure", 1),
    "CUDA": ((LOSS, LogProof(log="CUDA")), "failure", 1),
    "the repository's name": ((LOSS, LogProof(log=NAME)), "failure", 1),
    "a line of the decoy's traceback": ((LOSS, LogProof(log="<module>")), "failure", 1),
    "the script's name": ((LOSS, LogProof(log=r"train\.py")), "failure", 1),
    "the command": ((LOSS, LogProof(log="--epochs 3")), "failure", 1),
    "a number of the command": ((metric(r"lr=(\S+)", 0.1, 0.9),), "failure", 0),
    "a line of the source": ((LOSS, LogProof(log="rank 0 holds")), "failure", 1),
    "a number of the source": ((metric(r"score: (\S+)", 0.5, 0.9),), "failure", 0),
}


@pytest.mark.parametrize("name", WEAK)
def test_weak_form_is_found(name):
    proofs, form, index = WEAK[name]
    assert found(*proofs) == {(form, index)}


def test_each_form_has_a_case():
    assert {form for _, form, _ in WEAK.values()} == {form.value for form in WeakForm}


STRONG = {
    "a loss with bounds": (LOSS,),
    "a loss below a bound": (metric(r"loss (\S+)", None, 3),),
    "a metric and a file": (LOSS, FILE),
    "accuracy above chance": (metric(r"accuracy (\S+)", 0.6),),
    "NMI near 1": (metric(r"\(NMI\): (\S+)", 0.99, 1.001),),
    "correlation near 1": (metric(r"correlation .*: (\S+)$", 0.9, 1.001),),
    "a loss from 0 to 1": (metric(r"loss (\S+)", 0, 1),),
    "a difference of 0": (metric(r"error (\S+)$", 0, 0),),
    "a norm that is not 0": (metric(r"norm (\S+)$", 0.001, 1e6),),
    "many steps": (StepsProof(steps=r"step=\d+ loss=", at_least=100),),
    "a curve": (CurveProof(curve=r"loss: (\S+),", at_least=20, falls=0.3),),
    "words of the program and steps": (
        LogProof(log="^Starting training on cuda"),
        StepsProof(steps=r"::test_mm\[.*PASSED", at_least=18),
    ),
    "what the source prints, without its text": (metric(r"^score: (\d\.\d+)$", 0.5, 0.9),),
}


@pytest.mark.parametrize("name", STRONG)
def test_strong_proof_is_accepted(name):
    assert found(*STRONG[name]) == set()


@pytest.mark.parametrize("manifest", CORPUS, ids=lambda each: each.slug)
def test_corpus_gives_the_reason_of_each_weak_proof_and_unqualified_level(manifest):
    assert [*reasons.list_weak_faults(manifest), *reasons.list_unqualified_faults(manifest)] == []


def test_corpus_keeps_no_more_weak_forms_than_it_did():
    kept = [form for one in CORPUS for forms in one.weak_proofs.values() for form in forms]
    assert {form: kept.count(form) for form in kept} == {
        WeakForm.FILES_ONLY: 2,
        WeakForm.NO_NUMBER: 18,
        WeakForm.UNBOUNDED: 2,
    }


def test_reason_holds_for_its_form_alone():
    one = made(LogProof(log="INFO"))
    given = replace(one, weak_proofs={Level.C1: {WeakForm.NO_NUMBER: "nothing is computed"}})
    (fault,) = reasons.list_weak_faults(given)
    assert "entrypoints.C1.proofs.0: weak: it accepts a line that any program may" in fault.text
    assert fault.text.endswith("or give the reason as weak_proofs.C1.any_text")


def test_reason_without_a_weak_proof_is_a_fault():
    given = replace(made(LOSS), weak_proofs={Level.C1: {WeakForm.NO_NUMBER: "it was so once"}})
    told = [fault.text for fault in reasons.list_weak_faults(given)]
    assert told == ["weak_proofs.C1.no_number: no proof of C1 has this form; remove the reason"]


def test_reason_of_a_qualified_level_is_a_fault(monkeypatch):
    monkeypatch.setattr(reasons, "is_qualified", lambda *_: True)
    given = replace(made(LOSS), not_qualified={Level.C1: "nobody has tried it"})
    told = [fault.text for fault in reasons.list_unqualified_faults(given)]
    assert told == ["not_qualified.C1: C1 is qualified; remove the reason"]


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a manifest with a weak proof into the corpus and outside; return both files."""
    corpus = tmp_path / "repos"
    own = tmp_path / "own"
    monkeypatch.setattr(counts, "data_folder", lambda name: tmp_path / name)
    for folder in (corpus, own):
        folder.mkdir()
        text = BASE.replace("minimum: 0.6", "minimum: 0")
        (folder / "researchenvbench__spirals.yaml").write_text(text)
    return SimpleNamespace(corpus=corpus, own=own)


def test_weak_proof_is_a_fault_of_the_corpus_with_its_line(written):
    unqualified, weak = counts.list_faults([written.corpus])
    name = "researchenvbench__spirals.yaml"
    assert unqualified.startswith(f"{name}:7: entrypoints.C1: C1 is not qualified; say in")
    assert weak.startswith(f"{name}:14: entrypoints.C1.proofs.1: weak: the bounds of")
    assert list(counts.list_warnings([written.corpus])) == []


def test_weak_proof_of_an_owner_is_a_warning_with_its_line(written):
    assert list(counts.list_faults([written.own])) == []
    (warning,) = counts.list_warnings([written.own])
    assert "spirals.yaml:14: entrypoints.C1.proofs.1: weak: the bounds" in warning


def test_validate_warns_an_owner_and_refuses_the_corpus(written):
    own = CliRunner().invoke(validate, [str(written.own)])
    assert (own.exit_code, own.stderr.count("warning: ")) == (0, 1)
    assert own.stdout.startswith("1 manifest is valid")
    corpus = CliRunner().invoke(validate, [str(written.corpus)])
    assert str(corpus.exception) == "2 faults found; correct the lines above"


def test_reason_about_a_level_without_entry_point_is_refused(tmp_path):
    text = BASE + "not_qualified: {C3: nobody has tried it}\n"
    text += "weak_proofs: {C4: {no_number: nothing is computed}}\n"
    (tmp_path / "m.yaml").write_text(text)
    told = list(counts.list_faults([tmp_path / "m.yaml"]))
    assert told == [
        "m.yaml:23: not_qualified.C3: C3 is not in entrypoints",
        "m.yaml:24: weak_proofs.C4: C4 is not in entrypoints",
    ]
