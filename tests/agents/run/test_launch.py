"""What an agent is started with: each name filled in, the key where it belongs and nowhere else."""

import base64
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from reb_action.agents.environment import Model, base, proxied, values
from reb_action.agents.run.launch import launch, writes_key
from reb_action.agents.run.log import AgentLog
from reb_action.agents.spec import AgentFile, AgentSpec
from reb_action.model.agent import Dialect
from reb_action.sandbox.layout import SandboxLayout

LAYOUT = SandboxLayout()
MODEL = Model(name="m-1", base_url="http://127.0.0.1:47801", key="reb-placeholder")
SPEC = AgentSpec(
    name="mine",
    title="Mine",
    argv=("{cli}/bin/mine", "--model", "{model}"),
    dialect=Dialect.CHAT,
    env={"BASE": "{base_url}/v1", "TOKEN": "Bearer {key}", "STATE": "{state}"},
    files=(AgentFile(name="a.json", content=b'{"model": "{model}"}', text=True),),
    state=(AgentFile(name="b.bin", content=b"{model}"),),
)


def test_names_are_filled_in_and_the_key_is_apart():
    made = launch(
        LAYOUT,
        SPEC,
        prompt="# Do it",
        deadline_seconds=60,
        settings={"PIP_INDEX_URL": "https://mirror"},
        model=MODEL,
    )
    known = values(LAYOUT, deadline_seconds=60, prompt="# Do it", model=MODEL)
    assert made.argv == ("/opt/cli/bin/mine", "--model", "m-1")
    assert made.env == {
        **base(known),
        "PIP_INDEX_URL": "https://mirror",
        "BASE": "http://127.0.0.1:47801/v1",
        "STATE": "/opt/state",
    }
    assert made.secret_env == {"TOKEN": "Bearer reb-placeholder"}
    assert {file.path: file.content for file in made.files} == {
        "a.json": b'{"model": "m-1"}',
        "prompt.md": b"# Do it",
    }
    assert [(file.path, file.content) for file in made.state] == [("b.bin", b"{model}")]
    assert "reb-placeholder" not in repr(made)
    assert "reb-placeholder" not in repr(MODEL)


def test_agent_without_a_model_has_no_state_folder():
    plain = AgentSpec(name="mine", title="Mine", argv=("true",))
    made = launch(LAYOUT, plain, prompt="", deadline_seconds=1, settings={}, model=None)
    assert (made.state, made.secret_env, made.stdin) == (None, {}, b"")


@pytest.mark.parametrize(
    ("change", "writes"),
    [
        ({}, False),
        ({"argv": ("mine", "--key={key}")}, True),
        ({"files": (AgentFile(name="x", content=b"{key}", text=True),)}, True),
        ({"state": (AgentFile(name="x", content=b"{key}", text=True),)}, True),
        ({"state": (AgentFile(name="x", content=b"{key}"),)}, False),
    ],
)
def test_key_outside_of_the_environment_is_seen(change: dict[str, object], writes: bool):
    assert writes_key(replace(SPEC, **change)) is writes


OWN = {"HTTP_PROXY": "http://corp:3128", "NO_PROXY": "corp", "PIP_INDEX_URL": "https://mirror"}
GATE = "http://127.0.0.1:47801"
LOOPBACK = "127.0.0.1,localhost"


@pytest.mark.parametrize(
    ("proxy", "direct", "expected"),
    [
        (None, True, OWN),
        (None, False, {**OWN, **dict.fromkeys(("NO_PROXY", "no_proxy"), f"corp,{LOOPBACK}")}),
        (
            GATE,
            False,
            {
                **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), GATE),
                **dict.fromkeys(("NO_PROXY", "no_proxy"), LOOPBACK),
                "PIP_INDEX_URL": "https://mirror",
            },
        ),
    ],
)
def test_proxies_lead_to_the_only_way_out(
    proxy: str | None, direct: bool, expected: dict[str, str]
):
    assert proxied(OWN, proxy=proxy, direct=direct) == expected


def test_log_hides_a_secret_in_every_form_and_however_it_is_cut(tmp_path: Path):
    secret = "k3y/with+odd=signs"
    text = "|".join(
        (secret, quote(secret, safe=""), base64.b64encode(f"x{secret}".encode()).decode())
    )
    for size in range(1, len(text)):
        with AgentLog(tmp_path / "log", secrets=[secret]) as log:
            for at in range(0, len(text), size):
                log.feed("stdout", text[at : at + size].encode())
        assert (tmp_path / "log").read_text() == "***|***|eG***w=="
