"""Finds the name of a repository and the commit of its newest state."""

import re
from pathlib import Path
from typing import Final

from reb_action.errors import SourceError, UsageError
from reb_action.source.checkout import GITHUB, find_in_mirror
from reb_action.source.git import run_git

_NAME: Final = re.compile(r"[:/]([A-Za-z0-9][\w-]*/[\w.-]+?)(?:\.git)?/?$")


def find_checkout(folder: Path) -> Path:
    """Return the root of the git checkout that a folder is in; raises UsageError."""
    for place in (folder.absolute(), *folder.absolute().parents):
        if (place / ".git").exists():
            return place
    raise UsageError(f"{folder} is in no git checkout; name a repository: reb init owner/name")


def find_name(checkout: Path) -> str | None:
    """Return owner/name from the address of a checkout's origin; None if it has none."""
    try:
        url = run_git(checkout / ".git", "config", "remote.origin.url", to="read the origin")
    except SourceError:
        return None
    match = _NAME.search(url.decode("utf-8", "replace").strip())
    return match[1] if match else None


def find_head(repository: str, mirror: Path | None) -> str:
    """Return the commit of a repository's HEAD, from a mirror or else from GitHub."""
    place = None if mirror is None else find_in_mirror(mirror, repository)
    if place is not None:
        # A bare repository is its own git folder.
        git_dir = next(place / end for end in (".git", "") if (place / end / "HEAD").exists())
        to = f"read the HEAD of {place}"
        return run_git(git_dir, "rev-parse", "--verify", "HEAD^{commit}", to=to).decode().strip()
    url = f"{GITHUB}/{repository}"
    listed = run_git(Path("/"), "ls-remote", url, "HEAD", to=f"ask {url}", protocol="https")
    if not listed.strip():
        raise SourceError(f"{url} has no commit; name a repository that has one")
    return listed.decode("ascii", "replace").split()[0]
