"""The manifest's setup as shell lines, from each kind of file."""

import json

import pytest

from reb_action.agents.setup_plan import SetupPlan, read_setup
from reb_action.errors import DocumentError
from reb_action.model.manifest import Setup

DOCKERFILE = """
# syntax=docker/dockerfile:1
FROM nvidia/cuda:12.4.1 AS base
RUN pip install of-another-stage
FROM python:3.9-slim
ARG VERSION=1.2
ENV A=1 B="two words"
ENV OLD value of old
WORKDIR /app
COPY . .
RUN apt-get update && apt-get install -y gcc \\
    && pip install -r requirements.txt && rm -rf /var/lib/apt/lists/*
RUN --mount=type=cache,target=/root/.cache pip install "x==$VERSION"
RUN ["pip", "install", "a b"]
WORKDIR package
CMD ["python", "main.py"]
"""
LINES = (
    'export VERSION="1.2"',
    'export A="1"',
    'export B="two words"',
    "export OLD='value of old'",
    "pip install -r requirements.txt",
    'pip install "x==$VERSION"',
    "pip install 'a b'",
    "cd package",
)
SKIPPED = ("apt-get update", "apt-get install -y gcc")


def read(folder, **fields):
    return read_setup(Setup(**fields), folder)


def test_lines_are_as_written(tmp_path):
    assert read(tmp_path, lines=("a", "b && c")) == SetupPlan(lines=("a", "b && c"))


def test_script_and_conda_environment(tmp_path):
    assert read(tmp_path, script="tools/in stall.sh").lines == ("bash 'tools/in stall.sh'",)
    plan = read(tmp_path, environment="environment.yml")
    assert plan.conda
    assert plan.lines == ("{conda} env create --yes -p {prefix} -f environment.yml",)


def test_last_stage_of_a_dockerfile_without_what_needs_root(tmp_path):
    (tmp_path / "Dockerfile").write_text(DOCKERFILE)
    plan = read(tmp_path, dockerfile="Dockerfile")
    assert plan.python == "3.9"
    assert tuple(" ".join(line.split()) for line in plan.lines) == LINES
    assert tuple(" ".join(line.split()) for line in plan.skipped) == SKIPPED


def test_devcontainer_has_comments_an_image_and_commands(tmp_path):
    text = (
        '{ // one\n "image": "mcr.microsoft.com/devcontainers/python:1-3.10", /* two */\n'
        ' "onCreateCommand": ["pip", "install", "a//b"],\n'
        ' "postCreateCommand": {"x": "sudo apt-get install -y gcc && pip install -e .",},\n}'
    )
    (tmp_path / "devcontainer.json").write_text(text)
    plan = read(tmp_path, devcontainer="devcontainer.json")
    assert (plan.python, plan.lines) == ("3.10", ("pip install a//b", "pip install -e ."))
    assert plan.skipped == ("sudo apt-get install -y gcc",)


def test_devcontainer_with_a_dockerfile_beside_it(tmp_path):
    folder = tmp_path / ".devcontainer"
    folder.mkdir()
    (folder / "Dockerfile").write_text("FROM python:3.8\nRUN pip install a\n")
    content = {"build": {"dockerfile": "Dockerfile"}, "postCreateCommand": "pip install b"}
    (folder / "devcontainer.json").write_text(json.dumps(content))
    plan = read(tmp_path, devcontainer=".devcontainer/devcontainer.json")
    assert (plan.python, plan.lines) == ("3.8", ("pip install a", "pip install b"))


@pytest.mark.parametrize("text", ["[]", "{", '{"build": {"dockerfile": "../../etc/passwd"}}'])
def test_devcontainer_that_cannot_be_used_is_refused(tmp_path, text):
    (tmp_path / "devcontainer.json").write_text(text)
    with pytest.raises(DocumentError, match=r"devcontainer\.json"):
        read(tmp_path, devcontainer="devcontainer.json")


def test_link_out_of_the_checkout_is_not_followed(tmp_path):
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (tmp_path / "Dockerfile").write_text("RUN secret\n")
    (checkout / "linked").symlink_to(tmp_path)
    with pytest.raises(DocumentError, match="leads out of the checkout"):
        read(checkout, dockerfile="linked/Dockerfile")
