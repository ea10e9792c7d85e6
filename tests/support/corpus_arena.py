"""An arena whose bait is a repository of the corpus; REB_MIRRORS names a folder with its mirror."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.corpus import manifests
from reb_action.redteam.cheater import Bait
from reb_action.redteam.play import Arena, arena
from reb_action.sandbox.protocol import Kind
from tests.support.sandbox_fixtures import docker_image

MIRRORS = os.environ.get("REB_MIRRORS")
REPOSITORY = "kyegomez/VisionMamba"

needs_mirrors = pytest.mark.skipif(
    not MIRRORS, reason="REB_MIRRORS names no folder with git mirrors"
)
BAITS = ("bait", pytest.param(REPOSITORY, marks=needs_mirrors))


def arena_of(bait: str, folder: Path, kind: Kind) -> Arena:
    """Return the arena with our own baits, or with the repository of the corpus in their place."""
    where = arena(folder, kind=kind, image=docker_image() if kind is Kind.DOCKER else None)
    if bait != REPOSITORY:
        return where
    assert MIRRORS is not None
    shutil.rmtree(folder / "mirror")
    (folder / "mirror").symlink_to(MIRRORS)
    return replace(where, baits=dict.fromkeys(Bait, manifests.find(REPOSITORY)))
