"""Reports with a slip, really left by an agent in a sandbox: read as they are read on their own.

REB_MIRRORS=FOLDER pytest -n 0 tests/redteam/test_slips_played.py -m slow

Without mirrors only our own bait is played, with every slip.
"""

import sys

import pytest

from reb_action.model.manifest import Level
from reb_action.redteam.cheater import Bait
from reb_action.redteam.play import options
from reb_action.trial import run as trial_run
from tests.support.corpus_arena import REPOSITORY, arena_of, needs_mirrors
from tests.support.sandbox_fixtures import KINDS
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

PLAYED = (
    pytest.param("bait", tuple(SLIPS), id="bait"),
    pytest.param(REPOSITORY, CHOSEN, id="corpus", marks=needs_mirrors),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("bait", "names"), PLAYED)
def test_slip_is_named_the_same_in_a_sandbox(bait, names, kind, tmp_path):
    where = arena_of(bait, tmp_path / "arena", kind)
    assert len(names) >= 30
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
