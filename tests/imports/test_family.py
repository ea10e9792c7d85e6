"""C0 on generated repositories: it fails exactly where Python finds no module to install.

pytest tests/imports/test_family.py             a sample; it prints its seed
REB_C0_FULL=1 pytest -s tests/imports/test_family.py -m slow    all, with every disagreement
REB_SEED=7 pytest tests/imports/test_family.py  the sample of a seed
"""

import functools
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load
from reb_action.imports import owners
from reb_action.model.observation import Interpreter
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.imports import repository_files
from reb_action.probe.presence import Measured, look
from reb_action.source.pristine import Source, TrackedFile
from tests.support.import_family import FULL, NAME, member
from tests.support.import_world import MANIFEST, lay_out, report_of
from tests.support.pyright_run import observed

SEED = int(os.environ.get("REB_SEED") or random.randrange(10**6))
SAMPLE, ALL = 12, 500


def bare_environment(home):
    """Make an interpreter with nothing installed, in no time, and return it."""
    site = Path(sysconfig.get_path("purelib", vars={"base": str(home / "venv")}))
    shutil.rmtree(home / "venv", ignore_errors=True)
    site.mkdir(parents=True)
    (home / "venv/bin").mkdir()
    base = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info[1]}"
    (home / "venv/bin/python").symlink_to(base)
    (home / "venv/pyvenv.cfg").write_text(f"home = {base.parent}\n")
    return home / "venv/bin/python", site


@functools.cache
def compiled(name, source):
    """Return an extension module of this name."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    include = sysconfig.get_path("include")
    argv = ["cc", "-shared", "-fPIC", f"-I{include}", f"-DINIT=PyInit_{name}"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, f"{name}.so")
        argv += [f'-DNAME="{name}"', "-x", "c", "-", "-o", str(place)]
        subprocess.run(argv, input=source.encode(), check=True, timeout=60)
        return place.read_bytes()


def furnish(site, files, deps):
    """Write what a member has in site-packages, and in a folder beside it."""
    shutil.rmtree(deps, ignore_errors=True)
    for name, content in files.items():
        if name == "{deps}":
            furnish(deps, content, deps / "none")
        elif name == "{link}":
            (deps / content).parent.mkdir(parents=True)
            (deps / content).symlink_to(deps / NAME)
        else:
            (site / name).parent.mkdir(parents=True, exist_ok=True)
            if name.endswith(".so"):
                (site / name).write_bytes(compiled(Path(name).stem, content))
            else:
                (site / name).write_text(content.replace("{deps}", str(deps)))


def source_of(folder):
    """Return a folder as a source, without git."""
    files = tuple(
        TrackedFile(path=str(path.relative_to(folder)), mode="100644", blob_sha1="", size_bytes=0)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    )
    return Source(folder=folder, commit="", committed_at=0, files=files, submodules=())


def runs(one, sandbox, site_files):
    """Tell whether Python runs a member's script, with its root on the path, as C0 has it."""
    checkout, home = Path(sandbox.layout.repository), Path(sandbox.layout.home)
    python, site = bare_environment(home)
    furnish(site, site_files, home / "deps")
    given = {"cwd": checkout, "env": {"PYTHONPATH": str(checkout)}, "timeout": 60}
    run = subprocess.run([python, "-B", one.world.run], capture_output=True, **given)
    return run.returncode == 0


def right_answer(one, sandbox):
    """Return what C0 has to name: what a full environment would make run, and this does not."""
    here = runs(one, sandbox, one.site if one.counts else {})
    return [] if here or not runs(one, sandbox, FULL) else [NAME]


def answer(one, sandbox):
    """Return what C0 names."""
    python, site = bare_environment(Path(sandbox.layout.home))
    furnish(site, one.site, Path(sandbox.layout.home) / "deps")
    search = observed(python)
    files = repository_files(source_of(Path(sandbox.layout.repository)))
    context = ProbeContext(sandbox=sandbox, mount=Path(sandbox.spec.mount), manifest=load(MANIFEST))
    interpreter = Interpreter(
        path=str(python), fault=None, path_is_good=True, search_paths=search.paths
    )
    measured = Measured(report=report_of(python), interpreter=interpreter, version=search.version)
    seen = look(context, owners(files, version=search.version), measured)
    assert seen.fault is None
    return sorted({absent.name for absent in seen.absent})


def disagreements(seeds, sandbox):
    """Yield the members of which C0 and Python say different things."""
    reveal(Path(sandbox.spec.mount), load(MANIFEST))
    for seed in seeds:
        one = member(seed)
        checkout = Path(sandbox.layout.repository)
        shutil.rmtree(checkout, ignore_errors=True)
        lay_out(one.world, checkout)
        right, found = right_answer(one, sandbox), answer(one, sandbox)
        if found != right:
            yield f"seed {seed}, {one.drawn}: C0 names {found} and should name {right}"


def test_sample_of_the_family_is_as_python_says(scratch):
    print(f"REB_SEED={SEED}")  # noqa: T201
    found = list(disagreements(range(SEED, SEED + SAMPLE), scratch))
    assert found == [], f"REB_SEED={SEED}"


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("REB_C0_FULL"), reason="REB_C0_FULL is not set")
@pytest.mark.timeout(3000)
def test_whole_family_is_as_python_says(scratch):
    found = list(disagreements(range(ALL), scratch))
    print(f"{ALL} repositories, {len(found)} disagreements", *found, sep="\n  ")  # noqa: T201
    assert found == []
