"""One rule for a folder that has no trial."""

import signal

import pytest
from click.testing import CliRunner

from reb_action.cli.main import cli
from reb_action.errors import GateError, UsageError


@pytest.mark.parametrize(
    "command", ["agent", "audit", "judge", "probe", "verdict", "verify", "watch"]
)
@pytest.mark.parametrize("exists", [True, False])
def test_folder_without_a_trial_is_a_usage_error(tmp_path, command, exists):
    folder = tmp_path if exists else tmp_path / "absent"
    level = ["C1"] if command == "probe" else []
    result = CliRunner().invoke(cli, [command, str(folder), *level])
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == f"there is no trial in {folder}; name the folder of a trial"


def test_gate_fails_and_stop_has_nothing_to_do_where_there_is_no_trial(tmp_path):
    runner = CliRunner()
    assert isinstance(runner.invoke(cli, ["gate", str(tmp_path)]).exception, GateError)
    before = signal.getsignal(signal.SIGINT)
    assert runner.invoke(cli, ["stop", str(tmp_path)]).exit_code == 0
    assert signal.getsignal(signal.SIGINT) is before
