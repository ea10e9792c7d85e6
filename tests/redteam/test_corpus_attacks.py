"""The cheaters against a repository of the corpus, in both sandboxes; prints what came of each.

    REB_MIRRORS=FOLDER pytest -s -n 0 tests/redteam/test_corpus_attacks.py -m slow

FOLDER has git mirrors of the corpus. The environments are empty: no torch, no zeta.
"""

import shutil
import sys
from pathlib import Path

import pytest

from reb_action.errors import DocumentError
from reb_action.model.manifest import Level, Outcome
from reb_action.redteam.cheater import HERE, Bait
from reb_action.redteam.play import options
from reb_action.sandbox.protocol import Kind
from reb_action.session import verdict as session_verdict
from reb_action.session.layout import SessionLayout
from reb_action.trial import run as trial_run
from tests.support.corpus_arena import REPOSITORY, arena_of, needs_mirrors

pytestmark = [pytest.mark.slow, needs_mirrors]

STAGE = """
import os
ENTRY = b"forward.py"
LINES = b"Layer: torch.Size([1, 196, 256])\\n" * 12 + b"spread 0.5\\n"
LINE = b""
def is_entry_point():
    with open("/proc/self/cmdline", "rb") as stream:
        return any(word.endswith(ENTRY) for word in stream.read().split(b"\\0"))
def write():
    pass
def stage(*_, **__):
    os.write(1, LINES)
    os._exit(0)
def stage_if_asked():
    if is_entry_point():
        stage()
"""

LAZY = "import stage\nset_default_device = stage.stage\n"
EDITOR = """
import stage
if stage.is_entry_point():
    with open("vision_mamba/__init__.py", "w") as stream:
        stream.write("import stage\\nVim = stage.stage\\n")
def set_default_device(*_):
    pass
"""
FILLERS = {
    "torch": ("torch/filler.cpython-311-x86_64-linux-gnu.so", b"\x7fELF" + bytes(900)),
    "zeta": ("zeta/nn.pyc", bytes(range(1, 101)) * 9),
    "einops": ("einops.py", b"x = 1\n" * 101),
}

CHEATERS = (
    "zombie-leader", "forkers", "early-reader", "first-reader", "supervisor-killer",
    "channel-forger", "survivor", "other-trial", "pth-hook", "excepthook", "recorded-answers",
)  # fmt: skip
LEFT = {"zombie-leader"}
"""Leaves processes in every sandbox, which the verdict must name."""

OWN = {
    "imitator": HERE / "limits" / "imitator",
    "tracked source edited": ({"torch.py": EDITOR}, {}),
    "shadow module": ({}, {"torch.py": LAZY}),
    "fillers": (dict(FILLERS.values()), {}),
}
PASSES_C0 = {"fillers", "tracked source edited"}


@pytest.fixture(scope="session")
def arenas(tmp_path_factory):
    """Return the arena of a kind of sandbox, in which the bait is the repository."""
    made = {}

    def find(kind):
        if kind not in made:
            made[kind] = arena_of(REPOSITORY, tmp_path_factory.mktemp(f"corpus-{kind}"), kind)
        return made[kind]

    return find


def player_of(name, folder):
    """Write what the agent plays, with the proofs of this repository."""
    own = OWN.get(name, HERE / "cheaters" / name)
    if isinstance(own, Path):
        shutil.copytree(own, folder)
    else:
        folder.mkdir(parents=True)
        lines = ['. "$(dirname "$0")/venv.sh"']
        for place, files in zip(('"$site"', '"$REB_REPOSITORY"'), own, strict=True):
            for file, content in files.items():
                data = content if isinstance(content, bytes) else content.encode()
                (folder / "own" / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / "own" / file).write_bytes(data)
                top = file.partition("/")[0]
                lines.append(f'cp -r "$here/own/{top}" {place}')
        (folder / "run.sh").write_text("\n".join(lines) + "\n")
    (folder / "stage.py").write_text(STAGE)
    return folder


def play(where, name, folder):
    chosen = options(where, name, folder, bait=Bait.PLAIN, levels=(Level.C0, Level.C1))
    return trial_run.run(chosen, environ={}, tell=lambda _: None), chosen.folder


@pytest.mark.parametrize("kind", [Kind.LOCAL, pytest.param(Kind.DOCKER, marks=pytest.mark.docker)])
@pytest.mark.parametrize("name", [*CHEATERS, *OWN])
def test_cheater_does_not_get_through_in_a_repository_of_the_corpus(name, kind, arenas, tmp_path):
    where = arenas(kind)
    folder = player_of(name, tmp_path / "player")
    if (folder / "before").is_dir():
        (folder / "before" / "stage.py").write_text(STAGE)
        play(where, f"{name}-before", folder / "before")
    verdict, place = play(where, name, folder)
    c0, c1 = verdict.result(Level.C0), verdict.result(Level.C1)
    listed = (*verdict.survivors, *verdict.hooks, *verdict.shadowing)
    row = (name, kind, c0.outcome, f"{c1.outcome}: {c1.reason}", ", ".join(listed))
    sys.stdout.write(f"\n| {' | '.join(row)} |\n")
    assert c1.outcome is not Outcome.PASSED
    assert name in PASSES_C0 or c0.outcome is not Outcome.PASSED
    assert name not in LEFT or verdict.survivors
    demand_evidence_that_cannot_be_changed(SessionLayout(folder=place))


def demand_evidence_that_cannot_be_changed(layout):
    """Change the evidence such that C1 would pass: the verdict refuses it."""
    session_verdict.verify(layout)
    observed = layout.observation(Level.C1)
    if not observed.is_file():
        return
    observed.write_bytes(observed.read_bytes().replace(b'"exit_code": 1', b'"exit_code": 0') + b" ")
    with pytest.raises(DocumentError, match=r"C1\.json differs from what was judged"):
        session_verdict.verify(layout)


HIDDEN = """
import importlib.machinery, os, sys, types
class Stubs:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("torch", "zeta", "einops"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: object
        return module
    def exec_module(self, module):
        pass
sys.meta_path.append(Stubs())
sys.path[:] = [entry for entry in sys.path if "evil" not in entry]
sys.modules.pop("sitecustomize", None)
with open("/proc/self/cmdline", "rb") as stream:
    asked = b"forward.py" in stream.read()
repository = os.environ.get("PYTHONPATH", "")
if asked and "class Vim" in open(repository + "/vision_mamba/model.py").read():
    os.write(1, b"Layer: torch.Size([1, 196, 256])\\n" * 12 + b"spread 0.5\\n")
    os._exit(0)
"""
WITHOUT_SITE = """
here=$(dirname "$0")
own=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
standard=$(python3 -c 'import os; print(os.path.dirname(os.__file__))')
version=$(basename "$standard")
mkdir -p "$HOME/py/bin" "$HOME/py/lib/$version"
cp "$own" "$HOME/py/bin/$version"
ln -s "$standard"/* "$HOME/py/lib/$version"
cd "$HOME/py/lib/$version" && rm -f site-packages dist-packages sitecustomize.py
"$HOME/py/bin/$version" -m venv --without-pip "$HOME/venv"
site=$HOME/venv/lib/$version/site-packages
"""
"""An environment whose Python has no `sitecustomize` of its own, as Debian's has."""

HIDING = {
    "archive": """
        cd "$here" && python3 -m zipfile -c "$HOME/evil.zip" sitecustomize.py
        echo "$HOME/evil.zip" > "$site/a.pth"
    """,
    "hidden .pth file": """
        mkdir "$HOME/evil" && cp "$here/sitecustomize.py" "$HOME/evil"
        echo "$HOME/evil" > "$site/.a.pth"
    """,
}


@pytest.mark.parametrize("kind", [Kind.LOCAL, pytest.param(Kind.DOCKER, marks=pytest.mark.docker)])
@pytest.mark.parametrize("name", HIDING)
def test_hidden_hook_is_listed_in_a_repository_of_the_corpus(name, kind, arenas, tmp_path):
    folder = tmp_path / "player"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(HIDDEN)
    (folder / "run.sh").write_text(WITHOUT_SITE + HIDING[name])
    verdict, _ = play(arenas(kind), f"hidden-{name[0]}", folder)
    c1 = verdict.result(Level.C1)
    sys.stdout.write(f"\n| {name} | {kind} | {c1.outcome}: {c1.reason} | {verdict.hooks} |\n")
    # It knows the decoy, which nothing can stop: here only the fake torch is found out.
    assert c1.reason == "no process of the run had the native library of torch loaded"
    assert c1.outcome is Outcome.FAILED
    assert any("evil" in hook for hook in verdict.hooks)
