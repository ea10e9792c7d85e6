"""What an agent wrote about its run is kept: what matches, nothing through a link, no secret."""

from pathlib import Path

import pytest

from reb_action.agents.run.transcripts import collect
from reb_action.agents.spec import AgentSpec
from reb_action.redaction import forms
from reb_action.sandbox.protocol import Kind, User
from tests.support.sandbox_fixtures import KINDS, Start, shell

SECRET = "key/of+an-agent_0123456789"
TOKEN = "ghp_" + "Ab3" * 14


def kept(
    start: Start, tmp_path: Path, script: str, *patterns: str, kind: Kind = Kind.LOCAL
) -> dict[str, str]:
    """Return the files that are kept of those that a script leaves in the state folder."""
    sandbox = start(kind)
    state = sandbox.layout.state
    shell(sandbox, f"mkdir -p {state}; chmod 777 {state}", user=User.ROOT)
    done = shell(sandbox, f"cd {state} && {script}")
    assert done.exit_code == 0, done.stderr
    folder = tmp_path / "kept"
    spec = AgentSpec(name="a", title="A", argv=("a",), sessions=patterns)
    collect(sandbox, spec, folder, secrets=(SECRET,))
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("kind", KINDS)
def test_folder_pipe_and_unreadable_file_of_a_fitting_name_are_passed_over(
    start: Start, tmp_path: Path, kind: Kind
):
    script = "mkdir -p logs/b; mkfifo logs/c; echo 1 >logs/a; ln -s a logs/d; ln -s x logs/e"
    assert kept(start, tmp_path, script, "logs/*", kind=kind) == {"logs/a": "1\n"}


@pytest.mark.parametrize("pattern", ["logs/*/f", "logs/**/f", "**/f", "**"])
@pytest.mark.parametrize("kind", KINDS)
def test_linked_folder_is_not_followed(start: Start, tmp_path: Path, kind: Kind, pattern: str):
    script = """mkdir -p logs/real "$OLDPWD/outside"; echo 1 >logs/real/f
        echo 2 >"$OLDPWD/outside/f"; ln -s "$OLDPWD/outside" logs/abs
        ln -s real logs/near; ln -s .. logs/up"""
    assert kept(start, tmp_path, script, pattern, kind=kind) == {"logs/real/f": "1\n"}


def test_linked_state_folder_is_not_followed(start: Start, tmp_path: Path):
    script = """mkdir ../outside; echo 2 >../outside/f; mv "$PWD" "$PWD.old"
        ln -s "$PWD/../outside" "$PWD" """
    assert kept(start, tmp_path, script, "*") == {}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*", ["a", "b.x"]),
        ("b.x", ["b.x"]),
        (".h", [".h"]),
        (".*", [".h"]),
        ("d/*.x", ["d/c.x"]),
        ("**/*.x", ["b.x", "d/c.x", "d/e/f.x"]),
        ("d/**/*.x", ["d/c.x", "d/e/f.x"]),
        ("d/**", ["d/c.x", "d/e/f.x"]),
        (".k/**/*.x", [".k/g.x"]),
        ("*/*/*", ["d/e/f.x"]),
        ("A", []),
    ],
)
def test_patterns_mean_what_a_shell_means(
    start: Start, tmp_path: Path, pattern: str, names: list[str]
):
    script = "mkdir -p d/e d/.i .k; touch a b.x .h d/c.x d/e/f.x d/.i/j.x .k/g.x"
    assert sorted(kept(start, tmp_path, script, pattern)) == sorted(names)


def test_deep_folders_and_long_names_cost_themselves_alone(start: Start, tmp_path: Path):
    script = """echo 1 >a; touch "$(printf %0255d 0)"
        for i in 1 2 3 4 5 6 7 8 9 10; do p=x/x/x/x/x/x/x/x/x/x
        mkdir -p $p; cd $p; done; touch y"""
    assert kept(start, tmp_path, script, "**") == {"a": "1\n"}


@pytest.mark.parametrize("form", [*sorted(forms(SECRET)), TOKEN.encode()])
def test_secret_in_a_name_is_taken_out(start: Start, tmp_path: Path, form: bytes):
    names = [shape.format(form.decode()) for shape in ("a-{}-b", "{}/c", "b/{}.txt")]
    script = "; ".join(f"mkdir -p '{Path(name).parent}'; echo 1 >'{name}'" for name in names)
    assert kept(start, tmp_path, script, "**") == dict.fromkeys(
        ("___/c", "a-___-b", "b/___.txt"), "1\n"
    )


def test_name_that_becomes_a_secret_is_taken_out_too(start: Start, tmp_path: Path):
    script = f"mkdir key; echo 1 >'{SECRET.replace('_', ':')}'"
    assert kept(start, tmp_path, script, "**") == {"___": "1\n"}
