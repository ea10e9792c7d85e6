"""The example of one repository under act: a fork's pull request breaks it, and one repairs it."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from tests.act.act_consumer import HERE, git, put
from tests.act.act_runner import Run, act

MANIFEST = """\
repository: acme/own
commit: self
domain: example
frameworks: []
entrypoints:
  C1:
    argv: ["{python}", main.py, "{out}"]
    decoy: main.py
    proofs:
      - steps: 'epoch \\d total \\d'
        at_least: 3
not_applicable:
  C2: nothing here could use a GPU
  C3: nothing here could use a GPU
  C4: nothing here is distributed
setup:
  - pip install -r requirements.txt
"""
FORK = {"pull_request": {"number": 7, "head": {"repo": {"full_name": "else/own", "fork": True}}}}
CHECKED_OUT = "          persist-credentials: false\n"


def write_wheel(folder, version, text):
    """Write a wheel of tinydep."""
    folder.mkdir(exist_ok=True)
    info = f"tinydep-{version}.dist-info"
    with zipfile.ZipFile(folder / f"tinydep-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tinydep/__init__.py", text)
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tinydep\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


def find_links(folder):
    """Return the folders of packages: one of the test's own, and those of this machine."""
    return f"{folder} {os.environ.get('PIP_FIND_LINKS', '')}".strip()


def write_workflow(product, jobs):
    """Return the example with one job for each branch, which is checked out after the checkout."""
    example = (product / "examples" / "one-repository.yml").read_text()
    head, _, job = example.partition("  trial:\n")
    for name, branch in jobs.items():
        step = f"{CHECKED_OUT}      - run: git checkout --quiet {branch}\n"
        head += f"  {name}:\n" + job.replace(CHECKED_OUT, step)
    return head


def write_weekly(product, place):
    """Return the weekly example twice: with the package as it was, then with a newer one."""
    example = (product / "examples" / "weekly.yml").read_text()
    head, _, job = example.partition("  trial:\n")
    for name, needs in {"before": "[]", "after": "[before]"}.items():
        own = job.replace("../last-pass", str(place / "trial-before"), 2)
        own = own.replace(
            "          agent: documented\n",
            f"          agent: documented\n          results: {place}/trial-{name}\n",
        )
        publish = f"      - run: cp {place / name}/*.whl {place / 'index'}\n"
        own = own.replace("      - name: Trial\n", f"{publish}      - name: Trial\n")
        head += f"  {name}:\n    needs: {needs}\n{own}"
    return head.replace("  schedule:", "  push:\n  schedule:")


def make_repository(place, product):
    """Commit the repository, with one branch without its dependency and one that has it again."""
    put(place, {
        "main.py": (HERE / "tiny" / "main.py").read_text(),
        "requirements.txt": "tinydep\n",
        "researchenvbench.yaml": MANIFEST,
        ".github/workflows/weekly.yml": write_weekly(product, place.parent),
        ".github/workflows/w.yml": write_workflow(
            product, {"removed": "removed", "repaired": "repaired"}
        ),
    })  # fmt: skip
    git(place, "init", "-q", "-b", "main")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "one")
    git(place, "checkout", "-q", "-b", "removed")
    put(place, {"requirements.txt": "\n"})
    git(place, "commit", "-q", "-a", "-m", "remove the dependency")
    git(place, "checkout", "-q", "-b", "repaired")
    put(place, {"requirements.txt": "tinydep\n"})
    git(place, "commit", "-q", "-a", "-m", "repair")
    git(place, "checkout", "-q", "main")
    return place


@pytest.fixture(scope="session")
def own(once, product):
    """Both pull requests come from a fork; the server cannot be reached, as a private one."""

    def run(place: Path) -> Run:
        write_wheel(place / "wheels", "1.0", "def add(a, b):\n    return a + b\n")
        (place / "event.json").write_text(json.dumps(FORK))
        consumer = make_repository(place / "c", product)
        env = {"PIP_FIND_LINKS": find_links(place / "wheels")}
        where = ("-W", ".github/workflows/w.yml", "-e", str(place / "event.json"))
        return act(product, consumer, place, "pull_request", *where, env=env)

    return once("own", run)


def test_removed_dependency_turns_the_check_red_with_the_decisive_message(own):
    run = own.of("removed")
    assert run.step("trial", "gate") == "failure", run.log
    assert run.outputs("trial")["outcome"] == "failed"
    assert "No module named 'tinydep'" in run.summaries[0]
    assert "C0 failed: 1 not installed: tinydep" in run.summaries[0]


def test_repair_turns_it_green(own):
    run = own.of("repaired")
    assert run.step("trial", "gate") == "success", run.log
    told = run.outputs("trial")
    assert (told["outcome"], told["highest-level"]) == ("passed", "C1")


@pytest.fixture(scope="session")
def weekly(once, product):
    """A newer package that breaks the import is on the index of the second week."""

    def run(place: Path) -> Run:
        write_wheel(place / "before", "1.0", "def add(a, b):\n    return a + b\n")
        write_wheel(place / "after", "2.0", "def plus(a, b):\n    return a + b\n")
        consumer = make_repository(place / "c", product)
        (place / "index").mkdir()
        env = {"PIP_FIND_LINKS": find_links(place / "index")}
        where = ("-W", ".github/workflows/weekly.yml")
        return act(product, consumer, place, "push", *where, env=env)

    return once("weekly", run)


def test_weekly_run_names_the_newer_package_that_broke_the_instructions(weekly):
    assert weekly.of("before").step("trial", "gate") == "success", weekly.log
    after = weekly.of("after")
    assert after.step("trial", "gate") == "failure", weekly.log
    summary = after.summaries[0]
    assert "it installs and the documented command fails" in summary
    assert "module 'tinydep' has no attribute 'add'" in summary
    assert "packages that changed since the last pass: tinydep 1.0 to 2.0" in summary
