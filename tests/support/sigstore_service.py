"""A Sigstore service of the tests' own: its CA, its logs of certificates and signatures.

It issues what GitHub's runners get from the real one: a short-lived certificate that names a
workflow, a DSSE envelope signed with its key, and the record of a transparency log.
"""

import base64
import hashlib
import json
import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

PREFIX = "1.3.6.1.4.1.57264.1"
ISSUER = "https://token.actions.githubusercontent.com"
WORKFLOW = "researchenvbench/researchenvbench/.github/workflows/benchmark.yml@refs/tags/v1"
SIGNED = datetime(2026, 1, 1, tzinfo=UTC)
STARTS, ENDS = SIGNED - timedelta(days=1000), SIGNED + timedelta(days=1000)
FOREVER = {"start": STARTS.isoformat().replace("+00:00", "Z")}


@dataclass(frozen=True)
class Identity:
    """What a certificate says of who signs."""

    repository: str = "acme/bench"
    workflow: str = WORKFLOW
    issuer: str = ISSUER

    @property
    def fields(self):
        """The texts of the certificate, by the last number of their fields."""
        return {
            8: self.issuer,
            9: f"https://github.com/{self.workflow}",
            12: f"https://github.com/{self.repository}",
            21: f"https://github.com/{self.repository}/actions/runs/7/attempts/1",
        }


def new_key():
    return ec.generate_private_key(ec.SECP256R1())


@dataclass(frozen=True)
class Service:
    """The keys of one service; what one signs another does not accept."""

    authority: ec.EllipticCurvePrivateKey = field(default_factory=new_key)
    certificates: ec.EllipticCurvePrivateKey = field(default_factory=new_key)
    log: ec.EllipticCurvePrivateKey = field(default_factory=new_key)

    @property
    def root(self):
        """The text of trusted_root.json."""
        return json.dumps(
            {
                "mediaType": "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
                "tlogs": [_instance(self.log)],
                "certificateAuthorities": [
                    {
                        "subject": {"organization": "tests", "commonName": "tests"},
                        "uri": "https://ca.invalid",
                        "certChain": {"certificates": [{"rawBytes": _text(_der(self._ca()))}]},
                        "validFor": FOREVER,
                    }
                ],
                "ctlogs": [_instance(self.certificates)],
                "timestampAuthorities": [],
            }
        )

    def attest(self, statement, identity=None, *, at=SIGNED):
        """Return a bundle with a statement, signed by an identity."""
        key = new_key()
        certificate = self._leaf(key.public_key(), identity or Identity())
        payload = json.dumps(statement).encode()
        kind = "application/vnd.in-toto+json"
        envelope = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
        signature = _text(_signed(key, envelope))
        pem = certificate.public_bytes(serialization.Encoding.PEM)
        body = {
            "apiVersion": "0.0.1",
            "kind": "dsse",
            "spec": {
                "envelopeHash": {"algorithm": "sha256", "value": "0" * 64},
                "payloadHash": {
                    "algorithm": "sha256",
                    "value": hashlib.sha256(payload).hexdigest(),
                },
                "signatures": [{"signature": signature, "verifier": _text(pem)}],
            },
        }
        return {
            "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
            "verificationMaterial": {
                "certificate": {"rawBytes": _text(_der(certificate))},
                "tlogEntries": [self._entry(json.dumps(body).encode(), int(at.timestamp()))],
            },
            "dsseEnvelope": {
                "payload": _text(payload),
                "payloadType": kind,
                "signatures": [{"sig": signature}],
            },
        }

    def _ca(self):
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
        key = self.authority.public_key()
        builder = _certificate(name, name, key, (STARTS, ENDS), number=1).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        )
        builder = builder.add_extension(_usage(sign=False), critical=True)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key)
        return builder.add_extension(identifier, critical=False).sign(
            self.authority, hashes.SHA256()
        )

    def _leaf(self, key, identity):
        issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
        valid = SIGNED - timedelta(minutes=1), SIGNED + timedelta(minutes=9)
        builder = _certificate(x509.Name([]), issuer, key, valid, number=2)
        for extension, critical in self._extensions(identity):
            builder = builder.add_extension(extension, critical=critical)
        unstamped = builder.sign(self.authority, hashes.SHA256())
        stamp = self._stamp(unstamped.tbs_certificate_bytes)
        return builder.add_extension(stamp, critical=False).sign(self.authority, hashes.SHA256())

    def _extensions(self, identity):
        key = self.authority.public_key()
        yield _usage(sign=True), True
        yield x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), False
        yield x509.AuthorityKeyIdentifier.from_issuer_public_key(key), False
        url = x509.UniformResourceIdentifier(identity.fields[9])
        yield x509.SubjectAlternativeName([url]), True
        for number, text in identity.fields.items():
            oid = x509.ObjectIdentifier(f"{PREFIX}.{number}")
            yield x509.UnrecognizedExtension(oid, _utf8(text)), False

    def _stamp(self, body):
        """Return the certificate log's timestamp (RFC 6962) of a certificate without one."""
        milliseconds = int(SIGNED.timestamp() * 1000)
        issuer = hashlib.sha256(_spki(self.authority)).digest()
        entry = issuer + len(body).to_bytes(3, "big") + body
        data = struct.pack("!BBQH", 0, 0, milliseconds, 1) + entry + b"\0\0"
        signature = _signed(self.certificates, data)
        log = hashlib.sha256(_spki(self.certificates)).digest()
        stamp = struct.pack("!B32sQH", 0, log, milliseconds, 0) + b"\x04\x03"
        stamp += struct.pack("!H", len(signature)) + signature
        stamps = struct.pack("!HH", len(stamp) + 2, len(stamp)) + stamp
        value = b"\x04" + _length(len(stamps)) + stamps
        return x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2"), value)

    def _entry(self, body, seconds):
        """Return the record of the transparency log, which has this one entry."""
        name = hashlib.sha256(_spki(self.log)).digest()
        promise = {
            "body": _text(body), "integratedTime": seconds, "logID": name.hex(), "logIndex": 0,
        }  # fmt: skip
        canonical = json.dumps(promise, sort_keys=True, separators=(",", ":")).encode()
        root = hashlib.sha256(b"\0" + body).digest()
        note = f"log.invalid\n1\n{_text(root)}\n"
        signed = _text(name[:4] + _signed(self.log, note.encode()))
        return {
            "logIndex": "0",
            "logId": {"keyId": _text(name)},
            "kindVersion": {"kind": "dsse", "version": "0.0.1"},
            "integratedTime": str(seconds),
            "inclusionPromise": {"signedEntryTimestamp": _text(_signed(self.log, canonical))},
            "inclusionProof": {
                "logIndex": "0", "rootHash": _text(root), "treeSize": "1", "hashes": [],
                "checkpoint": {"envelope": f"{note}\n\u2014 log.invalid {signed}\n"},
            },
            "canonicalizedBody": _text(body),
        }  # fmt: skip


def statement(*digests, predicate="https://slsa.dev/provenance/v1"):
    """Return a statement of provenance about these digests."""
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": f"{number}/verdict.json", "digest": {"sha256": digest}}
            for number, digest in enumerate(digests)
        ],
        "predicateType": predicate,
        "predicate": {},
    }


def _certificate(subject, issuer, key, valid, *, number):
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
    builder = builder.public_key(key).serial_number(number)
    return builder.not_valid_before(valid[0]).not_valid_after(valid[1])


def _usage(*, sign):
    names = (
        *("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
        *("encipher_only", "decipher_only"),
    )
    off = dict.fromkeys(names, False)
    return x509.KeyUsage(digital_signature=sign, key_cert_sign=not sign, crl_sign=not sign, **off)


def _instance(key):
    return {
        "baseUrl": "https://log.invalid",
        "hashAlgorithm": "SHA2_256",
        "publicKey": {
            "rawBytes": _text(_spki(key)),
            "keyDetails": "PKIX_ECDSA_P256_SHA_256",
            "validFor": FOREVER,
        },
        "logId": {"keyId": _text(hashlib.sha256(_spki(key)).digest())},
    }


def _spki(key):
    return key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def _der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


def _signed(key, data):
    return key.sign(data, ec.ECDSA(hashes.SHA256()))


def _text(data):
    return base64.b64encode(data).decode()


def _utf8(text):
    data = text.encode()
    return b"\x0c" + _length(len(data)) + data


def _length(number):
    if number < 0x80:
        return bytes([number])
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(data)]) + data
