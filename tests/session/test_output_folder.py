"""A command fills its folder anew, and deletes nothing that it did not make."""

import subprocess
import sys

import pytest

from reb_action.errors import UsageError
from reb_action.session import state
from reb_action.session.output_folder import clear


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("exists", [True, False])
def test_a_new_folder_is_made_and_filled_again(tmp_path, exists):
    folder = tmp_path / "some" / "results"
    if exists:
        folder.mkdir(parents=True)
    clear(folder, by="demo")
    (folder / "honest").mkdir()
    clear(folder, by="demo")
    assert names(folder) == [".demo"]


@pytest.mark.parametrize("there", ["thesis.tex", ".demo/", ".qualify"])
def test_what_the_command_did_not_make_is_kept(tmp_path, there):
    (tmp_path / there).mkdir() if there.endswith("/") else (tmp_path / there).touch()
    before = names(tmp_path)
    with pytest.raises(
        UsageError, match="is not empty and was not created by reb demo; choose another"
    ):
        clear(tmp_path, by="demo")
    assert names(tmp_path) == before


def test_a_command_at_work_keeps_its_folder(tmp_path):
    clear(tmp_path, by="demo")
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    state.mark(tmp_path / ".demo", state.process(other.pid))
    try:
        with pytest.raises(UsageError, match="another reb demo is at work in"):
            clear(tmp_path, by="demo")
    finally:
        other.communicate()
    clear(tmp_path, by="demo")
    assert names(tmp_path) == [".demo"]


@pytest.mark.parametrize("text", ["", "nonsense", "1 2 3", "7 x", "9" * 400])
def test_a_mark_that_names_no_process_is_nobodys(tmp_path, text):
    clear(tmp_path, by="demo")
    (tmp_path / ".demo").write_text(text)
    clear(tmp_path, by="demo")
    assert names(tmp_path) == [".demo"]
