"""Drafted manifests: what the files of a repository of each shape say, and what is marked."""

import subprocess

import pytest
from click.testing import CliRunner

from reb_action.cli.main import cli
from reb_action.corpus import manifests
from reb_action.draft.observed import derive_proofs
from reb_action.errors import UsageError
from reb_action.model.manifest import Framework, Level, LogProof, MetricProof, Setup, StepsProof
from reb_action.source.head import demand_name, make_name

README = (
    "# Mine\n\n```bash\n$ pip install -e .[all]\npip install mine\npython train.py --steps 3\n```\n"
)
TRAIN = (
    "import argparse, torch\nif __name__ == '__main__':\n"
    "    argparse.ArgumentParser().add_argument('--steps', required=True)\n"
    "    print('final loss', torch.ones(1).item())\n"
)


@pytest.fixture
def draft(tmp_path, monkeypatch):
    """Commit files to a new repository, run `reb init` in it, and return output and manifest."""

    def run(files):
        root = tmp_path / "mine"
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
        for argv in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
            subprocess.run((*git, *argv), cwd=root, check=True)
        monkeypatch.chdir(root)
        done = CliRunner().invoke(cli, ["init"], catch_exceptions=False)
        path = root / "researchenvbench.yaml"
        return done.output, manifests.load(path), path.read_text()

    return run


def test_readme_gives_setup_and_entry_point(draft):
    output, manifest, text = draft({"README.md": README, "train.py": TRAIN, "setup.py": ""})
    assert manifest.setup == Setup(lines=("pip install -e .[all]",))
    assert manifest.entrypoints[Level.C1].argv == ("{python}", "train.py", "--steps", "3")
    assert manifest.entrypoints[Level.C1].proofs == (LogProof(log="^final loss"),)
    assert (manifest.commit, manifest.frameworks) == ("self", (Framework.TORCH,))
    assert (
        "# unsure: left out, since they install no file of the checkout: pip install mine" in text
    )
    assert "frameworks: torch" in output


def test_framework_that_is_only_pinned_is_none(draft):
    files = {"requirements.txt": "tensorflow==2.0\n", "run.py": "import numpy\n"}
    _, manifest, _ = draft(files)
    assert manifest.frameworks == ()
    assert manifest.setup == Setup(lines=("pip install -r requirements.txt",))
    assert manifest.not_applicable[Level.C2] == "no file imports torch, tensorflow or jax"
    assert manifest.not_applicable[Level.C1].startswith("reb init found no script, test or")


def test_library_is_proposed_by_its_tests_and_the_file_that_they_test(draft):
    test = "import mine\ndef test_one():\n    assert mine.ONE == 1\n"
    _, manifest, text = draft(
        {"src/mine/__init__.py": "ONE = 1\n", "tests/test_mine.py": test, "pyproject.toml": ""}
    )
    entrypoint = manifest.entrypoints[Level.C1]
    assert entrypoint.argv[-1] == "tests/test_mine.py"
    assert entrypoint.decoy == "src/mine/__init__.py"
    assert entrypoint.proofs == (MetricProof(metric=r"(\d+) passed", minimum=1),)
    assert "# unsure: it needs pytest in the environment" in text


def test_conda_file_and_code_for_many_gpus_are_seen(draft):
    code = "import torch.distributed\nx = 'cuda'\n"
    _, manifest, _ = draft(
        {"environment.yml": "name: x\n", "pkg/__init__.py": "", "pkg/a.py": code}
    )
    assert manifest.setup == Setup(environment="environment.yml")
    assert manifest.entrypoints[Level.C1].decoy == "pkg/a.py"
    assert manifest.not_applicable[Level.C4].endswith("pkg/a.py has code for them")


def test_notebooks_are_named_and_prove_nothing(draft):
    _, manifest, text = draft({"one.ipynb": "{}", "two.ipynb": "{}"})
    assert "# unsure: not read or run: 2 notebooks, whose stored outputs prove nothing" in text
    assert Level.C1 in manifest.not_applicable


HOSTILE = """# x
```bash
pip install torch\x1b[31m
pip install -e .\x85
python train.py --name {your_name}
python train.py --title "two words"
python train.py --open "quote
```
"""


def test_names_and_lines_that_no_manifest_can_hold_leave_it_valid(draft):
    files = {
        "README.md": HOSTILE,
        "train.py": "print('loss')\n",
        "a\udcff.py": "x.cuda()\nif __name__ == '__main__': pass\n",
        "b\nc.py": "import torch.distributed as d\nd.init_process_group()\n",
        "my-tool/__init__.py": "",
    }
    output, manifest, text = draft(files)
    assert manifest.entrypoints[Level.C1].argv[1:] == ("train.py", "--title", "two words")
    assert manifest.not_applicable[Level.C3].endswith("a\ufffd.py uses one")
    assert manifest.not_applicable[Level.C4].endswith("b\ufffdc.py has code for them")
    assert "pip install torch\ufffd[31m" in text
    assert "a driver" not in output


def test_owner_that_no_origin_names_is_unsure(draft):
    _, manifest, text = draft({"run.py": "import numpy\n"})
    assert manifest.repository == "owner/mine"
    assert "# unsure: the origin of the checkout names no owner/name; correct this one" in text


@pytest.mark.parametrize(
    ("folder", "name"),
    [("my repo", "owner/my-repo"), ("é", "owner/name"), ("..x", "owner/..x"), ("-", "owner/name")],
)
def test_name_made_of_a_folder_is_one_of_a_repository(tmp_path, folder, name):
    assert make_name(tmp_path / folder) == name
    demand_name(name)


@pytest.mark.parametrize("name", ["../x", "a/..", "a/b/c", "", "a_b/c", "ü/b", "a/b\n", "a /b"])
def test_no_server_or_mirror_is_asked_for_what_is_no_name(name):
    done = CliRunner().invoke(cli, ["init", "--", name])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).endswith("is not the owner/name of a repository")


def test_link_to_nothing_is_not_written_through(draft, tmp_path):
    draft({"run.py": "import numpy\n"})
    (tmp_path / "link.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    done = CliRunner().invoke(cli, ["init", "--output", str(tmp_path / "link.yaml")])
    assert "exists; remove it, or name another file with --output" in str(done.exception)
    assert not (tmp_path / "elsewhere.yaml").exists()


def test_existing_manifest_is_not_replaced(draft):
    draft({"run.py": "import numpy\n"})
    done = CliRunner().invoke(cli, ["init"])
    assert "exists; remove it, or name another file with --output" in str(done.exception)


@pytest.mark.parametrize(
    ("log", "proofs"),
    [
        ("...\n3 passed in 0.1s\n", (MetricProof(metric=r"(\d+) passed", minimum=3.0),)),
        ("2 skipped in 0.1s\n", ()),
        ("Ran 2 tests in 1s\nOK (skipped=2)\n", ()),
        ("a ... ok\nRan 1 test in 1s\nOK\n", (StepsProof(steps=r"\.\.\. ok$", at_least=1),)),
        (
            "train loss: 0.5\ntrain loss: 0.25\n",
            (
                MetricProof(metric=r"train loss\s*[:=]?\s*([-+]?\d*\.\d+)"),
                StepsProof(steps="train loss", at_least=2),
            ),
        ),
        ("saved 12 rows (ok)\n", (LogProof(log=r"saved [-+\d.,e]+ rows \(ok\)"),)),
        ("UserWarning: old\n", ()),
        ("1234\n/tmp/out\n", ()),
        (f"done: 3\n{'1 ' * 50}\n/a/b /c/d /e/f\n", (LogProof(log=r"done: [-+\d.,e]+"),)),
    ],
)
def test_proofs_are_derived_from_a_log(log, proofs):
    assert derive_proofs(log) == proofs
