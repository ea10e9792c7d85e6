"""Makes a small mirror of one commit, without the files that it does without."""

import fnmatch
import os
import subprocess


def git(folder, *arguments, text=None, index=None):
    """Return what git says; a text goes to its standard input."""
    env = os.environ if index is None else {**os.environ, "GIT_INDEX_FILE": str(index)}
    argv = ["git", f"--git-dir={folder}", *arguments]
    return subprocess.run(argv, input=text, env=env, check=True, capture_output=True).stdout


def make(source, commit, target, omit=()):
    """Make `target` of a commit of `source`; return the commit in it, and the files left out.

    Left out are files that `source` lacks, and those that a pattern of `omit` matches. Without any
    the commit is the one that was asked for; else another one with the rest of its tree.
    """
    listing = git(source, "ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")[:-1]
    entries = [(*line.partition(b"\t")[0].split(), line.partition(b"\t")[2]) for line in listing]
    blobs = b"\n".join(blob for _, kind, blob, _ in entries if kind == b"blob") + b"\n"
    states = git(source, "cat-file", "--batch-check", text=blobs).splitlines()
    absent = {line.split()[0] for line in states if line.endswith(b" missing")}
    left = {
        path
        for _, _, blob, path in entries
        if blob in absent or any(fnmatch.fnmatch(os.fsdecode(path), one) for one in omit)
    }
    git(target, "init", "--quiet", "--bare", "--initial-branch=measured")
    if left:
        kept = [one for one in entries if one[3] not in left]
        commit = _without(source, commit, kept, target / "index")
    whole = ("-c", "fetch.unpackLimit=1", "fetch", "--quiet", "--depth=1")
    git(target, *whole, source.as_uri(), f"{commit}:refs/heads/measured")
    return commit, sorted(map(os.fsdecode, left))


def _without(source, commit, kept, index):
    """Write a commit with these entries alone into `source`; return its name."""
    lines = b"".join(b" ".join((mode, blob)) + b"\t" + path + b"\0" for mode, _, blob, path in kept)
    git(source, "update-index", "-z", "--index-info", text=lines, index=index)
    tree = git(source, "write-tree", index=index).strip()
    index.unlink()
    head, _, body = git(source, "cat-file", "commit", commit).partition(b"\n\n")
    people = [line for line in head.splitlines() if line.startswith((b"author ", b"committer "))]
    text = b"\n".join((b"tree " + tree, *people)) + b"\n\n" + body
    return git(source, "hash-object", "-t", "commit", "-w", "--stdin", text=text).decode().strip()
