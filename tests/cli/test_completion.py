"""Shell completion: agents, repositories and the last name of a list, in bash and zsh."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete, ZshComplete

from reb_action.cli.main import cli

REB = Path(sys.executable).with_name("reb")
CASES = [
    (["run"], "kyegomez/V", ["kyegomez/VisionMamba"]),
    (["run"], "swivid/", ["SWivid/F5-TTS"]),
    (["run", "x", "--agent"], "ge", ["gemini-cli"]),
    (["doctor", "--agent"], "codex", ["codex"]),
    (["plan", "--agents"], "pip,u", ["pip,uv"]),
    (["plan", "--repositories"], "apple/ml-a", ["apple/ml-aim"]),
    (["init", "--agent"], "docu", ["documented"]),
]


@pytest.mark.parametrize("shell", [BashComplete, ZshComplete])
@pytest.mark.parametrize(("words", "begun", "offered"), CASES)
def test_names_are_completed(shell, words, begun, offered):
    items = shell(cli, {}, "reb", "_REB_COMPLETE").get_completions(words, begun)
    assert [item.value for item in items] == offered


def test_manifest_of_your_own_is_completed_as_a_file():
    items = BashComplete(cli, {}, "reb", "_REB_COMPLETE").get_completions(["run"], "./my")
    assert [(item.value, item.type) for item in items] == [("./my", "file")]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_program_answers_a_shell(shell):
    words = {"COMP_WORDS": "reb run --agent cod", "COMP_CWORD": "3"}
    environ = {**os.environ, "_REB_COMPLETE": f"{shell}_complete", **words}
    done = subprocess.run(
        [REB], env=environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert "codex" in done.stdout.replace("\n", " ").split(",")[-1].split()


def test_path_of_an_agent_file_is_left_to_the_shell():
    items = BashComplete(cli, {}, "reb", "_REB_COMPLETE").get_completions(
        ["run", "--agent"], "./my"
    )
    assert [(item.type, item.value) for item in items] == [("file", "./my")]
