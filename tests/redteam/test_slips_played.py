"""Reports with a slip, really left by an agent in a sandbox: read as they are read on their own.

REB_MIRRORS=FOLDER pytest -n 0 tests/redteam/test_slips_played.py -m slow

Without mirrors only our own bait is played: locally with every slip, and in a container with those
that a wrong way out of it would change.
"""

import sys

import pytest

from reb_action.model.manifest import Level
from reb_action.redteam.cheater import Bait
from reb_action.redteam.play import options
from reb_action.sandbox.protocol import Kind
from reb_action.trial import run as trial_run
from tests.support.corpus_arena import REPOSITORY, arena_of, needs_mirrors
from tests.support.slips import SLIPS

pytestmark = pytest.mark.slow

CHOSEN = (
    "env_tool micromamba", "env_tool absent", "env_name a number", "installed_packages of texts",
    "capabilities a list", "notes a list", "only the paper's fields", "environment with a number",
    "environment with LD_PRELOAD", "environment with a NUL", "environment with 30 names",
    "byte order mark", "a byte of Latin-1 in notes", "half a surrogate pair in notes",
    "NaN in capabilities", "notes twice", "gpu_count a text", "gpu_count of 5,000 digits",
    "cuda_available twice", "ddp_expected_ok absent", "a wrong claim behind 500 odd keys",
    "gpu_count negative", "torch_version with half a surrogate pair", "python_path null",
    "python_path relative", "python_path with a NUL", "an empty object", "fenced", "UTF-16",
    "100,000 brackets", "2 MiB",
)  # fmt: skip
"""Some of each kind: a trial with a repository of the corpus takes longer than with the bait."""

BYTES = (
    "a byte of Latin-1 in notes", "byte order mark", "a raw line break in notes", "prose",
    "notes of 200,000 characters", "NUL bytes", "UTF-16", "2 MiB",
)  # fmt: skip
"""A container hands out bytes and reads no JSON. The other slips are the same bytes to it."""

PLAYED = (
    pytest.param("bait", Kind.LOCAL, tuple(SLIPS), id="bait-local"),
    pytest.param("bait", Kind.DOCKER, BYTES, id="bait-docker", marks=pytest.mark.docker),
    pytest.param(REPOSITORY, Kind.LOCAL, CHOSEN, id="corpus-local", marks=needs_mirrors),
    pytest.param(
        *(REPOSITORY, Kind.DOCKER, CHOSEN),
        id="corpus-docker",
        marks=(needs_mirrors, pytest.mark.docker),
    ),
)


@pytest.mark.parametrize(("bait", "kind", "names"), PLAYED)
def test_slip_is_named_the_same_in_a_sandbox(bait, kind, names, tmp_path):
    where = arena_of(bait, tmp_path / "arena", kind)
    for number, name in enumerate(names):
        slip = SLIPS[name]
        folder = tmp_path / f"agent-{number}"
        folder.mkdir()
        (folder / "left.bin").write_bytes(slip.data)
        (folder / "run.sh").write_text('cp "$(dirname "$0")/left.bin" "$REB_REPORT"\n')
        chosen = options(where, f"slip-{number}", folder, bait=Bait.PLAIN, levels=(Level.C5,))
        verdict = trial_run.run(chosen, environ={}, tell=lambda _: None)
        assert {one.field for one in verdict.field_faults} == set(slip.faults), name
        assert (verdict.report_fault is not None) is slip.blocked, name
    sys.stdout.write(f"\n{bait}, {kind}: {len(names)} reports with a slip\n")
