"""Pinned checkouts of real repositories, friendly and hostile, from mirrors of every shape."""

import io
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reb_action.errors import SourceError
from reb_action.model.manifest import Manifest
from reb_action.sandbox.local.lifecycle import start
from reb_action.sandbox.protocol import Kind, SandboxSpec
from reb_action.source import checkout as source_checkout
from reb_action.source.pristine import Source, open_existing
from reb_action.source.source_archive import pack_files, pack_source

IDENTITY = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "1600000000 +0000",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_COMMITTER_DATE": "1600000000 +0000",
}


def run(folder: Path, *argv: str, stdin: bytes = b"") -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *argv],
        input=stdin,
        env=IDENTITY,
        capture_output=True,
        timeout=60,
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def commit(clone: Path, message: str) -> str:
    run(clone, "add", "--all")
    run(clone, "commit", "--quiet", "--allow-empty", "--message", message)
    return run(clone, "rev-parse", "HEAD")


def manifest(sha: str) -> Manifest:
    return Manifest(repository="owner/name", commit=sha, domain="example", imports=1)


def tree_commit(clone: Path, *entries: tuple[str, bytes]) -> str:
    """Commit a tree that no porcelain would make: raw entries, each a mode and a name."""
    blob = run(clone, "hash-object", "-w", "--stdin", stdin=b"planted\n")
    raw = b"".join(
        mode.encode() + b" " + name + b"\0" + bytes.fromhex(blob) for mode, name in entries
    )
    literally = ("hash-object", "--literally", "-w", "-t", "tree", "--stdin")
    tree = run(clone, *literally, stdin=raw)
    return run(clone, "commit-tree", tree, "-m", "hostile")


def members(data: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(
        fileobj=io.BytesIO(data), encoding="utf-8", errors="surrogateescape"
    ) as opened:
        return {member.name: member for member in opened}


def checkout(
    pinned: Manifest,
    *,
    folder: Path,
    mirror: Path | None,
    origin: str = "file:///nowhere",
    tell: Callable[[str], None] = print,
) -> Source:
    return source_checkout.checkout(
        pinned, folder=folder, mirror=mirror, tell=tell, origins=(origin,)
    )


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    return tmp_path / "mirror"


@pytest.fixture
def clone(mirror: Path) -> Path:
    clone = mirror / "owner" / "name"
    clone.mkdir(parents=True)
    run(clone, "init", "--quiet", "--initial-branch=main")
    return clone


@pytest.fixture
def shas(clone: Path) -> tuple[str, ...]:
    made: list[str] = []
    for number in ("one", "two", "three"):
        (clone / "train.py").write_text(f"print('{number}')\n")
        (clone / f"{number}.txt").write_text(number)
        made.append(commit(clone, number))
        run(clone, "tag", number)
    return tuple(made)


@pytest.fixture
def source(tmp_path: Path, mirror: Path, shas: tuple[str, ...]) -> Source:
    return checkout(manifest(shas[1]), folder=tmp_path / "source", mirror=mirror)


def test_checkout_has_the_files_of_the_pinned_commit(source: Source) -> None:
    found = {file.path: (file.mode, file.size_bytes) for file in source.files}
    assert found == {
        "one.txt": ("100644", 3),
        "train.py": ("100644", 13),
        "two.txt": ("100644", 3),
    }
    assert (source.folder / "train.py").read_text() == "print('two')\n"


def test_checkout_holds_no_other_commit(source: Source, shas: tuple[str, ...]) -> None:
    assert run(source.folder, "rev-list", "--all", "HEAD") == shas[1]
    objects = run(source.folder, "cat-file", "--batch-all-objects", "--batch-check")
    assert sorted(line.split()[1] for line in objects.splitlines()) == ["blob"] * 3 + [
        "commit",
        "tree",
    ]
    assert shas[0] not in objects
    assert shas[2] not in objects
    assert "three" not in run(source.folder, "log", "--format=%B")
    run(source.folder, "fsck", "--full", "--strict")


def test_checkout_leaves_no_trace_of_where_it_came_from(source: Source, mirror: Path) -> None:
    git_dir = source.folder / ".git"
    assert run(source.folder, "remote") == ""
    assert run(source.folder, "for-each-ref") == ""
    for absent in ("FETCH_HEAD", "ORIG_HEAD", "logs", "hooks", "objects/info/alternates"):
        assert not (git_dir / absent).exists()
    for path in git_dir.rglob("*"):
        assert not path.is_file() or str(mirror).encode() not in path.read_bytes()


def test_git_of_the_checkout_is_usable_and_clean(source: Source, shas: tuple[str, ...]) -> None:
    assert run(source.folder, "status", "--porcelain") == ""
    assert run(source.folder, "describe", "--always", "--dirty") == shas[1][:7]


@pytest.mark.parametrize(
    "shape",
    ["owner+name/repo", "owner+name", "owner__name.git", "owner/name.git", "owner/name", "."],
)
def test_mirrors_of_every_shape_are_found(tmp_path: Path, shape: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    run(work, "init", "--quiet")
    sha = commit(work, "only")
    (tmp_path / "mirror").mkdir()
    run(tmp_path, "clone", "--quiet", "--bare", "work", f"mirror/{shape}")
    source = checkout(manifest(sha), folder=tmp_path / "s", mirror=tmp_path / "mirror")
    assert source.commit == sha


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_mirror_of_somebody_else_is_accepted(
    tmp_path: Path, mirror: Path, clone: Path, shas: tuple[str, ...]
) -> None:
    for path in (clone, *clone.rglob("*")):
        os.lchown(path, 12345, 12345)
    assert checkout(manifest(shas[2]), folder=tmp_path / "s", mirror=mirror).commit == shas[2]


def test_mirror_and_origin_without_the_commit_are_both_named(
    tmp_path: Path, mirror: Path, clone: Path
) -> None:
    commit(clone, "another")
    with pytest.raises(SourceError) as caught:
        checkout(manifest("f" * 40), folder=tmp_path / "s", mirror=mirror)
    assert str(caught.value).startswith(
        f"the mirror {clone} of owner/name does not have commit {'f' * 40};"
        f" cannot fetch owner/name at {'f' * 40} from file:///nowhere/owner/name: git ended with"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mirror"]


@pytest.mark.parametrize("lack", ["repository", "commit", "blob", "configuration"])
def test_what_the_mirror_lacks_comes_from_the_origin(
    tmp_path: Path, mirror: Path, clone: Path, shas: tuple[str, ...], lack: str
) -> None:
    origin = tmp_path / "origin"
    shutil.copytree(mirror, origin)
    run(origin / "owner" / "name", "config", "uploadpack.allowAnySHA1InWant", "true")
    _take_from(clone, lack, shas[1])
    told: list[str] = []
    source = checkout(
        manifest(shas[1]),
        folder=tmp_path / "s",
        mirror=mirror,
        origin=origin.as_uri(),
        tell=told.append,
    )
    assert source.commit == shas[1]
    assert run(source.folder, "status", "--porcelain") == ""
    assert len(told) == 1
    assert told[0].endswith(f"; fetching owner/name from {origin.as_uri()}/owner/name")


def _take_from(clone: Path, lack: str, sha: str) -> None:
    if lack == "repository":
        shutil.rmtree(clone)
    elif lack == "commit":
        shutil.rmtree(clone)
        clone.mkdir()
        run(clone, "init", "--quiet")
    elif lack == "blob":
        blob = run(clone, "ls-tree", "-r", sha).split()[2]
        (clone / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    else:
        (clone / ".git" / "config").write_text("[core\n")


@pytest.mark.parametrize(
    ("mode", "why"), [(None, "not installed here"), (0o644, "Permission denied")]
)
def test_git_that_cannot_run_is_no_fault_of_the_mirror(
    tmp_path: Path,
    mirror: Path,
    shas: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    mode: int | None,
    why: str,
) -> None:
    (tmp_path / "bin").mkdir()
    if mode is not None:
        (tmp_path / "bin" / "git").touch(mode)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(SourceError) as caught:
        checkout(manifest(shas[0]), folder=tmp_path / "s", mirror=mirror)
    assert str(caught.value) == f"git cannot be run: {why}; install it, and check PATH"


@pytest.mark.parametrize(
    "origin", ["https://me:secret@example.org", "ext::sh -c id", "http://example.org", "/tmp"]
)
def test_origin_is_refused_when_it_is_not_plain_https(tmp_path: Path, origin: str) -> None:
    with pytest.raises(SourceError, match="the origin must be an https:// URL") as caught:
        checkout(manifest("a" * 40), folder=tmp_path / "s", mirror=None, origin=origin)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", ["../../etc/x", "owner/..", "owner", "-c/x y"])
def test_repository_name_cannot_leave_the_mirror(
    tmp_path: Path, mirror: Path, shas: tuple[str, ...], name: str
) -> None:
    strange = replace(manifest(shas[0]), repository=name)
    with pytest.raises(SourceError, match="is not the owner/name of a repository"):
        checkout(strange, folder=tmp_path / "s", mirror=mirror)


def test_branch_or_tag_is_no_pin(
    tmp_path: Path, mirror: Path, clone: Path, shas: tuple[str, ...]
) -> None:
    run(clone, "tag", "--annotate", "--message", "x", "annotated")
    for pin in ("main", shas[0][:12], run(clone, "rev-parse", "annotated")):
        with pytest.raises(SourceError, match=r"is not a full commit id|is a tag, not a commit"):
            checkout(manifest(pin), folder=tmp_path / "s", mirror=mirror)


def test_folder_in_use_is_refused(tmp_path: Path, mirror: Path, shas: tuple[str, ...]) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "precious").touch()
    with pytest.raises(SourceError, match="exists already"):
        checkout(manifest(shas[0]), folder=tmp_path / "s", mirror=mirror)
    assert (tmp_path / "s" / "precious").exists()


@pytest.mark.parametrize(
    "entries",
    [
        [("100644", b"..")],
        [("100644", b".git")],
        [("100644", b".GIT")],
        [("100644", b"git~1")],
        [("100644", b"a/../../escaped")],
        [("120000", b"a"), ("100644", b"a/escaped")],
        [("100644", b"a"), ("100644", b"a")],
        [("100644", ".g\u200cit".encode())],
    ],
)
def test_tree_that_would_escape_is_refused_before_anything_is_written(
    tmp_path: Path, mirror: Path, clone: Path, entries: list[tuple[str, bytes]]
) -> None:
    sha = tree_commit(clone, *entries)
    with pytest.raises(SourceError) as caught:
        checkout(manifest(sha), folder=tmp_path / "s", mirror=mirror)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["mirror"]


def test_links_out_of_the_folder_stay_links(tmp_path: Path, mirror: Path, clone: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (clone / "absolute").symlink_to(tmp_path / "secret")
    (clone / "above").symlink_to("../../secret")
    os.symlink("../beside/", clone / "folder")  # noqa: PTH211
    sha = commit(clone, "links")
    source = checkout(manifest(sha), folder=tmp_path / "s", mirror=mirror)
    packed = pack_source(source)
    found = members(packed)
    assert found["absolute"].linkname == str(tmp_path / "secret")
    assert found["above"].linkname == "../../secret"
    assert found["folder"].linkname == "../beside/"
    assert {*list(found)[-3:]} == {"above", "absolute", "folder"}


@pytest.mark.parametrize("name", [b"new\nline", b"tab\t", b"\xff\xfe", b'quo"te', b"-rf", b" x "])
def test_strange_names_survive_checkout_and_archive(
    tmp_path: Path, mirror: Path, clone: Path, name: bytes
) -> None:
    Path(os.fsdecode(os.fsencode(clone) + b"/" + name)).write_text("content")
    sha = commit(clone, "strange")
    source = checkout(manifest(sha), folder=tmp_path / "s", mirror=mirror)
    assert [os.fsencode(file.path) for file in source.files] == [name]
    (found,) = members(pack_files(source, [os.fsdecode(name)]))
    assert os.fsencode(found) == name


def test_names_that_differ_in_case_are_kept_apart(
    tmp_path: Path, mirror: Path, clone: Path
) -> None:
    (clone / "Model.py").write_text("upper")
    (clone / "model.py").write_text("lower")
    sha = commit(clone, "case")
    source = checkout(manifest(sha), folder=tmp_path / "s", mirror=mirror)
    assert {file.path for file in source.files} == {"Model.py", "model.py"}
    assert (source.folder / "Model.py").read_text() == "upper"


def test_attributes_and_filters_of_the_repository_change_nothing(
    tmp_path: Path, mirror: Path, clone: Path
) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\n"
    (clone / "weights.bin").write_bytes(pointer)
    (clone / "run.sh").write_bytes(b"echo $Id$\n")
    commit(clone, "files")
    (clone / ".gitattributes").write_text("*.sh eol=crlf ident\n*.bin filter=lfs\n")
    sha = commit(clone, "attributes")
    source = checkout(manifest(sha), folder=tmp_path / "s", mirror=mirror)
    assert (source.folder / "run.sh").read_bytes() == b"echo $Id$\n"
    assert (source.folder / "weights.bin").read_bytes() == pointer


def test_submodules_stay_empty_folders(
    tmp_path: Path, mirror: Path, clone: Path, shas: tuple[str, ...]
) -> None:
    run(clone, "update-index", "--add", "--cacheinfo", f"160000,{shas[0]},third/party")
    run(clone, "commit", "--quiet", "--message", "submodule")
    sha = run(clone, "rev-parse", "HEAD")
    source = checkout(manifest(sha), folder=tmp_path / "s", mirror=mirror)
    assert source.submodules == ("third/party",)
    assert members(pack_source(source))["third/party"].isdir()
    assert run(source.folder, "status", "--porcelain") == ""


def test_archive_says_nothing_about_this_machine(source: Source) -> None:
    found = members(pack_source(source))
    assert {(m.uid, m.gid, m.uname, m.gname, m.mtime) for m in found.values()} == {
        (0, 0, "", "", 1_600_000_000)
    }
    assert {m.mode for m in found.values()} == {0o644, 0o755}


def test_archive_unpacks_into_a_working_clone(tmp_path: Path, source: Source) -> None:
    (tmp_path / "copy").mkdir()
    # By tar: Python 3.11.2 does not know the filter that later releases demand of `extractall`.
    unpack = ["tar", "--extract", "--file=-"]
    subprocess.run(unpack, input=pack_source(source), cwd=tmp_path / "copy", check=True)
    assert run(tmp_path / "copy", "status", "--porcelain") == ""
    assert run(tmp_path / "copy", "rev-parse", "HEAD") == source.commit


def test_sandbox_takes_the_checkout_and_touched_files_again(
    tmp_path: Path, mirror: Path, clone: Path
) -> None:
    (clone / "code").mkdir()
    (clone / "code" / "train.py").write_text("print()\n")
    (clone / "outside").symlink_to(tmp_path)
    source = checkout(manifest(commit(clone, "all")), folder=tmp_path / "s", mirror=mirror)
    places = {"mount": str(tmp_path / "mount"), "scratch": str(tmp_path / "scratch")}
    sandbox = start(
        SandboxSpec(kind=Kind.LOCAL, session=tmp_path.name, trial="t", image=None, **places)
    )
    copy = Path(sandbox.layout.repository)
    sandbox.put(str(copy), pack_source(source))
    assert run(copy, "status", "--porcelain") == ""
    (copy / "code" / "train.py").write_text("changed")
    sandbox.put(str(copy), pack_files(source, ["code/train.py"]))
    assert run(copy, "status", "--porcelain") == ""
    sandbox.remove()


def test_archives_are_equal_byte_for_byte(
    tmp_path: Path, mirror: Path, shas: tuple[str, ...], source: Source
) -> None:
    again = checkout(manifest(shas[1]), folder=tmp_path / "again", mirror=mirror)
    assert pack_source(again) == pack_source(source)


def test_archive_of_touched_files_has_the_folders_above_them(
    tmp_path: Path, mirror: Path, clone: Path
) -> None:
    (clone / "a" / "b").mkdir(parents=True)
    (clone / "a" / "b" / "run").write_text("x")
    (clone / "a" / "b" / "run").chmod(0o755)
    sha = commit(clone, "deep")
    source = checkout(manifest(sha), folder=tmp_path / "s", mirror=mirror)
    found = members(pack_files(source, ["a/b/run"]))
    assert {name: member.mode for name, member in found.items()} == {
        "a": 0o755,
        "a/b": 0o755,
        "a/b/run": 0o755,
    }


def test_archive_of_an_unknown_file_is_refused(source: Source) -> None:
    with pytest.raises(SourceError, match=r'^"nosuch\.py" is not a tracked file of'):
        pack_files(source, ["nosuch.py"])


def test_checkout_is_found_again_by_a_later_step(source: Source) -> None:
    assert open_existing(source.folder, source.commit) == source


def test_checkout_of_another_commit_is_not_taken_for_this_one(
    source: Source, shas: tuple[str, ...]
) -> None:
    with pytest.raises(SourceError, match="is no checkout of"):
        open_existing(source.folder, shas[0])


def test_changed_checkout_is_noticed(source: Source) -> None:
    (source.folder / "train.py").write_text("print('bad')\n")
    with pytest.raises(SourceError, match=r'^"train\.py" in .* has changed'):
        pack_source(open_existing(source.folder, source.commit))


def test_configuration_of_the_user_is_not_obeyed(
    tmp_path: Path, mirror: Path, shas: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text('[url "/nowhere/"]\n\tinsteadOf = file://\n')
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert checkout(manifest(shas[0]), folder=tmp_path / "s", mirror=mirror).commit == shas[0]
