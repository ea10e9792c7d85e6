"""Reports with a slip, honest or hostile: what becomes of each, and what became of it before.

Every report is of an agent that did right and, the slip apart, claims what is so.
"""

import json
from dataclasses import dataclass

GOOD = {
    "python_path": "/venv/bin/python",
    "python_version": "3.11.2",
    "torch_version": "2.4.0+cu124",
    "cuda_available": True,
    "gpu_count": 2,
    "ddp_expected_ok": True,
    "env_tool": "venv",
    "env_name": None,
    "notes": None,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Slip:
    """A report; whether it blocks the levels, the fields that are named, C5 in both scorings.

    `before` is what became of it when any fault blocked every level: `blocked`, or `used`.
    """

    data: bytes
    before: str
    blocked: bool = False
    faults: tuple[str, ...] = ()
    strict: str = "passed"
    paper: str = "passed"
    counts: tuple[int, int, int] = (0, 0, 0)


def text(**fields):
    """The good report with other fields."""
    return json.dumps({**GOOD, **fields}).encode()


def without(*names):
    """The good report without some fields."""
    return json.dumps({key: value for key, value in GOOD.items() if key not in names}).encode()


def put(old, new):
    """The good report with other bytes in it."""
    whole = text()
    assert old in whole
    return whole.replace(old, new)


def nested(depth):
    """An object nested in itself."""
    return b'{"a":' * depth + b"1" + b"}" * depth


def harmless(data, *faults, before="blocked"):
    """A slip outside of the checkable claims: named, and nothing else."""
    return Slip(data=data, before=before, faults=faults)


def claim(data, *faults, before="blocked"):
    """A claim that cannot be checked: strict C5 fails, the paper ignores it."""
    return Slip(data=data, before=before, faults=faults, strict="failed")


def false(data, counts, *faults, before="blocked"):
    """A claim that breaks the contract and can still be checked: it is wrong in both scorings."""
    return Slip(
        data=data, before=before, faults=faults, strict="failed", paper="failed", counts=counts
    )


def no_path(data, *faults, counts=(1, 0, 2)):
    """A report that names no interpreter: the only field that blocks."""
    fields = ("python_path", *faults)
    return Slip(
        data=data, before="blocked", blocked=True, faults=fields,
        strict="failed", paper="failed", counts=counts,
    )  # fmt: skip


def unreadable(data):
    """No JSON object at all."""
    return Slip(data=data, before="blocked", blocked=True, strict="failed", paper="failed")


ALL = tuple(GOOD)
MANY = {f"odd{number}": "\ud800" for number in range(500)}

SLIPS = {
    # Fields that nothing is measured with.
    "env_tool micromamba": harmless(text(env_tool="micromamba"), "env_tool"),
    "env_tool null": harmless(text(env_tool=None), "env_tool"),
    "env_tool absent": harmless(without("env_tool"), "env_tool"),
    "env_name a number": harmless(text(env_name=7), "env_name"),
    "installed_packages of texts": harmless(
        text(installed_packages=["numpy==2.0"]), "installed_packages"
    ),
    "installed_packages a text": harmless(text(installed_packages="torch"), "installed_packages"),
    "capabilities a list": harmless(text(capabilities=["train"]), "capabilities"),
    "artifacts a text": harmless(text(artifacts="none"), "artifacts"),
    "dataset_hf_id a number": harmless(text(dataset_hf_id=3), "dataset_hf_id"),
    "notes a list": harmless(text(notes=["a", "b"]), "notes"),
    "notes an object": harmless(text(notes={"a": 1}), "notes"),
    "notes absent": harmless(without("notes"), "notes"),
    "notes of 200,000 characters": harmless(text(notes="n" * 200_000), "notes"),
    "only the paper's fields": harmless(
        without("env_tool", "env_name", "notes"), "env_tool", "env_name", "notes"
    ),
    # The environment.
    "environment a list": harmless(text(environment=["PATH"]), "environment"),
    "environment with a number": harmless(text(environment={"CUDA_HOME": 1}), "environment"),
    "environment with null": harmless(text(environment={"CUDA_HOME": None}), "environment"),
    "environment with LD_PRELOAD": harmless(
        text(environment={"LD_PRELOAD": "/x.so", "PATH": "/opt/bin"}), "environment", before="used"
    ),
    "environment with a NUL": harmless(text(environment={"PATH": "/a\0b"}), "environment"),
    "environment with an endless value": harmless(
        text(environment={"PATH": "/a" * 5000}), "environment"
    ),
    "environment with half a surrogate pair": harmless(
        text(environment={"PATH": "/\ud800"}), "environment"
    ),
    "environment with 30 names": harmless(
        text(environment={f"N{number}": "1" for number in range(30)}), *["environment"] * 30
    ),
    "environment with a name of escape codes": harmless(
        text(environment={"\x1b[31m<script>\n::error::": "1"}), "environment", before="used"
    ),
    # The text itself.
    "byte order mark": harmless(b"\xef\xbb\xbf" + text(), "report.json"),
    "a byte of Latin-1 in notes": harmless(
        put(b'"notes": null', b'"notes": "caf\xe9"'), "report.json"
    ),
    "a raw line break in notes": harmless(
        put(b'"notes": null', b'"notes": "one\ntwo"'), "report.json"
    ),
    "half a surrogate pair in notes": harmless(text(notes="fine \ud83d"), "notes"),
    "half a surrogate pair in a key": harmless(text(**{"\udfff": 1}), "\N{REPLACEMENT CHARACTER}"),
    "NaN in capabilities": harmless(text(capabilities={"loss": float("nan")}), "capabilities"),
    "a number too large in capabilities": harmless(
        put(b'"notes": null', b'"notes": null, "capabilities": {"a": 1e999}'), "capabilities"
    ),
    "capabilities 300 levels deep": harmless(
        put(b'"notes": null', b'"notes": null, "capabilities": ' + nested(300))
    ),
    "notes twice": harmless(put(b'"notes": null', b'"notes": "a", "notes": "b"'), "notes"),
    "a key twice, further in": harmless(
        put(b'"notes": null', b'"notes": null, "capabilities": {"a": 1, "a": 2}'), "report.json"
    ),
    "keys of JavaScript": harmless(
        text(__proto__={"notes": 1}, constructor={"a": 1}, toString=1), before="used"
    ),
    # Claims in a form that nobody can check.
    "gpu_count a text": claim(text(gpu_count="2"), "gpu_count"),
    "gpu_count a boolean": claim(text(gpu_count=True), "gpu_count"),
    "gpu_count a fraction": claim(text(gpu_count=1.5), "gpu_count"),
    "gpu_count NaN": claim(text(gpu_count=float("nan")), "gpu_count", "gpu_count"),
    "gpu_count 1e999": claim(
        put(b'"gpu_count": 2', b'"gpu_count": 1e999'), "gpu_count", "gpu_count"
    ),
    "gpu_count of 5,000 digits": claim(
        put(b'"gpu_count": 2', b'"gpu_count": ' + b"9" * 5000), "gpu_count", "gpu_count"
    ),
    "gpu_count absent": claim(without("gpu_count"), "gpu_count"),
    "cuda_available a text": claim(text(cuda_available="true"), "cuda_available"),
    "cuda_available a number": claim(text(cuda_available=1), "cuda_available"),
    "cuda_available twice": claim(
        put(b'"cuda_available": true', b'"cuda_available": false, "cuda_available": true'),
        "cuda_available",
    ),
    "ddp_expected_ok a text": claim(text(ddp_expected_ok="yes"), "ddp_expected_ok"),
    "ddp_expected_ok absent": claim(without("ddp_expected_ok"), "ddp_expected_ok"),
    "python_version a number": claim(text(python_version=3.11), "python_version"),
    "torch_version a list": claim(text(torch_version=["2.4.0"]), "torch_version"),
    "a wrong claim behind 500 odd keys": claim(
        json.dumps({**MANY, **GOOD, "cuda_available": "true"}).encode(),
        "cuda_available", *list(MANY)[:39], "report.json",
    ),
    "only python_path": claim(without(*ALL[1:]), *ALL[1:]),
    # Claims that break the contract and are wrong besides.
    "gpu_count negative": false(text(gpu_count=-1), (0, 0, 1), "gpu_count"),
    "gpu_count 10 to the 12th": false(text(gpu_count=10**12), (0, 0, 1), "gpu_count"),
    "python_version of 300 characters": false(
        text(python_version="3" * 300), (0, 1, 0), "python_version"
    ),
    "torch_version with half a surrogate pair": false(
        text(torch_version="2.4.0+cu124\ud800"), (0, 1, 0), "torch_version"
    ),
    # No interpreter: nothing can be measured.
    "python_path absent": no_path(without("python_path")),
    "python_path null": no_path(text(python_path=None)),
    "python_path empty": no_path(text(python_path="")),
    "python_path relative": no_path(text(python_path="venv/bin/python")),
    "python_path a number": no_path(text(python_path=7)),
    "python_path with a NUL": no_path(text(python_path="/a\0b")),
    "python_path endless": no_path(text(python_path="/" + "a" * 5000)),
    "python_path with half a surrogate pair": no_path(text(python_path="/a\ud800")),
    "an empty object": no_path(b"{}", *ALL[1:], counts=(1, 0, 0)),
    # Nothing that can be read as an object.
    "a list": unreadable(b"[]"),
    "null": unreadable(b"null"),
    "prose": unreadable(b"I am done."),
    "fenced": unreadable(b"```json\n" + text() + b"\n```"),
    "a trailing comma": unreadable(put(b"null}", b"null,}")),
    "cut short": unreadable(text()[:100]),
    "two documents": unreadable(text() + text()),
    "UTF-16": unreadable(text().decode().encode("utf-16")),
    "NUL bytes": unreadable(b"\0" * 64),
    "100,000 brackets": unreadable(b"[" * 100_000),
    "600 levels": unreadable(put(b'"notes": null', b'"notes": null, "a": ' + nested(600))),
    "2 MiB": unreadable(b" " * (2 << 20)),
}  # fmt: skip
