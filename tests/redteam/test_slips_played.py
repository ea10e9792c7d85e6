"""Every report with a slip, really left by an agent in a sandbox: read as it is read on its own.

pytest -n 0 tests/redteam/test_slips_played.py -m slow
"""

import pytest

from reb_action.model.manifest import Level
from reb_action.redteam.cheater import Bait
from reb_action.redteam.play import arena, options
from reb_action.trial import run as trial_run
from tests.support.sandbox_fixtures import KINDS, docker_image
from tests.support.slips import SLIPS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", KINDS)
def test_slip_is_named_the_same_in_a_sandbox(kind, tmp_path):
    where = arena(tmp_path / "arena", kind=kind, image=docker_image() if kind == "docker" else None)
    assert len(SLIPS) >= 30
    for number, (name, slip) in enumerate(SLIPS.items()):
        folder = tmp_path / f"agent-{number}"
        folder.mkdir()
        (folder / "left.bin").write_bytes(slip.data)
        (folder / "run.sh").write_text('cp "$(dirname "$0")/left.bin" "$REB_REPORT"\n')
        chosen = options(where, f"slip-{number}", folder, bait=Bait.PLAIN, levels=(Level.C5,))
        verdict = trial_run.run(chosen, environ={}, tell=lambda _: None)
        assert {one.field for one in verdict.field_faults} == set(slip.faults), name
        assert (verdict.report_fault is not None) is slip.blocked, name
