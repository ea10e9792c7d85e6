"""Writes reb_action/probe/known_hooks.json: the hashes of what honest packages run at each start.

    python -m pip download --no-deps -d WHEELS setuptools==80.9.0 virtualenv==20.31.2 ...
    python .github/known_hooks.py WHEELS

A hook is a set of files: a .pth file and what its code imports. Wheels of other packages, and what
is known already, stay as they are.
"""

import hashlib
import json
import sys
import zipfile
from pathlib import Path

TARGET = Path(__file__).parent.parent / "reb_action" / "probe" / "known_hooks.json"
HACK = ("_distutils_hack/__init__.py", "_distutils_hack/override.py")
VIRTUALENV = "virtualenv/create/via_global_ref/_virtualenv.py"
# What virtualenv and uv write beside it.
VIRTUALENV_PTH = b"import _virtualenv"


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
        alone = [n for n in names if n.endswith("-nspkg.pth") or n == "a1_coverage.pth"]
        return package, version, {name: archive.read(name) for name in alone}


def main() -> None:
    """Add the hooks of the wheels in a folder to those that are known."""
    known = json.loads(TARGET.read_text()) if TARGET.exists() else []
    for wheel in sorted(Path(sys.argv[1]).glob("*.whl")):
        package, version, files = files_of(wheel)
        hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        entry = {"package": package, "version": version, "files": hashes}
        if files and entry not in known:
            known.append(entry)
    known.sort(key=lambda entry: (entry["package"], entry["version"]))
    TARGET.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
