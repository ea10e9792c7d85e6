"""What a runner reads of ours, read as the runner reads it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reb_action.github import commands, context
from reb_action.render.escape import markdown


def as_runner(text):
    """Read an output file by the runner's rules: `name<<DELIMITER`, lines, the delimiter."""
    lines, found = text.split("\n"), {}
    while lines and lines[0]:
        name, _, delimiter = lines.pop(0).partition("<<")
        end = lines.index(delimiter)
        found[name], lines = "\n".join(lines[:end]), lines[end + 1 :]
    return found


@given(st.text(alphabet=st.sampled_from("a=<\nreb_EOF%{}$"), max_size=60))
def test_any_output_comes_back(value):
    assert as_runner(commands.format_output("x-y", value)) == {"x-y": value}


def test_outputs_are_appended(tmp_path):
    here = context.Context(output=tmp_path / "output")
    commands.write_outputs(here, {"a": "1"})
    commands.write_outputs(here, {"b": "x=y\nb<<z"})
    assert as_runner((tmp_path / "output").read_text()) == {"a": "1", "b": "x=y\nb<<z"}


def test_summary_above_the_limit_is_cut_between_lines(tmp_path):
    here = context.Context(summary=tmp_path / "summary")
    commands.write_summary(here, "é" * 99 + "\n" + ("| é |\n" * 300_000))
    data = (tmp_path / "summary").read_bytes()
    assert len(data) <= commands.SUMMARY_BYTES
    assert data.decode().endswith(
        "| é |\n\nThis summary was cut at 1 MiB; the artifact has everything.\n"
    )


def test_error_is_one_command():
    assert commands.format_error("50% \r\n::x") == "::error title=researchenvbench::50%25 %0D%0A::x"


def test_nothing_is_written_elsewhere_than_on_a_runner():
    commands.write_outputs(context.read_context({}), {"a": "1"})
    commands.write_summary(context.read_context({}), "text")


def event(head, base="o/r"):
    sides = {"head": {"repo": head and {"full_name": head}}, "base": {"repo": {"full_name": base}}}
    return json.dumps({"pull_request": sides})


@pytest.mark.parametrize(
    ("text", "fork"),
    [
        (event("o/r"), False),
        (event("stranger/r"), True),
        (event(None), True),
        ("{", True),
        ("[]", True),
        (None, True),
    ],
)
def test_fork_is_told_from_the_event(tmp_path, text, fork):
    path = tmp_path / "event.json"
    if text is not None:
        path.write_text(text)
    environ = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": str(path)}
    assert context.read_context(environ).fork is fork


def test_dependabot_counts_as_a_fork():
    environ = {"GITHUB_EVENT_NAME": "push", "GITHUB_ACTOR": "dependabot[bot]"}
    assert context.read_context(environ).fork is True
    own = {"GITHUB_EVENT_NAME": "push", "GITHUB_ACTOR": "somebody"}
    assert context.read_context(own).fork is False


HOSTILE = [
    ("a|b", "`a\N{DIVIDES}b`"),
    ("`x`", "`` `x` ``"),
    ("@org/team #1 <img src=x>", "`@org/team #1 <img src=x>`"),
    ("a\nb\u202ec\x1b[31md", "`a bcd`"),
    ("", "`-`"),
]


@pytest.mark.parametrize(("text", "shown"), HOSTILE)
def test_markdown_shows_text_as_code(text, shown):
    assert markdown(text) == shown


@given(st.text(alphabet=st.sampled_from("`|\\ \n<a@#[]()*_~"), max_size=40))
def test_markdown_is_one_closed_code_span(text):
    shown = markdown(text)
    fence = shown[: len(shown) - len(shown.lstrip("`"))]
    inside = shown[len(fence) : -len(fence)]
    assert shown.endswith(fence)
    assert "|" not in shown
    assert fence not in {run for run in inside.replace("`", "\0`").split("\0") if run == fence}


def test_a_message_names_inputs_where_the_user_set_inputs():
    message = "--fail-on names C4, and --levels is C0; '--gpus' (env var: 'REB_GPUS') is wrong"
    environ = {"REB_FAIL_ON": "C4", "REB_GPUS": "x"}
    assert commands.name_inputs(message, environ) == (
        "the input fail-on names C4, and --levels is C0; the input gpus is wrong"
    )


def test_a_run_has_a_page_with_its_artifacts():
    environ = {
        "GITHUB_SERVER_URL": "https://ghes.example:8443",
        "GITHUB_REPOSITORY": "octo/bench",
        "GITHUB_RUN_ID": "7",
    }
    url = "https://ghes.example:8443/octo/bench/actions/runs/7#artifacts"
    assert context.read_context(environ).artifacts_url == url
    for name, value in (("GITHUB_RUN_ID", "x)[evil"), ("GITHUB_REPOSITORY", "")):
        assert context.read_context({**environ, name: value}).artifacts_url == ""
