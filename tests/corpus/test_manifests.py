"""Malformed manifests: each is refused in one plain line that names file, key and value."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.corpus import counts, manifests
from reb_action.errors import DocumentError, UsageError
from reb_action.model.manifest import Level

BASE = (Path(__file__).parents[1] / "demo" / "manifest.yaml").read_text()
ASSET = "assets:\n  - {{path: {path}, url: {url}, sha256: {sha256}}}\n"
GOOD = {"path": "a/b.bin", "url": "https://example.org/b", "sha256": "a" * 64}


def swapped(old, new):
    assert old in BASE
    return BASE.replace(old, new, 1)


def proof(text):
    return swapped("- steps: 'epoch \\d+ loss \\d'\n        at_least: 4", f"- {text}")


def asset(**changes):
    return BASE + ASSET.format(**{**GOOD, **changes})


def entrypoint(line):
    return swapped("    timeout_seconds: 120", f"    {line}")


# --- not YAML that we accept
SYNTAX = {
    "empty": ("", "the document: null is not of type object"),
    "a list": ("- a", 'the document: ["a"] is not of type object'),
    "a word": ("hello", 'the document: "hello" is not of type object'),
    "an empty object": ("{}", "the key repository is missing"),
    "cut off": (BASE[:70], "found unexpected end of stream (line 2)"),
    "an open quote": (BASE + 'x: "', "not valid YAML: found unexpected end of stream"),
    "a tab": (BASE + "\tx: 1\n", "not valid YAML: found a tab character"),
    "binary": (b"\x00\x01\x02", "control characters are not allowed"),
    "not UTF-8": (b"a: \xff\xfe", "not valid YAML: invalid leading UTF-8 octet"),
    "two documents": (f"{BASE}---\n{BASE}", "but found another document (line 23)"),
    "an alias": (BASE + "a: &x 1\nb: *x\n", "aliases are not allowed; write the value out"),
    "a bomb": (
        "a: &a [x]\n" + "".join(f"{b}: &{b} [{f'*{a},' * 9}]\n" for a, b in zip("abcd", "bcde")),  # noqa: B905
        "aliases are not allowed",
    ),
    "a tag": (BASE + "x: !!python/object/apply:os.system [ls]\n", 'the tag "tag:yaml.org,2002:'),
    "a tag of YAML's own": (BASE + "x: !!binary aGk=\n", "is not allowed"),
    "a tag of theirs": (BASE + "x: !name {}\n", 'the tag "!name" is not allowed'),
    "a key twice": (BASE + "imports: 7\n", 'the key "imports" occurs twice (line 23)'),
    "a key twice, within": (
        entrypoint("decoy: other.py"),
        'the key "decoy" occurs twice (line 10)',
    ),
    "a number as key": (BASE + "1: x\n", 'the key "1" is not text (line 23)'),
    "a boolean as key": (BASE + "on: x\n", 'the key "on" is not text (line 23)'),
    "nothing as key": (BASE + "~: x\n", 'the key "~" is not text'),
    "a list as key": (BASE + "? [a]\n: x\n", "the key is not text (line 23)"),
    "a merge": (BASE + "<<: {domain: example}\n", 'the key "<<" is not text (line 23)'),
    "deep nesting": ("x: " + "[" * 5000 + "]" * 5000, "exceeded maximum nesting depth"),
    "less deep nesting": (BASE + "x: " + "[" * 80 + "]" * 80, "nested more than 32 levels deep"),
    "too many digits": (
        swapped("imports: 6", "imports: " + "9" * 5000),
        "has too many digits; quote",
    ),
    "no digits": (
        swapped("imports: 6", "imports: 0x_"),
        '"0x_" is no number, or has too many digits',
    ),
    "too many digits to write": (
        swapped("imports: 6", f"imports: 0x{'f' * 5000}"),
        "has too many digits; quote a text (line ",
    ),
    "half a surrogate": (swapped("C2: NumPy", 'C2: "\\ud800') + '"', ""),
    "huge": (BASE + "#" * 70_000, "is larger than 65536 bytes"),
}

# --- not what the schema says
CONTENT = {
    "no repository": (swapped("repository:", "# "), "the key repository is missing"),
    "misspelt key": (
        swapped("domain:", "domian:"),
        'the key "domian" is not known; perhaps you meant domain',
    ),
    "unknown key": (BASE + "colour: red\n", 'the document: the key "colour" is not known'),
    "repository without owner": (
        swapped("researchenvbench/spirals", "spirals"),
        'repository: "spirals" does not match',
    ),
    "repository as address": (
        swapped("researchenvbench/spirals", "https://github.com/a/b"),
        'repository: "https://github.com/a/b" does not match',
    ),
    "imports of self": (
        swapped('"8c8a33ac958cf50246e215fdaad3b5a8850c69f9"', "self"),
        "imports: with commit: self it is counted; leave it out",
    ),
    "setup of two kinds": (
        BASE + "setup: {script: a.sh, dockerfile: D}\n",
        "setup: it has more keys than 1",
    ),
    "setup outside": (BASE + "setup: {script: ../a.sh}\n", "setup"),
    "setup without a line": (BASE + "setup: []\n", "setup: the list is empty"),
    "stages without proof": (BASE + "stages: {tests: {argv: [a]}}\n", "proofs"),
    "setup without a command": (
        BASE + "setup: ['# pip install .', ' ']\n",
        "setup: no line has a command",
    ),
    "setup with a NUL": (
        BASE + 'setup: [pip install ., "a\\0b"]\n',
        "setup.1: it has a NUL character, which no command can have",
    ),
    "command with a NUL": (
        BASE + 'stages: {tests: {argv: ["a\\0b"], proofs: [{log: abc}]}}\n',
        "stages.tests: it has a NUL character, which no command can have",
    ),
    "stage that should repeat": (
        BASE
        + "stages: {tests: {argv: [a], proofs: [{curve: 'loss (.+)', at_least: 3, falls: 0.1,"
        + " repeats: 0.1}]}}\n",
        "stages.tests: a stage is run once; leave repeats out",
    ),
    "stage with an unknown name": (
        BASE + "stages: {tests: {argv: ['{x}'], proofs: [{log: abc}]}}\n",
        "stages.tests: {x} is not known",
    ),
    "stage with a default": (
        BASE + "stages: {tests: {argv: [a], timeout_seconds: 600, proofs: [{log: abc}]}}\n",
        "stages.tests.timeout_seconds: 600 is the default; leave it out",
    ),
    "short commit": (
        swapped("8c8a33ac958cf50246e215fdaad3b5a8850c69f9", "8c8a33a"),
        'commit: "8c8a33a" does not match ^([0-9a-f]{40}|self)$',
    ),
    "commit with a line break": (
        swapped("8c8a33ac958cf50246e215fdaad3b5a8850c69f9", "0" * 40 + "\\n"),
        'commit: "' + "0" * 40 + '�" does not match',
    ),
    "branch": (
        swapped('"8c8a33ac958cf50246e215fdaad3b5a8850c69f9"', "main"),
        'commit: "main" does not match',
    ),
    "empty domain": (swapped("domain: example", "domain: ''"), 'domain: "" does not match'),
    "long domain": (
        swapped("domain: example", f"domain: {'x' * 61}"),
        "is too long (61 of at most 60 characters)",
    ),
    "imports as text": (swapped("imports: 6", "imports: many"), 'imports: "many" is not of type'),
    "imports negative": (swapped("imports: 6", "imports: -1"), "imports: -1 is less than 0"),
    "imports a date": (
        swapped("imports: 6", "imports: 2026-01-01"),
        'imports: "2026-01-01" is not of type integer',
    ),
    "imports not a number": (
        swapped("imports: 6", "imports: .nan"),
        '".nan" is not a finite number (line 4)',
    ),
    "unknown framework": (
        swapped("frameworks: []", "frameworks: [keras]"),
        'frameworks.0: "keras" is not one of torch, tensorflow, jax',
    ),
    "framework twice": (
        swapped("frameworks: []", "frameworks: [jax, jax]"),
        'frameworks: ["jax", "jax"] has the same item twice',
    ),
    "argv as text": (
        re.sub(r"argv: .*", "argv: python train.py", BASE),
        'entrypoints.C1.argv: "python train.py" is not of type array',
    ),
    "argv empty": (re.sub(r"argv: .*", "argv: []", BASE), "entrypoints.C1.argv: the list is empty"),
    "no proofs": (
        BASE.partition("    proofs:")[0],
        "entrypoints.C1: the key proofs is missing",
    ),
    "no proof": (
        re.sub(r"proofs:.*?not_applicable", "proofs: []\nnot_applicable", BASE, flags=re.DOTALL),
        "entrypoints.C1.proofs: the list is empty",
    ),
    "unknown level": (swapped("  C1:", "  C9:"), 'entrypoints: the key "C9" is not known'),
    "entrypoint of C2": (swapped("  C1:", "  C2:"), 'entrypoints: the key "C2" is not known'),
    "misspelt option": (
        swapped("timeout_seconds", "timeout_second"),
        '"timeout_second" is not known; perhaps you meant timeout_seconds',
    ),
    "time limit of zero": (swapped("120", "0"), "C1.timeout_seconds: 0 is less than 1"),
    "time limit too long": (swapped("120", "9000"), "C1.timeout_seconds: 9000 is more than 7200"),
    "variable in lower case": (
        entrypoint("env: {path: /x}"),
        'entrypoints.C1.env: "path" does not match ^[A-Z]',
    ),
    "variable not text": (
        entrypoint("env: {SEED: 1}"),
        "entrypoints.C1.env.SEED: 1 is not of type string",
    ),
    "folder elsewhere": (entrypoint("cwd: /tmp"), 'entrypoints.C1.cwd: "/tmp" does not match'),
    "one rank": (entrypoint("ranks: 1"), "entrypoints.C1.ranks: 1 is less than 2"),
    "decoy absolute": (
        swapped("decoy: train.py", "decoy: /train.py"),
        'entrypoints.C1.decoy: "/train.py" does not match',
    ),
    "proof of no kind": (
        proof("stepz: x"),
        "C1.proofs.0: none of the keys file, log, metric, steps, curve is there; perhaps you",
    ),
    "proof with a foreign key": (
        proof("{log: done, at_least: 4}"),
        'entrypoints.C1.proofs.0: the key "at_least" is not known',
    ),
    "steps without a number": (
        proof("steps: epoch"),
        "entrypoints.C1.proofs.0: the key at_least is missing",
    ),
    "pattern too short": (
        proof("log: a"),
        'entrypoints.C1.proofs.0.log: "a" is too short (1 of at least 3 characters)',
    ),
    "pattern that does not compile": (
        proof("log: 'done('"),
        'entrypoints.C1.proofs.0.log: "done(" is not a valid regex',
    ),
    "pattern with too many repetitions": (
        proof("log: 'done{4294967296}'"),
        'entrypoints.C1.proofs.0.log: "done{4294967296}" is not a valid regex',
    ),
    "pattern nested too deeply": (
        proof(f"log: '{'(' * 500}{')' * 500}'"),
        "is too long (1000 of at most 300 characters)",
    ),
    "file elsewhere": (
        proof("file: /tmp/x"),
        'entrypoints.C1.proofs.0.file: "/tmp/x" does not match',
    ),
    "unknown kind of file": (
        proof("{file: '{out}/x', kind: tiff}"),
        'entrypoints.C1.proofs.0.kind: "tiff" is not one of any, text',
    ),
    "infinite bound": (
        swapped("minimum: 0.6", "minimum: -.inf"),
        '"-.inf" is not a finite number (line 15)',
    ),
    "reason too short": (
        re.sub(r"C2: .*", "C2: none", BASE),
        'not_applicable.C2: "none" is too short (4 of at least 10 characters)',
    ),
    "C2 in the paper only": (
        BASE + "paper_only: {C2: there is no framework}\n",
        'paper_only: "C2" is not one of C1, C3, C4',
    ),
    "asset without https": (asset(url="http://a"), 'assets.0.url: "http://a" does not match'),
    "asset without hash": (asset(sha256="abc"), 'assets.0.sha256: "abc" does not match'),
    "asset absolute": (asset(path="/etc/x"), 'assets.0.path: "/etc/x" does not match'),
    "file in a folder": (BASE + "files: {a/b: x}\n", 'files: "a/b" does not match'),
}

# --- what no schema can say
MEANING = {
    "level nowhere": (
        re.sub(r"\n  C4: .*", "", BASE),
        "C4 must be in exactly one of entrypoints, not_applicable and paper_only",
    ),
    "level in two places": (
        BASE + "paper_only: {C1: it stands above as well}\n",
        "C1 must be in exactly one of entrypoints, not_applicable and paper_only",
    ),
    "no framework for C2": (
        re.sub(r"\n  C2: .*", "", BASE),
        "frameworks: the list is empty, so C2 must be in not_applicable",
    ),
    "unknown name": (
        swapped("{out}/small", "{output}/small"),
        "entrypoints.C1: {output} is not known; use one of assets, files, out, python",
    ),
    "ranks on C1": (entrypoint("ranks: 2"), "entrypoints.C1: only C4 has ranks"),
    "metric without a group": (
        swapped("([\\d.]+)", "[\\d.]+"),
        'entrypoints.C1: metric "accuracy [\\d.]+" needs exactly one group',
    ),
    "metric with two groups": (
        swapped("([\\d.]+)", "(\\d+).(\\d+)"),
        "needs exactly one group",
    ),
    "bounds the wrong way round": (
        swapped("minimum: 0.6", "minimum: 0.6\n        maximum: 0.5"),
        "entrypoints.C1: minimum 0.6 is above maximum 0.5",
    ),
    "pattern that matches nothing": (
        proof("log: 'done|.*'"),
        'entrypoints.C1: the pattern "done|.*" matches nothing at all, so it proves nothing',
    ),
    "pattern that may never end": (
        proof("log: '(\\w+\\s?)+done'"),
        "repeats a repetition or an alternative; its search may never end",
    ),
    "asset out of its folder": (
        asset(path="../../x"),
        'assets: "../../x" leads out of its folder',
    ),
    "file named ..": (BASE + "files: {..: x}\n", 'files: ".." leads out of its folder'),
    "file named .": (BASE + "files: {.: x}\n", 'files: "." leads out of its folder'),
    "decoy out of the repository": (
        swapped("decoy: train.py", "decoy: ../train.py"),
        'entrypoints.C1: "../train.py" leads out of its folder',
    ),
    "proof out of its folder": (
        proof("file: '{out}/../x'"),
        'entrypoints.C1: "{out}/../x" leads out of its folder',
    ),
}

# --- defaults written out again
RESTATED = {
    "frameworks": (
        swapped("frameworks: []", "frameworks: [torch]"),
        'frameworks: ["torch"] is the default; leave it out',
    ),
    "time limit": (swapped("120", "600"), "C1.timeout_seconds: 600 is the default; leave it out"),
    "network": (entrypoint("network: false"), "C1.network: false is the default; leave it out"),
    "folder": (entrypoint("cwd: '{repo}'"), 'C1.cwd: "{repo}" is the default; leave it out'),
    "environment": (entrypoint("env: {}"), "C1.env: {} is the default; leave it out"),
    "files": (BASE + "files: {}\n", "files: {} is the default; leave it out"),
    "assets": (BASE + "assets: []\n", "assets: [] is the default; leave it out"),
    "kind of file": (
        swapped("kind: zip", "kind: any"),
        'entrypoints.C1.proofs.2.kind: "any" is the default; leave it out',
    ),
    "size of file": (
        swapped("min_bytes: 1000", "min_bytes: 1"),
        "entrypoints.C1.proofs.2.min_bytes: 1 is the default; leave it out",
    ),
    "python of the oracle": (
        BASE + 'oracle: {python: "3.11"}\n',
        'oracle.python: "3.11" is the default; leave it out',
    ),
}

MALFORMED = SYNTAX | CONTENT | MEANING | {f"default: {name}": RESTATED[name] for name in RESTATED}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_manifest_is_one_plain_line(tmp_path, name):
    text, clause = MALFORMED[name]
    path = tmp_path / "owner__name.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DocumentError) as caught:
        manifests.load(path)
    message = str(caught.value)
    assert clause in "\n".join(counts.list_faults([path]))
    assert "owner__name.yaml" in message
    assert message.isprintable()
    assert len(message) < 500


def test_there_are_many():
    assert len(MALFORMED) >= 40


@pytest.mark.parametrize(
    "text",
    [
        BASE,
        asset(),
        BASE + "files: {start.py: 'print(1)'}\n",
        swapped("minimum: 0.6", "minimum: 0.001"),
        entrypoint("cwd: '{out}'"),
        proof("log: '^(done|finished)$'"),
        proof("log: '(\\w+)? done'"),
        BASE + 'oracle: {python: "3.12", packages: [numpy==2.2.6], key: numpy}\n',
    ],
)
def test_good_manifest_is_read(tmp_path, text):
    path = tmp_path / "m.yaml"
    path.write_text(text)
    read = manifests.load(path)
    assert (read.slug, read.imports) == ("researchenvbench__spirals", 6)
    assert Level.C1 in read.entrypoints


FAULTY = """\
repository: me/mine
commit: main
domian: robotics
entrypoints:
  C1:
    argv: ["{python}", "{here}/run.py"]
    decoy: /run.py
    proofs:
      - log: a
      - metric: 'loss .*'
        kind: any
      - {file: "{out}/model.pt", kind: any}
    timeout_seconds: 0
  C9: {}
not_applicable:
  C2: none
  C5: not a level of this list
oracle: {python: "3.11"}
"""
FAULTS = [
    'm.yaml:2: commit: "main" does not match ^([0-9a-f]{40}|self)$',
    'm.yaml:3: the document: the key "domian" is not known; perhaps you meant domain',
    (
        "m.yaml:5: entrypoints.C1: {here} is not known; use one of assets, files, out, python,"
        " ranks, repo, seed"
    ),
    'm.yaml:7: entrypoints.C1.decoy: "/run.py" does not match ^[^/].*\\.py$',
    'm.yaml:9: entrypoints.C1.proofs.0.log: "a" is too short (1 of at least 3 characters)',
    'm.yaml:10: entrypoints.C1: metric "loss .*" needs exactly one group',
    'm.yaml:11: entrypoints.C1.proofs.1: the key "kind" is not known',
    'm.yaml:12: entrypoints.C1.proofs.2.kind: "any" is the default; leave it out',
    "m.yaml:13: entrypoints.C1.timeout_seconds: 0 is less than 1",
    'm.yaml:14: entrypoints: the key "C9" is not known',
    'm.yaml:16: not_applicable.C2: "none" is too short (4 of at least 10 characters)',
    'm.yaml:17: not_applicable: "C5" is not one of C1, C2, C3, C4',
    'm.yaml:18: oracle.python: "3.11" is the default; leave it out',
    "m.yaml: C3 must be in exactly one of entrypoints, not_applicable and paper_only",
    "m.yaml: C4 must be in exactly one of entrypoints, not_applicable and paper_only",
]


def test_every_fault_is_listed_at_once_with_its_line(tmp_path):
    (tmp_path / "m.yaml").write_text(FAULTY)
    listed = list(counts.list_faults([tmp_path / "m.yaml"]))
    assert listed == FAULTS


def test_first_fault_says_how_many_more_there_are(tmp_path):
    (tmp_path / "m.yaml").write_text(swapped("imports: 6", "imports: many") + "colour: red\n")
    with pytest.raises(DocumentError) as caught:
        manifests.load(tmp_path / "m.yaml")
    assert str(caught.value) == (
        'm.yaml:4: imports: "many" is not of type integer (and 1 more; reb validate lists all)'
    )


def test_own_repository_needs_no_domain_and_no_count(tmp_path):
    text = swapped("domain: example", "domain: soft robotics").replace("imports: 6\n", "")
    (tmp_path / "m.yaml").write_text(text)
    read = manifests.load(tmp_path / "m.yaml")
    assert (read.domain, read.imports) == ("soft robotics", None)
    assert list(counts.count_levels([tmp_path / "m.yaml"]))[2].split() == [
        "paper", "-", "1", "0", "0", "0",
    ]  # fmt: skip


def test_dates_and_numbers_of_yaml_become_what_json_has(tmp_path):
    path = tmp_path / "m.yaml"
    path.write_text(BASE + "files: {released: 2026-01-01}\n")
    assert manifests.load(path).files == {"released": "2026-01-01"}


def test_link_is_not_followed(tmp_path):
    (tmp_path / "real.yaml").write_text(BASE)
    (tmp_path / "m.yaml").symlink_to("real.yaml")
    told = "is not a regular file; name the file itself; links are not followed"
    with pytest.raises(DocumentError, match=told):
        manifests.load(tmp_path / "m.yaml")


def test_manifest_stands_under_its_own_name(tmp_path):
    (tmp_path / "other__name.yaml").write_text(BASE)
    with pytest.raises(DocumentError) as caught:
        manifests.load_folder(tmp_path)
    told = "other__name.yaml: researchenvbench/spirals belongs in researchenvbench__spirals.yaml"
    assert str(caught.value) == told


def test_folder_without_a_manifest_is_refused(tmp_path):
    with pytest.raises(UsageError, match="holds no manifest"):
        manifests.load_folder(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kyegomez/visionmamba", "did you mean kyegomez/VisionMamba? repos/README.md lists"),
        ("alephpi/Texoo", "did you mean alephpi/Texo? repos/README.md lists"),
        ("none/such", '"none/such"; repos/README.md lists the corpus; a manifest of your own is'),
        ("a\nb", "repos/README.md lists"),
        ("../secrets", '"../secrets"; repos/README.md lists'),
    ],
)
def test_unknown_repository_is_told_with_what_was_meant(name, said):
    with pytest.raises(UsageError) as caught:
        manifests.find(name)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_only_the_manifest_that_comes_with_reb_is_of_the_corpus():
    own = manifests.find("kyegomez/VisionMamba")
    assert manifests.in_corpus(own)
    assert not manifests.in_corpus(replace(own, commit="f" * 40))
    assert not manifests.in_corpus(replace(own, repository="some/other"))


def test_manifest_that_is_not_there_is_the_callers_mistake():
    with pytest.raises(UsageError, match='there is no manifest "gone'):
        manifests.find("gone.yaml")


def test_repository_is_found_by_its_name():
    assert manifests.find("SWivid/F5-TTS") == manifests.find("SWivid__F5-TTS")
