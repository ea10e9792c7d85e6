"""Plays a recorded folder inside a sandbox: `replay.py FOLDER`, in the repository's folder.

It runs `run.sh` with sh, or else `run.py` with this interpreter, if one of them exists. If there is
no report afterwards, the folder's `report.json` becomes the report, with `{repo}`, `{home}` and
`{workspace}` replaced. Standard library only, Python 3.8 syntax: it runs in the sandbox's Python.
"""

import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Play the folder and return how its script ended."""
    folder, report = Path(sys.argv[1]), Path(os.environ["REB_REPORT"])
    code = _play(folder)
    recorded = folder / "report.json"
    if recorded.is_file() and not os.path.lexists(report):
        report.write_text(_placed(recorded.read_text(encoding="utf-8")), encoding="utf-8")
    return code


def _play(folder: Path) -> int:
    for name, interpreter in (("run.sh", "sh"), ("run.py", sys.executable)):
        if (folder / name).is_file():
            # The deadline of the whole sandbox ends it.
            return subprocess.run([interpreter, str(folder / name)], check=False).returncode
    if (folder / "report.json").is_file():
        return 0
    sys.stderr.write("the folder to replay holds neither run.sh, run.py nor report.json\n")
    return 2


def _placed(text: str) -> str:
    report = Path(os.environ["REB_REPORT"])
    text = text.replace("{workspace}", str(report.parent))
    return text.replace("{repo}", os.environ["REB_REPOSITORY"]).replace(
        "{home}", os.environ["HOME"]
    )


if __name__ == "__main__":
    sys.exit(main())
