"""What vouches for the folder of a trial: its own hashes little, the signature of a run much."""

import base64
import hashlib
import json
from dataclasses import replace
from datetime import timedelta

import pytest
from click.testing import CliRunner

from reb_action.cli.main import cli
from reb_action.errors import DocumentError, SignatureError, ToolchainError, UsageError
from reb_action.results.collection import collect
from reb_action.session import attestation, verdict
from reb_action.session.layout import SessionLayout
from reb_action.session.signature import SUBJECTS_MAX, Signer
from reb_action.workflow.report import _write_subjects
from tests.support.scoreboards import evidence_of
from tests.support.sigstore_service import SIGNED, WORKFLOW, Identity, Service, statement
from tests.support.trial_folders import put

VIM = "hustvl__Vim.codex.1"
OTHER = "0" * 64
SIGNER = Signer(repository="acme/bench")
UNCHANGED = f"{VIM}: unchanged; the evidence gives the same verdict\n"
UNSIGNED = (
    "reb: unsigned: the hashes of this folder detect accidental changes only, because anyone who "
    "changes it can recompute them"
)


@pytest.fixture(scope="module")
def service():
    return Service()


@pytest.fixture
def folder(tmp_path):
    """The folder of a trial of which nothing but C1 failed."""
    put(tmp_path / VIM, evidence_of("hustvl/Vim", "codex", 1))
    return tmp_path / VIM


@pytest.fixture
def root(tmp_path, service):
    path = tmp_path / "trusted_root.json"
    path.write_text(service.root)
    return path


def digest_of(folder):
    return hashlib.sha256((folder / "verdict.json").read_bytes()).hexdigest()


def bundle_of(folder, *bundles):
    path = folder.parent / "attestation.json"
    path.write_text("".join(json.dumps(bundle) + "\n" for bundle in bundles))
    return path


def verify(folder, *more):
    return CliRunner().invoke(cli, ["verify", str(folder), *map(str, more)])


def options(bundle, root, repository="acme/bench"):
    return "--bundle", bundle, "--repository", repository, "--trusted-root", root


def forge(folder):
    """Do what the hashes cannot show: change evidence, then judge anew as if for the first time."""
    path = folder / "levels" / "C1.json"
    document = json.loads(path.read_text())
    document["value"]["seconds"] = 1.5
    path.write_text(json.dumps(document))
    (folder / "verdict.json").unlink()
    verdict.conclude(SessionLayout(folder=folder))


def test_signed_folder_is_verified_and_the_run_is_named(folder, service, root):
    path = bundle_of(folder, service.attest(statement(OTHER, digest_of(folder))))
    done = verify(folder, *options(path, root))
    assert (done.exit_code, done.output) == (
        0,
        f"{UNCHANGED}signed by {WORKFLOW}\nin https://github.com/acme/bench/actions/runs/7/attempts/1\n",
    )


def test_unsigned_folder_is_not_verified(folder):
    done = verify(folder)
    assert isinstance(done.exception, SignatureError)
    assert (done.stdout, done.exception.exit_code) == (UNCHANGED, 11)
    assert str(done.exception) == f"{UNSIGNED[5:]}; name an attestation with --bundle"


def test_judge_says_that_it_checks_no_signature(folder):
    done = CliRunner().invoke(cli, ["judge", str(folder)])
    assert (done.exit_code, done.stderr) == (0, f"{UNSIGNED}; reb verify checks a signature\n")


def test_changed_evidence_is_refused_by_name_although_its_old_digest_is_signed(
    folder, service, root
):
    path = bundle_of(folder, service.attest(statement(digest_of(folder))))
    (folder / "levels" / "C1.log").write_text("done\n")
    done = verify(folder, *options(path, root))
    assert isinstance(done.exception, DocumentError)
    assert (
        str(done.exception)
        == "levels/C1.log differs from what was judged: this artifact was changed"
    )


def test_hashes_that_were_computed_anew_fool_judge_and_not_the_signature(folder, service, root):
    path = bundle_of(folder, service.attest(statement(digest_of(folder))))
    forge(folder)
    assert collect([folder.parent]).found[VIM] == verdict.verify(SessionLayout(folder=folder))
    done = verify(folder, *options(path, root))
    assert done.stdout == UNCHANGED
    assert isinstance(done.exception, SignatureError)
    assert str(done.exception) == (
        f"attestation.json is signed, but not for this verdict.json (sha256 {digest_of(folder)})"
    )


def test_folder_without_a_verdict_is_not_judged_in_its_place(folder, service, root):
    path = bundle_of(folder, service.attest(statement(digest_of(folder))))
    (folder / "verdict.json").unlink()
    done = verify(folder, *options(path, root))
    assert isinstance(done.exception, DocumentError)


PATH = WORKFLOW.split("@")[0]
WHO = {
    "another repository": Identity(repository="mallory/bench"),
    "a repository that begins with it": Identity(repository="acme/bench2"),
    "another workflow": Identity(workflow="acme/bench/.github/workflows/own.yml@refs/tags/v1"),
    "a fork of the workflow": Identity(workflow=WORKFLOW.replace("researchenvbench", "x", 1)),
    "a branch of the workflow": Identity(workflow=WORKFLOW.replace("tags/v1", "heads/main")),
    "a commit, which only a fork may have": Identity(workflow=f"{PATH}@{'a' * 40}"),
    "another issuer": Identity(issuer="https://accounts.example.com"),
    "no repository": Identity(repository=""),
}  # fmt: skip


@pytest.mark.parametrize("identity", WHO.values(), ids=WHO)
def test_signature_of_somebody_else_is_refused(folder, service, root, identity):
    path = bundle_of(folder, service.attest(statement(digest_of(folder)), identity))
    with pytest.raises(SignatureError, match="the attestation is not valid: "):
        verdict.verify_signature(SessionLayout(folder=folder), path, SIGNER, trusted_root=root)


def test_workflow_and_ref_can_be_named(folder, service, root):
    workflow = "acme/bench/.github/workflows/own.yml@refs/heads/main"
    path = bundle_of(
        folder, service.attest(statement(digest_of(folder)), Identity(workflow=workflow))
    )
    layout = SessionLayout(folder=folder)
    signer = Signer(repository="acme/bench", workflow=workflow)
    signed = verdict.verify_signature(layout, path, signer, trusted_root=root)
    assert signed.workflow == workflow
    other = replace(signer, workflow=workflow.replace("main", "other"))
    with pytest.raises(SignatureError, match=f"{workflow} signed it, not {other.workflow}"):
        verdict.verify_signature(layout, path, other, trusted_root=root)


def flipped(text):
    data = bytearray(base64.b64decode(text))
    data[-1] ^= 1
    return base64.b64encode(data).decode()


def of_other_payload(bundle, digest):
    payload = base64.b64encode(json.dumps(statement(digest)).encode()).decode()
    return {**bundle, "dsseEnvelope": {**bundle["dsseEnvelope"], "payload": payload}}


def of_other_signature(bundle, _):
    (signature,) = bundle["dsseEnvelope"]["signatures"]
    changed = {"sig": flipped(signature["sig"])}
    return {**bundle, "dsseEnvelope": {**bundle["dsseEnvelope"], "signatures": [changed]}}


def without_log(bundle, _):
    material = {**bundle["verificationMaterial"], "tlogEntries": []}
    return {**bundle, "verificationMaterial": material}


def of_other_log(bundle, digest):
    foreign = Service().attest(statement(digest))["verificationMaterial"]["tlogEntries"]
    material = {**bundle["verificationMaterial"], "tlogEntries": foreign}
    return {**bundle, "verificationMaterial": material}


def of_other_certificate(bundle, digest):
    foreign = Service().attest(statement(digest))["verificationMaterial"]["certificate"]
    return {
        **bundle,
        "verificationMaterial": {**bundle["verificationMaterial"], "certificate": foreign},
    }


FORGERIES = [of_other_payload, of_other_signature, without_log, of_other_log, of_other_certificate]


@pytest.mark.parametrize("forged", FORGERIES)
def test_forged_bundle_is_refused(folder, service, root, forged):
    digest = digest_of(folder)
    bundle = forged(service.attest(statement(OTHER)), digest)
    path = bundle_of(folder, bundle)
    with pytest.raises(SignatureError):
        verdict.verify_signature(SessionLayout(folder=folder), path, SIGNER, trusted_root=root)


def parts_of(value, path=()):
    """Yield the path of every part of a document."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield (*path, key)
        yield from parts_of(value[key], (*path, key))


def changed_at(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = changed_at(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("new", [None, "", "AAAA", 10**30, [], {}], ids=repr)
def test_bundle_with_any_part_replaced_is_refused_in_one_line(folder, service, root, new):
    bundle, digest = service.attest(statement(digest_of(folder))), digest_of(folder)
    changed = [changed_at(bundle, path, new) for path in parts_of(bundle)]
    assert len(changed) > 25
    for other in changed:
        path = bundle_of(folder, other)
        # Of a log with one entry the proof has no hashes, so one replacement changes nothing.
        if other != bundle:
            with pytest.raises(SignatureError):
                attestation.find(path, digest, SIGNER, root)


def test_bundle_of_another_authority_is_refused(folder, root):
    path = bundle_of(folder, Service().attest(statement(digest_of(folder))))
    with pytest.raises(SignatureError, match="failed to build timestamp certificate chain"):
        verdict.verify_signature(SessionLayout(folder=folder), path, SIGNER, trusted_root=root)


def test_signature_after_the_end_of_its_certificate_is_refused(folder, service, root):
    late = service.attest(statement(digest_of(folder)), at=SIGNED + timedelta(hours=1))
    path = bundle_of(folder, late)
    with pytest.raises(SignatureError):
        verdict.verify_signature(SessionLayout(folder=folder), path, SIGNER, trusted_root=root)


STATEMENTS = {
    "another predicate": lambda digest: statement(digest, predicate="https://example.com/bad"),
    "another type": lambda digest: {**statement(digest), "_type": "https://example.com"},
    "no subject": lambda digest: {**statement(digest), "subject": None},
    "a subject without digest": lambda digest: {**statement(digest), "subject": [{"name": digest}]},
    "a list": lambda digest: [digest],
    "a text": lambda digest: digest,
}


@pytest.mark.parametrize("made", STATEMENTS.values(), ids=STATEMENTS)
def test_statement_of_another_kind_says_nothing_of_evidence(folder, service, root, made):
    path = bundle_of(folder, service.attest(made(digest_of(folder))))
    with pytest.raises(SignatureError):
        verdict.verify_signature(SessionLayout(folder=folder), path, SIGNER, trusted_root=root)


def test_one_of_several_bundles_is_enough(folder, service, root):
    foreign = service.attest(statement(digest_of(folder)), Identity(repository="mallory/bench"))
    good = service.attest(statement(digest_of(folder)))
    path = bundle_of(folder, foreign, service.attest(statement(OTHER)), good)
    layout = SessionLayout(folder=folder)
    signed = verdict.verify_signature(layout, path, SIGNER, trusted_root=root)
    assert digest_of(folder) in signed.digests


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "not json", "\x00", '{"mediaType": 1}', "{}\n{}\n"]
)
def test_what_is_no_bundle_is_refused_in_one_line(folder, root, text):
    path = folder.parent / "attestation.json"
    path.write_text(text)
    with pytest.raises(SignatureError, match=r"^attestation\.json "):
        verdict.verify_signature(SessionLayout(folder=folder), path, SIGNER, trusted_root=root)


def test_what_is_no_trusted_root_is_refused(folder, service, tmp_path):
    path = bundle_of(folder, service.attest(statement(digest_of(folder))))
    root = tmp_path / "root.json"
    root.write_text("{}")
    with pytest.raises(DocumentError, match=r"root\.json is not a trusted root"):
        verdict.verify_signature(SessionLayout(folder=folder), path, SIGNER, trusted_root=root)


def test_sigstores_own_root_does_not_accept_a_bundle_of_ours(
    folder, service, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = bundle_of(folder, service.attest(statement(digest_of(folder))))
    with pytest.raises(SignatureError):
        verdict.verify_signature(SessionLayout(folder=folder), path, SIGNER)


def test_without_sigstore_the_signature_is_not_taken_for_good(folder, service, root, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "reb_action.session.attestation", None)
    monkeypatch.delattr("reb_action.session.attestation", raising=False)
    path = bundle_of(folder, service.attest(statement(digest_of(folder))))
    with pytest.raises(ToolchainError, match="pip install sigstore"):
        verdict.verify_signature(SessionLayout(folder=folder), path, SIGNER, trusted_root=root)


def test_bundle_needs_the_name_of_the_repository(folder, service, root):
    path = bundle_of(folder, service.attest(statement(digest_of(folder))))
    assert verify(folder, "--bundle", path, "--trusted-root", root).exit_code == 2


@pytest.mark.parametrize(
    "names",
    [
        {"repository": "acme"},
        {"repository": "acme/bench/"},
        {"repository": "acme/bench", "workflow": "benchmark.yml"},
    ],
)
def test_signer_that_no_certificate_can_name_is_refused(names):
    with pytest.raises(UsageError):
        Signer(**names)


def test_subjects_are_what_sha256sum_prints(folder):
    path = folder.parent / "subjects.sha256"
    assert _write_subjects(path, collect([folder.parent]), print) == str(path)
    assert path.read_text() == f"{digest_of(folder)}  {VIM}/verdict.json\n"


def test_changed_trial_is_no_subject(folder):
    (folder / "levels" / "C1.log").write_text("done\n")
    path = folder.parent / "subjects.sha256"
    assert (_write_subjects(path, collect([folder.parent]), print), path.exists()) == ("", False)


def test_more_subjects_than_one_attestation_takes_are_not_signed(folder):
    places = {str(number): SessionLayout(folder=folder) for number in range(SUBJECTS_MAX)}
    assert len(verdict.subjects(places).splitlines()) == SUBJECTS_MAX
    with pytest.raises(SignatureError, match="1025 trials are more than the 1024"):
        verdict.subjects({**places, "more": SessionLayout(folder=folder)})
