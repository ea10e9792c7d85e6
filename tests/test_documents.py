"""What the documents name exists: files, headings, commands of `reb`, targets of make."""

import re
import tomllib
from pathlib import Path

import pytest

from reb_action.cli.main import cli

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        ROOT / "repos/README.md",
        *ROOT.glob("tests/*/*.md"),
    ]
)
LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)")
CODE = re.compile(r"^```.*?^```$|^ {4}\S.*?$|(?<!`)`[^`]+`(?!`)", re.MULTILINE | re.DOTALL)
PATH = re.compile(
    r"(?<![\w/.{}<>@~$-])"
    r"(?:reb_action|probes|tests|docs|repos|schemas|examples|\.ci|\.github)/[\w*./-]*"
)
COMMAND = re.compile(r"(?<![\w./-])(?:\.venv/bin/)?reb\s+(?:&& )?([a-z]+)")
TARGET = re.compile(r"(?<![\w./-])make\s+([a-z][a-z-]*|\.venv/\w+)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def name(path):
    return path.relative_to(ROOT).as_posix()


def code(text):
    """Return the code blocks and code spans of a document, one a line."""
    return "\n".join(CODE.findall(text))


def anchors(text):
    """Return the anchors that GitHub gives to the headings of a document."""
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in HEADING.findall(text)]
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in plain}


def broken_links(document):
    """Yield the relative links of a document without a file, or without a heading there."""
    for link in LINK.findall(document.read_text("utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = (document.parent / place).resolve() if place else document
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            yield link


def missing_paths(text):
    """Yield the paths in code that name no file or folder of this repository."""
    for path in PATH.findall(code(text)):
        pattern = path.rstrip("./")
        if not any(ROOT.glob(pattern)):
            yield path


def unknown_commands(text):
    return set(COMMAND.findall(code(text))) - set(cli.commands)


def unknown_targets(text):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    return set(TARGET.findall(code(text))) - set(
        re.findall(r"^([\w./-]+):", makefile, re.MULTILINE)
    )


@pytest.fixture(params=DOCUMENTS, ids=name)
def document(request):
    return request.param


def test_every_relative_link_leads_to_a_file_and_heading(document):
    assert list(broken_links(document)) == []


def test_every_named_path_exists(document):
    assert list(missing_paths(document.read_text("utf-8"))) == []


def test_every_named_command_exists(document):
    assert unknown_commands(document.read_text("utf-8")) == set()


def test_every_named_make_target_exists(document):
    assert unknown_targets(document.read_text("utf-8")) == set()


def test_every_marker_of_the_tests_is_left_out_or_in_the_plain_suite():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    markers = {line.split(":")[0] for line in settings["tool"]["pytest"]["ini_options"]["markers"]}
    plain = re.search(
        r"^PLAIN := not \((.+)\)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    assert plain is not None
    assert set(plain[1].split(" or ")) == markers


def test_a_wrong_link_path_command_and_target_are_found(tmp_path):
    links = "# A b\n[x](gone.md) [y](#a-b) [z](#a-c)\n"
    text = links + "`tests/gone.py` `reb demo` `reb gone`\n\n    make gone\n"
    document = tmp_path / "a.md"
    document.write_text(text, encoding="utf-8")
    assert list(broken_links(document)) == ["gone.md", "#a-c"]
    assert list(missing_paths(text)) == ["tests/gone.py"]
    assert unknown_commands(text) == {"gone"}
    assert unknown_targets(text) == {"gone"}
