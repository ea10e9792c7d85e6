"""The module that a sabotage shadows is one that the entry point needs."""

from dataclasses import replace

import pytest

from reb_action.model.manifest import Level
from reb_action.qualify.shadow import shadow_of
from tests.support.evidence import MANIFEST

SOURCES = {
    "scripts/train.py": b"import torch\nfrom own.deep import model\n",
    "scripts/late.py": b"def f():\n    import other\n\nimport own.deep\n",
    "scripts/alone.py": b"import torch\n",
    "own/__init__.py": b"",
    "own/deep.py": b"import numpy\n",
    "other.py": b"",
}


def of(decoy, *argv, **files):
    entrypoint = replace(MANIFEST.entrypoints[Level.C1], decoy=decoy, argv=argv)
    files = {f"{name}.py": text for name, text in files.items()}
    return replace(MANIFEST, entrypoints={Level.C1: entrypoint}, files=files)


@pytest.mark.parametrize(
    ("manifest", "wanted"),
    [
        (of("scripts/train.py"), "own"),
        (of("scripts/late.py"), "own"),
        (of("scripts/alone.py"), None),
        (of("own/deep.py", "{files}/start.py", start="import other"), "other"),
        (of("own/deep.py", "{files}/start.py", unused="import other", start=""), None),
    ],
    ids=["package", "imported at once", "nothing of its own", "by the glue", "glue of another"],
)
def test_what_is_shadowed(manifest, wanted):
    assert shadow_of(manifest, Level.C1, SOURCES) == wanted
