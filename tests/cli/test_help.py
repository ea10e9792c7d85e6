"""What `--help` teaches, read as a person does."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from reb_action import errors
from reb_action.cli import main
from reb_action.demo import commit_repository
from reb_action.source import checkout

ENV = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
REPOS = Path(__file__).parents[2] / "repos"
DEMO = Path(__file__).parents[1] / "demo"
WHOLE = "give a whole number from 1 to 86400"
COMMANDS = {"reb": [], **{name: [name] for name in main.cli.commands}}


def shown(arguments):
    return CliRunner().invoke(main.cli, [*arguments, "--help"], terminal_width=100).output


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_laid_out_and_says_what_each_option_does(name):
    command = main.cli if name == "reb" else main.cli.commands[name]
    assert "\\b" not in shown(COMMANDS[name])
    assert command.help.splitlines()[0].endswith((".", ":"))
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert [one.name for one in options if not one.help] == []


def test_examples_keep_their_lines():
    lines = [line.strip() for line in shown([]).splitlines()]
    assert "Try it without Docker, GPU or key:   reb demo" in lines


def test_mirrors_are_found_as_the_help_says(tmp_path):
    option = next(one for one in main.cli.commands["run"].params if one.name == "mirror")
    shapes = re.findall(r"owner[^ ,]+", option.help)
    assert shapes == ["owner/name", "owner/name.git", "owner__name", "owner+name/repo"]
    for shape in (*shapes, "."):
        place = tmp_path / shape.replace("/", "-") / shape
        (place / "objects").mkdir(parents=True)
        (place / "HEAD").touch()
        assert checkout.find_in_mirror(tmp_path / shape.replace("/", "-"), "owner/name") == place


@pytest.mark.parametrize(
    ("closed", "told"),
    [
        ("1>&-", "reb: standard output is closed; redirect it to /dev/null instead\n"),
        ("2>&-", ""),
        ("1>&- 2>&-", ""),
    ],
)
def test_closed_output_is_refused_in_at_most_a_line(tmp_path, closed, told):
    argv = ["sh", "-c", f'exec "$0" -m reb_action score "$1" {closed}', sys.executable, tmp_path]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (9, "", told)


@pytest.mark.parametrize("arguments", [["--help"], ["agents"], ["validate", REPOS]])
def test_reader_that_has_gone_is_code_9(tmp_path, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    argv = [sys.executable, "-m", "reb_action", *arguments]
    done = subprocess.run(
        argv, cwd=tmp_path, env=ENV, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (9, "")


def test_reader_of_messages_that_has_gone_changes_no_code(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    argv = [sys.executable, "-m", "reb_action", "judge", tmp_path / "nothing"]
    done = subprocess.run(argv, env=ENV, stdout=subprocess.DEVNULL, stderr=writer, timeout=60)
    os.close(writer)
    assert done.returncode == 2


def test_output_that_is_not_utf8_gets_every_line():
    trial = Path(__file__).parents[1] / "gpu" / "data" / "two-right"
    argv = [sys.executable, "-m", "reb_action", "judge", trial]
    env = {**ENV, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(argv, env=env, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr[:15]) == (0, b"reb: unsigned: ")
    assert b"passed\\u2020" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["start", "some", "--agent-seconds", "lots"],
            f"Invalid value for '--agent-seconds': 'lots' is not a valid integer range; {WHOLE}",
        ),
        (["--nonsense"], "No such option '--nonsense'; see reb --help"),
        (["run"], "Missing argument 'REPOSITORY'; see reb --help"),
    ],
)
def test_wrong_option_is_one_line_and_an_annotation(tmp_path, arguments, told):
    argv = [sys.executable, "-m", "reb_action", *arguments]
    env = {**ENV, "GITHUB_OUTPUT": str(tmp_path / "output")}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, f"reb: {told}\n")
    assert done.stdout.startswith("::error title=researchenvbench::")
    assert done.stdout.count("\n") == 1


def test_every_exit_code_of_ours_is_listed():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.exit_code for kind in kinds if issubclass(kind, errors.RebError)}
    listed = {line.split()[0] for line in shown([]).split("Exit codes:")[1].splitlines() if line}
    assert {str(code) for code in codes} | {"0", "130"} == listed


def test_command_list_cuts_no_description_at_80_columns():
    listing = CliRunner().invoke(main.cli, ["--help"], terminal_width=80).output
    assert "..." not in listing.split("Commands:")[1]
    summaries = {name: one.help.splitlines()[0] for name, one in main.cli.commands.items()}
    assert {name: line for name, line in summaries.items() if len(line) > 72} == {}


def test_validate_imports_neither_docker_nor_rich():
    program = (
        "import sys; from reb_action.cli.main import cli;"
        f"cli(['validate', {str(REPOS)!r}], standalone_mode=False);"
        "sys.exit(not {'docker', 'rich', 'jinja2', 'github'}.isdisjoint(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


def test_local_trial_imports_nothing_of_docker_and_gpus(tmp_path):
    commit_repository(DEMO, tmp_path / "mirror")
    arguments = [
        *("run", str(DEMO / "manifest.yaml"), "--agent", "nop", "--sandbox", "local"),
        *("--mirror", str(tmp_path / "mirror"), "--results", str(tmp_path / "results")),
    ]
    program = (
        "import sys; from reb_action.cli.main import cli;"
        f"cli({arguments!r}, standalone_mode=False);"
        "sys.exit(str({'docker', 'requests', 'pynvml', 'jsonschema'} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], timeout=120, capture_output=True)
    assert done.stderr.decode().splitlines()[-1] == "set()"
