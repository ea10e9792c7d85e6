"""Small repositories with a real environment each, and C0's answer on them, for tests."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reb_action.corpus.manifests import load
from reb_action.judge.imports import judge_imports
from reb_action.model.observation import ImportsObservation, Interpreter
from reb_action.model.report import Report
from reb_action.model.verdict import LevelResult
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.imports import Reported, observe_imports
from reb_action.sandbox.protocol import Sandbox
from reb_action.source.pristine import Source, read_source
from tests.support.pyright_run import observed

MANIFEST = Path(__file__).parents[1] / "demo" / "manifest.yaml"
VERSION = "import platform; print(platform.python_version())"
GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """A repository's files (`links` by target), and what a shell does to make its environment.

    The script runs in the checkout; `$PY` is the environment's interpreter, `$SITE` its
    site-packages, `$PIP` installs from an index. `absent` are the modules that C0 has to name.
    """

    files: Mapping[str, bytes | str]
    links: Mapping[str, str] = field(default_factory=dict)
    script: str = ""
    python: str | None = None
    absent: tuple[str, ...] = ()
    run: str = "main.py"
    runs: bool | None = None
    index: bool = False


def lay_out(world: World, folder: Path) -> None:
    """Write the repository's files."""
    for path, content in world.files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    for path, target in world.links.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).symlink_to(target)


def commit(folder: Path) -> Source:
    """Commit all of a folder and return its pristine source."""
    environ = {**os.environ, **GIT}
    for arguments in (
        ("init", "-q", "."),
        ("add", "-f", "--all"),
        (*WHO, "commit", "-q", "-m", "x"),
    ):
        subprocess.run(["git", "-C", folder, *arguments], check=True, env=environ, timeout=60)
    argv = ["git", "-C", folder, "rev-parse", "HEAD"]
    head = subprocess.run(argv, check=True, capture_output=True, text=True, timeout=60)
    return read_source(folder, head.stdout.strip())


def environment(world: World, checkout: Path, home: Path) -> Path:
    """Make the environment of a world and return its interpreter."""
    base = interpreter_of(world.python)
    argv = [base, "-m", "venv", "--without-pip", home / "venv"]
    subprocess.run(argv, check=True, timeout=120, cwd=checkout)
    python = home / "venv" / "bin" / "python"
    if world.script:
        purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
        site = subprocess.run([python, "-c", purelib], check=True, capture_output=True, text=True)
        uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        variables = {
            **os.environ,
            "PATH": f"{home}/venv/bin:{os.environ['PATH']}",
            "HOME": str(home),
            "PY": str(python),
            "SITE": site.stdout.strip(),
            "UV_LINK_MODE": "hardlink",
            "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", f"{Path.home()}/.cache/uv"),
            "PIP": f"{uv} pip install -q --python {python}",
        }
        subprocess.run(["sh", "-eu", "-c", world.script], check=True, cwd=checkout, env=variables)
    return python


def interpreter_of(name: str | None) -> str:
    """Return an interpreter by its name, past the shims of version managers."""
    if name is None:
        return sys.executable
    folders = sorted(Path.home().glob(f".pyenv/versions/{name.removeprefix('python')}.*/bin"))
    search = ":".join([*map(str, folders), os.environ["PATH"]])
    return shutil.which(name, path=search) or name


def observe(world: World, sandbox: Sandbox) -> ImportsObservation:
    """Observe C0 of a world in a local sandbox."""
    checkout = Path(sandbox.layout.repository)
    pristine = Path(sandbox.layout.home).parent / "pristine"
    for folder in (checkout, pristine):
        folder.mkdir(parents=True, exist_ok=True)
        lay_out(world, folder)
    source = commit(pristine)
    python = environment(world, checkout, Path(sandbox.layout.home))
    search = observed(python)
    version = subprocess.run([python, "-c", VERSION], capture_output=True, text=True, check=True)
    interpreter = Interpreter(
        path=str(python),
        fault=None,
        path_is_good=True,
        version=version.stdout.strip(),
        prefix=search.prefix,
        search_paths=search.paths,
    )
    mount = Path(sandbox.spec.mount)
    manifest = load(MANIFEST)
    reveal(mount, manifest)
    context = ProbeContext(sandbox=sandbox, mount=mount, manifest=manifest)
    known = {file.path for file in source.files}
    native = tuple(
        str(path.relative_to(checkout))
        for path in checkout.rglob("*.so")
        if str(path.relative_to(checkout)) not in known and "venv" not in path.parts
    )
    reported = Reported(report=report_of(python), interpreter=interpreter)
    return observe_imports(context, source, reported, native)


def report_of(python: Path) -> Report:
    """Return a report that names an interpreter and claims nothing."""
    nothing = dict.fromkeys(
        ("python_version", "torch_version", "cuda_available", "gpu_count", "ddp_expected_ok")
    )
    return Report(python_path=str(python), env_tool="venv", env_name=None, notes=None, **nothing)


def judge(seen: ImportsObservation) -> LevelResult:
    """Judge an observation by a manifest that knows nothing of it."""
    return judge_imports(load(MANIFEST), seen)


def really_imports(world: World, checkout: Path, python: Path) -> bool:
    """Run the repository's file with the real interpreter."""
    argv = [python, world.run]
    run = subprocess.run(argv, cwd=checkout, capture_output=True, timeout=120, env={})
    return run.returncode == 0
