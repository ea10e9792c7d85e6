"""The leaderboard's branch as git has it: fetch its tip, write one commit, push with a lease.

The branch has one commit, which every push replaces. So it stays as small as its files. The lease
makes the server refuse a push if another one was faster, so that no push is lost.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from reb_action.errors import GitHubError, SourceError
from reb_action.redaction import redact
from reb_action.source.git import run_git, try_git

_AUTHOR: Final = "researchenvbench <noreply@researchenvbench.invalid>"
_HEAD: Final = "refs/heads/tip"
_RACES: Final = ("stale info", "fetch first", "cannot lock ref", "failed to update ref")
"""What git and GitHub say of a push that another one was faster than."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Remote:
    """A git repository and the token that may push to it; without one, a folder is read."""

    url: str
    token: str = field(default="", repr=False)

    @property
    def protocol(self) -> str:
        """The only protocol that git may use."""
        return urlsplit(self.url).scheme or "file"

    @property
    def settings(self) -> dict[str, str]:
        """Git's configuration with the token, which must not be in a command line."""
        if not self.token:
            return {}
        basic = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        return {f"http.{self.url}.extraheader": f"Authorization: Basic {basic}"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Tip:
    """A branch's commit, when it was made (ISO 8601), and the object ids and bytes of its files."""

    commit: str
    tree: str
    date: str
    blobs: Mapping[str, str]
    sizes: Mapping[str, int]


def fetch_tip(remote: Remote, git_dir: Path, branch: str) -> Tip | None:
    """Fetch the tip of a branch into `git_dir`, made if it is missing; None without a branch.

    A `branch` that begins with refs/ may be a tag.
    """
    if not git_dir.exists():
        run_git(git_dir, "init", "-q", "--bare", str(git_dir), to="make a git folder")
    commit = _find_head(remote, git_dir, branch)
    if commit is None:
        return None
    argv = ("fetch", "-q", "--depth=1", "--no-tags", remote.url, commit)
    code, _, stderr = _ask(remote, git_dir, *argv)
    if code != 0:
        raise _refusal(f"fetch the branch {branch!r}", stderr, remote)
    listed = run_git(git_dir, "ls-tree", "-r", "-z", "-l", commit, to="list the branch")
    about = run_git(git_dir, "show", "-s", "--format=%T %cI", commit, to="read the branch")
    tree, date = about.decode().split()
    entries = list(_parse(listed))
    return Tip(
        commit=commit,
        tree=tree,
        date=date,
        blobs={path: blob for path, blob, _ in entries},
        sizes={path: size for path, _, size in entries},
    )


def read_files(git_dir: Path, tip: Tip, paths: Iterable[str]) -> dict[str, bytes]:
    """Return the content of files of a tip, by path."""
    wanted = [path for path in paths if path in tip.blobs]
    ids = "".join(f"{tip.blobs[path]}\n" for path in wanted)
    data = run_git(git_dir, "cat-file", "--batch", to="read the branch", stdin=ids.encode())
    files: dict[str, bytes] = {}
    for path in wanted:
        # One line `<id> blob <size>`, the content, and a line feed.
        line, _, data = data.partition(b"\n")
        size = int(line.split()[2])
        files[path], data = data[:size], data[size + 1 :]
    return files


def push_commit(
    remote: Remote,
    git_dir: Path,
    branch: str,
    *,
    tip: Tip | None,
    changes: Mapping[str, bytes | None],
    message: str,
) -> bool:
    """Replace a branch by one commit with these changes to its files; None removes a file.

    Returns False if the branch is not at `tip` any more. Raises GitHubError.
    """
    stream = b"".join(_import_lines(tip, changes, message))
    argv = ("fast-import", "--quiet", "--force", "--date-format=now")
    run_git(git_dir, *argv, to="write the commit", stdin=stream)
    expected = "" if tip is None else tip.commit
    target = f"refs/heads/{branch}"
    code, stdout, stderr = _ask(
        remote,
        git_dir,
        *("push", "--porcelain", f"--force-with-lease={target}:{expected}"),
        # No "+" here: it would push even where the lease is stale.
        *(remote.url, f"{_HEAD}:{target}"),
    )
    if code == 0:
        return True
    said = f"{stdout}\n{stderr}"
    if any(words in said for words in _RACES):
        return False
    raise _refusal(f"push to the branch {branch!r}", said, remote)


def _find_head(remote: Remote, git_dir: Path, branch: str) -> str | None:
    ref = branch if branch.startswith("refs/") else f"refs/heads/{branch}"
    # An annotated tag has its commit on a separate line, after the tag's.
    argv = ("ls-remote", remote.url, ref, f"{ref}^{{}}")
    code, stdout, stderr = _ask(remote, git_dir, *argv)
    if code != 0:
        raise _refusal(f"read the branch {branch!r}", stderr, remote)
    return stdout.splitlines()[-1].split()[0] if stdout.strip() else None


def _ask(remote: Remote, git_dir: Path, *argv: str) -> tuple[int | None, str, str]:
    try:
        return try_git(git_dir, *argv, protocol=remote.protocol, settings=remote.settings)
    except SourceError as error:
        raise GitHubError(str(error)) from None


def _refusal(what: str, said: str, remote: Remote) -> GitHubError:
    lines = [line.strip() for line in _hide(said, remote.token).splitlines() if line.strip()]
    telling = [
        line for line in lines if "fatal:" in line or "rejected]" in line or "remote:" in line
    ]
    cause = "; ".join(telling[-3:]) or "git took too long or said nothing"
    advice = (
        "if it was refused, the token lacks `contents: write`, or a rule protects the branch"
        " (force pushes to it must be allowed)"
    )
    return GitHubError(f"{what}: {cause[:600]}; {advice}")


def _hide(text: str, token: str) -> str:
    return redact(text.encode(), (token,) if token else ()).decode("utf-8", "replace")


def _parse(listed: bytes) -> Iterator[tuple[str, str, int]]:
    """Yield path, object id and bytes of each entry; a submodule has no bytes."""
    for entry in listed.split(b"\0"):
        if entry:
            about, _, path = entry.partition(b"\t")
            _, _, blob, size = about.decode().split()
            yield path.decode("utf-8", "surrogateescape"), blob, int(size) if size != "-" else 0


def _import_lines(
    tip: Tip | None, changes: Mapping[str, bytes | None], message: str
) -> Iterator[bytes]:
    """Yield the input of git fast-import: a commit without a parent, from the tree of the tip."""
    text = message.encode()
    # Without the reset an earlier try would become the parent.
    yield f"reset {_HEAD}\ncommit {_HEAD}\ncommitter {_AUTHOR} now\n".encode()
    yield f"data {len(text)}\n".encode() + text + b"\n"
    if tip is not None:
        yield f'M 040000 {tip.tree} ""\n'.encode()
    for path, data in sorted(changes.items()):
        quoted = _quote(path)
        if data is None:
            yield b"D " + quoted + b"\n"
        else:
            yield b"M 100644 inline " + quoted + f"\ndata {len(data)}\n".encode() + data + b"\n"
    yield b"done\n"


def _quote(path: str) -> bytes:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'.encode("utf-8", "surrogateescape")
