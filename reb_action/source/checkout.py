"""Has a repository at its pinned commit: nothing of its later history, nothing of this machine.

The folder that results belongs to the harness; a sandbox gets copies of it. Nothing in
a repository is run or obeyed: no hooks, filters, submodules or configuration.
"""

import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from reb_action.documents import show
from reb_action.errors import SourceError
from reb_action.model.manifest import Manifest
from reb_action.source import pristine
from reb_action.source.git import has_commit, run_git
from reb_action.source.pristine import Source

FETCH_SECONDS: Final = 1800
GITHUB: Final = "https://github.com"
"""Where the paper's corpus is, and any repository of a run that is in no job of GitHub's."""

_CONFIG: Final = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"

_ATTRIBUTES: Final = "* -text -eol -ident -filter -working-tree-encoding\n"
"""Attributes with the highest priority: checked-out files equal the commit byte for byte."""


def checkout(
    manifest: Manifest,
    *,
    folder: Path,
    mirror: Path | None,
    tell: Callable[[str], None],
    origins: tuple[str, ...] = (GITHUB,),
    own: Path | None = None,
) -> Source:
    """Check the pinned commit out into a new `folder`, from `mirror` or else from an origin.

    If the mirror lacks the repository, the commit or some of its files, the origins are tried in
    order, and `tell` gets the reason. `own` is a checkout that has the commit: then nothing else is
    asked, and nothing is fetched from a server. Raises SourceError; then there is no `folder`.
    """
    _demand_pinned(manifest)
    for origin in origins:
        _demand_plain(origin)
    folder = folder.absolute()
    if folder.is_symlink() or (folder.exists() and any(folder.iterdir())):
        raise SourceError(f"{folder} exists already; name a folder that does not")
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        if own is not None:
            found = _fetch_from(part, manifest, own)
        else:
            found = _fetch_from_first(part, manifest, mirror, origins, tell)
        pristine.demand_whole(found)
        part.chmod(0o755)
        part.replace(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return replace(found, folder=folder)


def find_in_mirror(mirror: Path, repository: str) -> Path | None:
    """Return the path of a repository in a folder of mirrors, or None."""
    mirror = mirror.absolute()
    if not mirror.is_dir():
        raise SourceError(f"the mirror {mirror} is not a folder; correct the path or leave it out")
    owner, _, name = repository.partition("/")
    stems = (f"{owner}+{name}/repo", f"{owner}+{name}", f"{owner}__{name}", f"{owner}/{name}", ".")
    places = [mirror / f"{stem}{end}" for stem in stems for end in ("", ".git")]
    return next((place for place in places if _is_repository(place)), None)


def _demand_pinned(manifest: Manifest) -> None:
    owner, _, name = manifest.repository.partition("/")
    if not all(re.fullmatch(r"(?!\.+$)[\w.-]+", part, re.ASCII) for part in (owner, name)):
        raise SourceError(f"{show(manifest.repository)} is not the owner/name of a repository")
    if not re.fullmatch("[0-9a-f]{40}", manifest.commit):
        raise SourceError(f"{show(manifest.commit)} is not a full commit id of 40 digits")


def _demand_plain(origin: str) -> None:
    parts = urlsplit(origin)
    if parts.scheme not in ("https", "file") or "@" in parts.netloc:
        raise SourceError(
            "the origin must be an https:// URL without a user name or password;"
            " for a private repository, name a mirror that holds a clone of it"
        )


def _fetch_from_first(
    folder: Path,
    manifest: Manifest,
    mirror: Path | None,
    origins: tuple[str, ...],
    tell: Callable[[str], None],
) -> Source:
    """Fetch and check out the commit from the mirror; if that fails, from the first that has it."""
    urls = [f"{origin.rstrip('/')}/{manifest.repository}" for origin in origins]
    causes: list[str] = []
    if mirror is not None:
        found = _fetch_from_mirror(folder, manifest, mirror)
        if isinstance(found, Source):
            return found
        tell(f"{found}; fetching {manifest.repository} from {' or '.join(urls)}")
        causes.append(found)
    for url in urls:
        try:
            _fetch(folder / ".git", url, manifest)
            return _lay_out(folder, manifest.commit)
        except SourceError as error:
            causes.append(str(error))
            _empty(folder)
    # A git that cannot be run fails twice in the same words.
    raise SourceError("; ".join(dict.fromkeys(causes)))


def _fetch_from_mirror(folder: Path, manifest: Manifest, mirror: Path) -> Source | str:
    """Fetch and lay out the commit; return why the mirror could not give it, if it could not."""
    place = find_in_mirror(mirror, manifest.repository)
    if place is None:
        return f"the mirror {mirror} does not have {manifest.repository}"
    try:
        _demand_commit(place, manifest)
        return _fetch_from(folder, manifest, place)
    except SourceError as error:
        _empty(folder)
        return str(error)


def _fetch_from(folder: Path, manifest: Manifest, place: Path) -> Source:
    """Fetch and check out the commit from a git repository of this machine."""
    _fetch(folder / ".git", place.absolute().as_uri(), manifest)
    return _lay_out(folder, manifest.commit)


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()


def _is_repository(place: Path) -> bool:
    bare = (place / "HEAD").is_file() and (place / "objects").is_dir()
    return bare or (place / ".git").exists()


def _demand_commit(place: Path, manifest: Manifest) -> None:
    inside = place / ".git" if (place / ".git").exists() else place
    if not has_commit(inside, manifest.commit):
        raise SourceError(
            f"the mirror {place} of {manifest.repository} does not have commit {manifest.commit}"
        )


def _fetch(git_dir: Path, url: str, manifest: Manifest) -> None:
    run_git(git_dir, "init", "--quiet", "--template=", to="prepare the checkout")
    (git_dir / "config").write_text(_CONFIG, encoding="ascii")
    run_git(
        git_dir,
        *("fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head", "--"),
        *(url, manifest.commit),
        to=f"fetch {manifest.repository} at {manifest.commit} from {url}",
        seconds=FETCH_SECONDS,
        protocol=urlsplit(url).scheme,
    )
    kind = (
        run_git(git_dir, "cat-file", "-t", manifest.commit, to="look the commit up")
        .decode()
        .strip()
    )
    if kind != "commit":
        raise SourceError(f"{manifest.commit} of {manifest.repository} is a {kind}, not a commit")


def _lay_out(folder: Path, commit: str) -> Source:
    git_dir = folder / ".git"
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text(_ATTRIBUTES, encoding="ascii")
    # Refuses unsafe paths before anything is written.
    source = pristine.read_source(folder, commit)
    run_git(git_dir, "read-tree", commit, to="read the commit")
    # Unlike `git checkout` it runs nothing and leaves no times or owners in the index.
    to = ("checkout-index", "--all", "--quiet")
    run_git(git_dir, f"--work-tree={folder}", *to, to="check the commit out")
    (git_dir / "HEAD").write_text(f"{commit}\n", encoding="ascii")
    return source
