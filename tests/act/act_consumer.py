"""Makes the repository of somebody who uses the action: a tiny repository to measure, agents."""

import shutil
import subprocess
from pathlib import Path

from reb_action.demo import commit_repository

HERE = Path(__file__).parent
PRODUCT = HERE.parent.parent

MANIFEST = """\
repository: example/tiny
commit: "{commit}"
domain: example
imports: 3
frameworks: []
entrypoints:
  C1:
    argv: ["{{python}}", main.py, "{{out}}"]
    decoy: main.py
    timeout_seconds: 60
    proofs:
      - steps: 'epoch \\d total \\d'
        at_least: 3
      - file: "{{out}}/total.txt"
        kind: text
not_applicable:
  C2: nothing here could use a GPU
  C3: {c3}
  C4: nothing here is distributed
"""


def git(place, *arguments):
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=place, check=True, capture_output=True, text=True
    ).stdout.strip()


def make_mirror(place, name="tiny", files=None):
    """Commit the tiny repository, with `files` put over it; return the text of its manifest."""
    source = place / "source" / name
    shutil.copytree(HERE / "tiny", source / "repository")
    put(source / "repository", files or {})
    text = MANIFEST.format(commit="0" * 40, c3="nothing here could use a GPU")
    text = text.replace("example/tiny", f"example/{name}")
    (source / "manifest.yaml").write_text(text)
    commit_repository(source, place / "mirror")
    commit = git(place / "mirror" / "example" / name, "rev-parse", "HEAD")
    return text.replace("0" * 40, commit)


def make_consumer(place, manifest, workflows, files=None):
    """Make a git repository with a manifest, agents, workflows, more files; return its folder."""
    (place / ".github" / "workflows").mkdir(parents=True)
    shutil.copytree(HERE / "agents", place / "agents")
    put(place, {"tiny.yaml": manifest, **(files or {})})
    put(place / ".github" / "workflows", workflows)
    git(place, "init", "-q")
    git(place, "add", ".")
    git(place, "commit", "-q", "-m", "Use it")
    return place


def put(place, files):
    """Write texts by their paths."""
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)


def export_product(place):
    """Lay the committed state of this repository out, without what is not committed."""
    place.mkdir()
    packed = subprocess.run(
        ["git", "archive", "HEAD"], cwd=PRODUCT, check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "-x"], cwd=place, input=packed, check=True)
    return place
