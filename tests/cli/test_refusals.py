"""What a stranger types that cannot be meant is refused in one line, before anything starts."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from reb_action.cli.main import cli
from reb_action.sandbox.machine import find_memory_mib

ROOT = Path(__file__).parents[2]
MANIFEST = str(ROOT / "tests" / "demo" / "manifest.yaml")
LIMITED = ("run", MANIFEST, "--agent", "nop")
PLANNED = ("plan", "--repositories", MANIFEST)
TOO_MUCH = str(find_memory_mib() + 1)


def refused(*arguments: str) -> str:
    done = CliRunner().invoke(cli, [*arguments])
    assert done.exit_code != 0
    return str(done.exception) if done.output == "" else done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--memory-mib", TOO_MUCH),
            (
                f"--memory-mib {TOO_MUCH} is more than the {find_memory_mib()} MiB of memory that"
                " this machine has; lower it"
            ),
        ),
        (("--shm-mib", TOO_MUCH), f"--shm-mib {TOO_MUCH} is more than the"),
        (
            ("--memory-mib", "512", "--shm-mib", "1024"),
            "--shm-mib 1024 is more than --memory-mib 512, of which it is a part; lower it",
        ),
        (
            ("--sandbox", "local", "--memory-mib", "512", "--processes", "99"),
            (
                "the local sandbox limits only the disk; remove --memory-mib and --processes, or"
                " use --sandbox docker"
            ),
        ),
        (("--memory-mib", "100"), "100 is not in the range"),
        (("--disk-mib", "1"), "1 is not in the range"),
    ],
)
def test_impossible_limits_are_refused(tmp_path: Path, arguments: tuple[str, ...], message: str):
    said = refused(*LIMITED, "--results", str(tmp_path / "t"), *arguments)
    assert message in said
    assert not (tmp_path / "t").exists()


def test_plan_refuses_limits_that_no_runner_can_have():
    said = refused(*PLANNED, "--agents", "nop", "--sandbox", "local", "--shm-mib", "9")
    assert "the local sandbox limits only the disk; remove --shm-mib" in said


@pytest.mark.parametrize(
    "arguments",
    [
        (*PLANNED, "--agents", "uv", "--contestants"),
        ("run", MANIFEST, "--agent", "uv", "--contestants"),
    ],
)
def test_agents_beside_a_contestants_file_are_refused(tmp_path: Path, arguments: tuple[str, ...]):
    path = tmp_path / "who.yaml"
    path.write_text("contestants: [nop]")
    name = arguments[-3]
    said = refused(*arguments, str(path))
    assert f"--contestants and {name} exclude each other; remove one of them" in said


def test_contestant_with_options_that_its_agent_does_not_know_is_refused(tmp_path: Path):
    path = tmp_path / "who.yaml"
    path.write_text("contestants: [{agent: uv, model: m, budget-usd: 2}]")
    said = refused(*PLANNED, "--contestants", str(path))
    assert "the agent uv of the contestant uv asks no model, so it has no model, budget-usd" in said


@pytest.mark.parametrize("option", ["--agent", "--model-url"])
def test_doctor_refuses_the_rest_of_a_model_without_its_name(option: str):
    said = refused("doctor", "--sandbox", "local", option, "codex")
    assert f"{option} needs --model; set it, or remove {option}" in said


@pytest.mark.parametrize("base", [(), ("--base", "/bin/sh")])
def test_qualify_refuses_an_empty_cache(base: tuple[str, ...]):
    said = refused("qualify", MANIFEST, "--cache", "", *base)
    assert "--cache is empty; name a folder, or leave it out" in said
