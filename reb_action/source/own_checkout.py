"""Finds the checkout that a manifest with `commit: self` describes, and its commit."""

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from reb_action.documents import show
from reb_action.errors import SourceError, UsageError
from reb_action.imports import imported_names, is_counted
from reb_action.model.manifest import SELF, Manifest
from reb_action.source.git import demand_success, run_git, try_git
from reb_action.source.pristine import Source

_SHA: Final = re.compile("[0-9a-f]{40}")


def find_own_checkout(manifest: Path) -> Path:
    """Return the root of the git checkout that holds a manifest's file; raises UsageError."""
    root = find_root(manifest.parent)
    if root is None:
        raise UsageError(
            f"{manifest} says commit: self and lies in no git checkout; check the repository out"
            " first, or pin a commit"
        )
    return root


def find_root(folder: Path) -> Path | None:
    """Return the nearest folder, from this one upwards, that is a git checkout."""
    # A link to a folder within a checkout leads into that checkout.
    start = folder.resolve()
    return next((one for one in (start, *start.parents) if (one / ".git").exists()), None)


def read_head(git_dir: Path, *, to: str) -> str:
    """Return the commit of HEAD; raises SourceError if there is none, or it has no 40 digits."""
    wanted = ("rev-parse", "--quiet", "--verify", "HEAD^{commit}")
    code, said, errors = try_git(git_dir, *wanted, protocol="none", settings={})
    if code == 1:
        raise SourceError(f"cannot {to}: it has no commit; commit the files first")
    demand_success(code, errors, to=to)
    commit = said.strip()
    if not _SHA.fullmatch(commit):
        raise SourceError(f"cannot {to}: git says {show(commit)}, which is no id of 40 digits")
    return commit


def pin_to_checkout(manifest: Manifest, folder: Path) -> Manifest:
    """Return a manifest with `commit: self` at the HEAD of a checkout; raises SourceError."""
    if manifest.commit != SELF:
        return manifest
    commit = read_head(folder / ".git", to=f"read the commit of {folder}")
    return replace(manifest, commit=commit, follows_checkout=True)


def count_changes(folder: Path, pristine: Path) -> int:
    """Return how many tracked files of a checkout differ from its HEAD; 0 if git cannot tell.

    `pristine` is the checkout of the same commit that reb made. Only the index is taken from
    `folder`: git would run the programs that its configuration names (core.fsmonitor, filters).
    These changes are not measured. The number is only for a notice.
    """
    to = "list the changes"
    # A submodule has a configuration of its own, which git would obey.
    wanted = ("--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all")
    arguments = (f"--work-tree={folder}", "status", *wanted, "--no-renames")
    try:
        place = run_git(folder / ".git", "rev-parse", "--git-path", "index", to=to)
        # Relative to the working directory, or absolute.
        index = Path(os.fsdecode(place.removesuffix(b"\n"))).absolute()
        listing = run_git(pristine / ".git", *arguments, to=to, index=index)
    except SourceError:
        return 0
    return len([entry for entry in listing.split(b"\0") if entry])


def count_imports(source: Source) -> int:
    """Return the paper's C0 total of a checkout: distinct names of all absolute imports."""
    names: set[str] = set()
    for file in source.files:
        if is_counted(file.path) and not file.is_link:
            names |= imported_names((source.folder / file.path).read_bytes())
    return len(names)
