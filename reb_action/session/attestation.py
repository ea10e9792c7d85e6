"""Verifies GitHub's artifact attestations with Sigstore's library, without a network.

A certificate of some minutes names the workflow and the repository that signed, and a public log
proves when it was used.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, cast

from cryptography.x509 import Certificate, ExtensionNotFound, ObjectIdentifier
from sigstore.errors import Error, VerificationError
from sigstore.models import Bundle, TrustedRoot
from sigstore.verify import Verifier, policy

from reb_action import documents
from reb_action.errors import DocumentError, SignatureError
from reb_action.session.signature import Attestation, Signer

BUNDLE_BYTES: Final = 16 * 1024 * 1024

_ISSUER: Final = "https://token.actions.githubusercontent.com"
_SERVER: Final = "https://github.com/"
_PAYLOAD: Final = "application/vnd.in-toto+json"
_STATEMENT: Final = "https://in-toto.io/Statement/v1"
_PREDICATE: Final = "https://slsa.dev/provenance/v1"

# The fields of a certificate: https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md
_WORKFLOW_FIELD: Final = policy.OIDCBuildSignerURI.oid
_RUN_FIELD: Final = policy.OIDCRunInvocationURI.oid

# sigstore warns about its offline mode, which is intended here.
logging.getLogger("sigstore").addHandler(logging.NullHandler())


def find(bundle: Path, digest: str, signer: Signer, trusted_root: Path | None) -> Attestation:
    """Return the attestation in a file that the signer made of a SHA-256 digest.

    The file has one bundle, or one on each line, as `gh attestation download` writes them. Raises
    SignatureError where none is valid, by the signer and of this digest.
    """
    verifier = _verifier(trusted_root)
    fault = f"{bundle.name} has no attestation"
    for text in _split(documents.read_bytes(bundle, limit=BUNDLE_BYTES)):
        try:
            attestation = _verify(_parse(text, bundle.name), signer, verifier)
        except SignatureError as error:
            fault = str(error)
            continue
        if digest in attestation.digests:
            return attestation
        fault = f"{bundle.name} is signed, but not for this verdict.json (sha256 {digest})"
    raise SignatureError(fault)


def _split(data: bytes) -> Iterator[bytes]:
    """Yield the only bundle of a file, or one bundle for each line."""
    lines = [line.strip() for line in data.splitlines() if line.strip()]
    each_line = all(line.startswith(b"{") and line.endswith(b"}") for line in lines)
    yield from lines if each_line else [data]


def _parse(data: bytes, name: str) -> Bundle:
    try:
        return Bundle.from_json(data)
    except (Error, ValueError):
        raise SignatureError(
            f"{name} is not a Sigstore bundle{_describe_form(data)}; name attestation.json of the"
            " report's artifact, or what gh attestation download wrote"
        ) from None


def _describe_form(data: bytes) -> str:
    """Return why a file is not an attestation; sigstore's error names only its own classes."""
    try:
        documents.parse_json(data)
    except documents.NotJsonError:
        return ": it is not JSON"
    return ": it is JSON of another form"


def _verify(bundle: Bundle, signer: Signer, verifier: Verifier) -> Attestation:
    expected = policy.AllOf(
        [
            policy.OIDCIssuerV2(_ISSUER),
            policy.OIDCSourceRepositoryURI(_SERVER + signer.repository),
            _WorkflowPolicy(signer),
        ]
    )
    certificate = bundle.signing_certificate
    try:
        kind, payload = verifier.verify_dsse(bundle, expected)
        workflow, run = _workflow(certificate), _field(certificate, _RUN_FIELD)
    except (Error, ExtensionNotFound, ValueError) as error:
        raise SignatureError(f"the attestation is not valid: {_line(error)}") from None
    return Attestation(workflow=workflow, run=run, digests=_digests(kind, payload))


class _WorkflowPolicy:
    """Accepts certificates of the expected workflow; sigstore's own policies have no "any tag"."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer

    def verify(self, cert: Certificate) -> None:
        """Raise VerificationError for another workflow."""
        workflow = _workflow(cert)
        if not self._signer.accepts(workflow):
            expected = self._signer.workflow
            at_tag = "" if "@" in expected else " at a tag"
            raise VerificationError(f"{workflow} signed it, not {expected}{at_tag}")


def _workflow(certificate: Certificate) -> str:
    return _field(certificate, _WORKFLOW_FIELD).removeprefix(_SERVER)


class _Unparsed(Protocol):
    """An extension of a certificate that cryptography has no type for."""

    value: bytes


def _field(certificate: Certificate, field: ObjectIdentifier) -> str:
    extension = certificate.extensions.get_extension_for_oid(field).value
    data = cast(_Unparsed, extension).value
    # DER's UTF8String: a length up to 127 is one byte; a longer one starts with its byte count.
    if len(data) < 2 or data[0] != 0x0C:
        raise ValueError(f"the certificate's field {field.dotted_string} is not text")
    skip = 2 if data[1] < 0x80 else 2 + (data[1] & 0x7F)
    return data[skip:].decode("utf-8")


def _digests(kind: str, payload: bytes) -> frozenset[str]:
    """Return the digests of a statement of provenance; any other kind says something else."""
    try:
        statement = cast(Mapping[str, object], documents.parse_json(payload))
        is_ours = (kind, statement["_type"], statement["predicateType"]) == _EXPECTED
        subjects = cast(Sequence[Mapping[str, Mapping[str, str]]], statement["subject"])
        digests = frozenset(subject["digest"]["sha256"] for subject in subjects)
    except (documents.NotJsonError, KeyError, TypeError) as error:
        raise SignatureError(f"the attestation's statement is malformed: {_line(error)}") from None
    if not is_ours:
        raise SignatureError("the attestation is signed, but it is not one of provenance")
    return digests


def _verifier(trusted_root: Path | None) -> Verifier:
    if trusted_root is None:
        return Verifier.production(offline=True)
    try:
        return Verifier(trusted_root=TrustedRoot.from_file(str(trusted_root)))
    except (Error, ValueError):
        form = _describe_form(documents.read_bytes(trusted_root, limit=BUNDLE_BYTES))
        raise DocumentError(f"{trusted_root} is not a trusted root{form}") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


_EXPECTED: Final = (_PAYLOAD, _STATEMENT, _PREDICATE)
