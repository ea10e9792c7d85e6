"""Writes reb_action/probe/known_hooks.json: the hashes of what honest packages run at each start.

    python -m pip download --no-deps -d WHEELS setuptools==80.9.0 virtualenv==20.31.2 ...
    python .github/known_hooks.py WHEELS

A hook is a set of files: a .pth file and what its code imports. Wheels of other packages, and what
is known already, stay as they are. `uv venv` of a uv wheel is run, since its file is in the binary.
A `sitecustomize.py` in WHEELS is taken for the one of Debian's Python.
"""

import ast
import hashlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "reb_action" / "probe" / "known_hooks.json"
HACK = ("_distutils_hack/__init__.py", "_distutils_hack/override.py")
VIRTUALENV = "virtualenv/create/via_global_ref/_virtualenv.py"
# What virtualenv and uv write beside it.
VIRTUALENV_PTH = b"import _virtualenv"
COVERAGE = ["COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START"]
EDITABLE = "setuptools/command/editable_wheel.py"
FINDER = "_FINDER_TEMPLATE"


def probe() -> ModuleType:
    """Return the probe that hashes the hooks of environments, which takes the values out."""
    spec = importlib.util.spec_from_file_location("copies", ROOT / "probes" / "copies.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def finder_of(wheel: Path) -> dict[str, bytes]:
    """Return what a setuptools writes for an editable install, without the values."""
    with zipfile.ZipFile(wheel) as archive:
        if EDITABLE not in archive.namelist():
            return {}
        body = ast.parse(archive.read(EDITABLE)).body
    texts = (s.value.value for s in body if isinstance(s, ast.Assign) and s.targets[0].id == FINDER)
    written = next(texts).format(name="", mapping={}, namespaces={}).encode()
    copies = probe()
    return {copies.EDITABLE_PTH: b"", copies.EDITABLE_FINDER: copies.template(written)[0]}


def uv_files_of(wheel: Path) -> dict[str, bytes]:
    """Return the hook of the environments that a uv creates; later releases write none."""
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/scripts/uv"))
        program = Path(archive.extract(name, folder))
        program.chmod(0o755)
        target = Path(folder, "venv")
        subprocess.run([program, "venv", "--quiet", "--python", sys.executable, target], check=True)
        return {path.name: path.read_bytes() for path in target.rglob("_virtualenv.p*")}


def files_of(wheel: Path) -> tuple[str, str, dict[str, bytes]]:
    """Return (package, version, {name in site-packages: content}) of a wheel's hook, if any."""
    package, version = wheel.name.split("-")[:2]
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        if package == "setuptools":
            wanted = ("distutils-precedence.pth", *HACK)
            return package, version, {name: archive.read(name) for name in wanted}
        if package == "virtualenv":
            content = archive.read(VIRTUALENV)
            return package, version, {"_virtualenv.pth": VIRTUALENV_PTH, "_virtualenv.py": content}
        if package == "uv":
            return package, version, uv_files_of(wheel)
        alone = [n for n in names if n.endswith("-nspkg.pth") or n == "a1_coverage.pth"]
        return package, version, {name: archive.read(name) for name in alone}


def entries_of(folder: Path) -> Iterator[tuple[str, str, dict[str, bytes], dict[str, list[str]]]]:
    """Yield (package, version, files, conditions) of each hook in a folder.

    Conditions are the modules and environment variables without which it runs nothing else.
    """
    for wheel in sorted(folder.glob("*.whl")):
        package, version, files = files_of(wheel)
        # coverage is imported only where one of them is set.
        yield package, version, files, {"variables": COVERAGE} if package == "coverage" else {}
        if package == "setuptools":
            yield "setuptools editable install", version, finder_of(wheel), {}
    for path in folder.glob("sitecustomize.py"):
        files = {path.name: path.read_bytes()}
        yield "Debian python3", "sitecustomize", files, {"optional": ["apport_python_hook"]}


def main() -> None:
    """Add the hooks of the wheels in a folder to those that are known."""
    known = json.loads(TARGET.read_text()) if TARGET.exists() else []
    for package, version, files, conditions in entries_of(Path(sys.argv[1])):
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        entry = {"package": package, "version": version, "files": hashes, **conditions}
        # Of releases with the same files, the first is enough.
        if files and not any({**e, "version": version} == entry for e in known):
            known.append(entry)
    known.sort(key=lambda entry: (entry["package"], entry["version"]))
    TARGET.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
