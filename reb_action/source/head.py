"""Finds the name of a repository and the commit of its newest state."""

import re
from pathlib import Path
from typing import Final

from reb_action.documents import show
from reb_action.errors import SourceError, UsageError
from reb_action.source.checkout import GITHUB, find_in_mirror
from reb_action.source.git import run_git
from reb_action.source.own_checkout import find_root, read_head

_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.+(?:/|$))[A-Za-z0-9._-]{1,100}"
_ADDRESS: Final = re.compile(rf"[:/]({_NAME}?)(?:\.git)?/?$")


def find_checkout(folder: Path) -> Path:
    """Return the root of the git checkout that a folder is in; raises UsageError."""
    root = find_root(folder)
    if root is None:
        raise UsageError(f"{folder} is in no git checkout; name a repository: reb init owner/name")
    return root


def demand_name(repository: str) -> None:
    """Raise UsageError unless a text is the owner/name of a repository, as in a manifest."""
    if not re.fullmatch(_NAME, repository):
        raise UsageError(f"{show(repository)} is not the owner/name of a repository")


def make_name(checkout: Path) -> str:
    """Return a name for a checkout whose origin has none: the owner is a guess."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", checkout.name)[:100]
    return f"owner/{name}" if name.strip(".-") else "owner/name"


def find_name(checkout: Path) -> str | None:
    """Return owner/name from the address of a checkout's origin; None if it has none."""
    try:
        url = run_git(checkout / ".git", "config", "remote.origin.url", to="read the origin")
    except SourceError:
        return None
    match = _ADDRESS.search(url.decode("utf-8", "replace").strip())
    return match[1] if match else None


def find_head(repository: str, mirror: Path | None) -> str:
    """Return the commit of a repository's HEAD, from a mirror or else from GitHub."""
    place = None if mirror is None else find_in_mirror(mirror, repository)
    if place is not None:
        # A bare repository is its own git folder.
        git_dir = next(place / end for end in (".git", "") if (place / end / "HEAD").exists())
        return read_head(git_dir, to=f"read the HEAD of {place}")
    url = f"{GITHUB}/{repository}"
    listed = run_git(Path("/"), "ls-remote", url, "HEAD", to=f"ask {url}", protocol="https")
    if not listed.strip():
        raise SourceError(f"{url} has no commit; name a repository that has one")
    return listed.decode("ascii", "replace").split()[0]
