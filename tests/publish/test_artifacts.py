"""Artifacts of strangers: really made archives, none of which gets anything anywhere."""

import os
import tempfile
import time
import tracemalloc
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reb_action.errors import DocumentError
from reb_action.model.github import Artifact
from reb_action.publish import artifacts
from reb_action.session.layout import SessionLayout
from reb_action.session.verdict import judge_again
from tests.support import runs, zips

GOOD = [("session.json", b"{}"), ("levels/C1.log", b"epoch 1\n"), ("verdict.json", b"{}")]


def taken(folder):
    """Return what was written, by path; nothing besides the folder may be there."""
    assert sorted(one.name for one in folder.parent.iterdir()) == ([folder.name] * folder.exists())
    found = (one for one in folder.rglob("*") if not one.is_dir())
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in found}


def unpack(data, tmp_path):
    folder = tmp_path / "in" / "reb-x.a1"
    artifacts.unpack_trials(data, folder)
    return taken(folder)


def test_files_of_a_trial_are_taken(tmp_path):
    assert unpack(zips.made(GOOD), tmp_path) == dict(GOOD)


def test_files_of_a_batch_are_taken_below_their_trials(tmp_path):
    files = [(f"a__b.nop.1/{name}", content) for name, content in GOOD]
    assert unpack(zips.made(files), tmp_path) == dict(files)


def test_stored_members_and_folders_are_read(tmp_path):
    data = zips.made([("levels/", b""), *GOOD], method=zipfile.ZIP_STORED)
    assert unpack(data, tmp_path) == dict(GOOD)


ELSEWHERE = [
    *("../session.json", "/etc/session.json", "a/../session.json", "./session.json"),
    *("..\\session.json", "a/b/session.json", "C:/session.json", ".ssh/session.json"),
    *("Session.json", "session.json/", "levels/C6.json", "levels/../session.json", "../../x"),
    *("a/levels", "index.html", "summary.md", "work/source/x", "session.json\0.png", ""),
    *(
        "number",
        "pr.json",
        "pull_request/number",
        "event.json",
        "a//session.json",
        "-/session.json",
    ),
]


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_names_have_no_effect(name, tmp_path):
    # zipfile cuts names at a NUL when it writes them.
    stand_in = name.replace("\0", "#").encode()
    data = zips.made([*GOOD, (stand_in.decode(), b"evil")])
    assert unpack(data.replace(stand_in or b"\xff", name.encode()), tmp_path) == dict(GOOD)


BOMB = b"\0" * (artifacts.MEMBER_BYTES + 1)
ZIP64 = zips.made(GOOD)[: -zips.END] + b"PK\x06\x07" + b"\0" * 16 + zips.made(GOOD)[-zips.END :]
REFUSED = {
    "link": (
        zips.made([("session.json", b"/etc/passwd")], attributes=zips.LINK),
        "session.json is not a regular file",
    ),
    "fifo": (zips.made(GOOD, attributes=zips.FIFO), "session.json is not a regular file"),
    "name twice": (
        zips.said_otherwise(zips.made([*GOOD, ("levels/C2.log", b"x")]), b"C2.log", b"C1.log"),
        "levels/C1.log occurs twice in it",
    ),
    "other packing": (
        zips.made(GOOD, method=zipfile.ZIP_LZMA),
        "session.json is encrypted or has an unknown compression",
    ),
    "encrypted": (
        zips.encrypted(zips.made(GOOD)),
        "session.json is encrypted or has an unknown compression",
    ),
    "not a zip": (b"#!/bin/sh\nexit 0\n" * 9, "it does not end as a zip file does"),
    "nothing": (b"", "it does not end as a zip file does"),
    "more behind it": (zips.made(GOOD) + b"x", "it does not end as a zip file does"),
    "zip64": (ZIP64, "zip64 archives are not accepted"),
    "many": (
        zips.crowded(artifacts.ENTRIES + 1),
        f"its directory has {artifacts.ENTRIES + 1} entries in 530053 bytes",
    ),
    "a million that say they are ten": (
        zips.crowded(1_000_000, said=10),
        "its directory has 10 entries in 53000000 bytes",
    ),
    "one changed bit": (
        zips.said_otherwise(zips.made(GOOD, method=zipfile.ZIP_STORED), b"epoch", b"Epoch"),
        "Bad CRC-32 for file 'levels/C1.log'",
    ),
    "size that is not so": (
        zips.lying_about_size("agent.log", b"x" * 1000),
        "Bad CRC-32 for file 'agent.log'",
    ),
    "large member": (
        zips.made([("agent.log", BOMB)], method=zipfile.ZIP_STORED),
        "agent.log unpacks to more than 67108864 bytes",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_upload_of_ours_can_be_is_refused_as_a_whole(name, tmp_path):
    data, why = REFUSED[name]
    folder = tmp_path / "in" / "reb-x.a1"
    with pytest.raises(DocumentError) as caught:
        artifacts.unpack_trials(data, folder)
    assert str(caught.value) == f"the artifact reb-x.a1 cannot be read: {why}"
    assert taken(folder) == {}


def test_bomb_is_refused_before_it_is_unpacked(tmp_path):
    data = zips.made([("agent.log", BOMB)])
    assert len(data) < 100_000
    most = artifacts.FREE_BYTES + artifacts.RATIO * len(data)
    with pytest.raises(DocumentError, match=f"agent.log unpacks to more than {most} bytes"):
        artifacts.unpack_trials(data, tmp_path / "in" / "reb-x.a1")


def test_many_members_share_one_limit(tmp_path):
    data = zips.made([(f"t{number}/agent.log", BOMB[: 2**22]) for number in range(9)])
    with pytest.raises(DocumentError, match=r"t5/agent.log unpacks to more than"):
        artifacts.unpack_trials(data, tmp_path / "in" / "reb-x.a1")


@pytest.mark.parametrize("end", range(0, len(zips.made(GOOD)) - 1, 7))
def test_every_truncated_zip_is_refused(end, tmp_path):
    folder = tmp_path / "in" / "reb-x.a1"
    for data in (zips.made(GOOD)[:end], zips.made(GOOD)[end + 1 :]):
        with pytest.raises(DocumentError):
            artifacts.unpack_trials(data, folder)
    assert taken(folder) == {}


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_no_damage_gets_through_but_as_a_fault(data):
    whole = bytearray(zips.made(GOOD))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "in" / "reb-x.a1"
        try:
            artifacts.unpack_trials(bytes(whole), folder)
        except DocumentError:
            assert taken(folder) == {}
        else:
            assert set(taken(folder)) <= artifacts.TRIAL_FILES


def test_million_entries_cost_neither_time_nor_memory(tmp_path):
    data = zips.crowded(1_000_000)
    tracemalloc.start()
    began = time.perf_counter()
    with pytest.raises(DocumentError):
        artifacts.unpack_trials(data, tmp_path / "in" / "reb-x.a1")
    seconds, peak = time.perf_counter() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (seconds < 1, peak < 2**20) == (True, True)


def test_plan_alone_is_taken_of_its_artifact(tmp_path):
    data = zips.made([("plan.json", b"{}"), ("../plan.json", b"evil"), ("session.json", b"{}")])
    assert artifacts.unpack_plan(data, tmp_path / "in" / "plan").read_bytes() == b"{}"
    assert taken(tmp_path / "in" / "plan") == {"plan.json": b"{}"}


def test_every_file_of_a_trial_but_its_page_is_taken():
    """A new kind of evidence that is not would make each unpacked trial a changed one."""
    layout = SessionLayout(folder=Path("trial"))
    names = [name for name, one in vars(SessionLayout).items() if isinstance(one, property)]
    found = {getattr(layout, name).relative_to("trial").as_posix() for name in names}
    single = {name for name in found if "/" not in name}
    # `progress.json` and `ledger.json` serve to resume an agent on its own machine alone.
    assert single - artifacts.TRIAL_FILES == {
        "index.html",
        "ledger.json",
        "progress.json",
        "trajectory",
        "work",
    }


def test_unpacked_trial_is_judged_as_it_was(tmp_path):
    verdict = runs.place(tmp_path / "trial", runs.VIM)
    artifacts.unpack_trials(runs.zipped(tmp_path / "trial"), tmp_path / "in" / "reb-x.a1")
    assert judge_again(SessionLayout(folder=tmp_path / "in" / "reb-x.a1")) == verdict


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def artifact(number, name, *, minute=0, expired=False):
    return Artifact(
        id=number,
        name=name,
        size_bytes=1,
        digest=None,
        expired=expired,
        created_at=NOON + timedelta(minutes=minute),
    )


def ids(listed, attempt=2, key="k"):
    found = artifacts.find_trials(listed, key=key, attempt=attempt)
    return {name: [one.id for one in of_entry] for name, of_entry in found.items()}


def test_artifacts_of_an_entry_come_by_attempt_and_the_id_does_not_count():
    listed = [
        artifact(9, "reb.k.one.a1"),
        artifact(3, "reb.k.one.a2", minute=5),
        artifact(7, "reb.k.two.a1", minute=3),
        artifact(8, "reb.k.two.a1", minute=1),
        artifact(5, "reb.other.one.a2", minute=9),
    ]
    for order in (listed, listed[::-1]):
        assert ids(order) == {"one": [3, 9], "two": [7]}
        assert ids(order, key="other") == {"one": [5]}


IGNORED = [
    *("reb.k.one.a3", "reb.k.one.a0", "reb.k.one.a01", "reb.k.one", "other", "reb.k..a1"),
    *("reb.k.one.a1\n", "reb.k.../x.a1", "reb.k.a/b.a1", "reb.k.one.a11111", "reb.k..ssh.a1"),
    *("researchenvbench-plan", "reb-one.a1", "reb.k-one.a1"),
]


@pytest.mark.parametrize("name", IGNORED)
def test_artifacts_of_no_entry_and_no_attempt_are_ignored(name):
    assert ids([artifact(1, name)]) == {}


def test_expired_artifacts_are_ignored():
    listed = [artifact(1, "reb.k.one.a1", expired=True), artifact(2, "k-plan", expired=True)]
    assert ids(listed) == {}
    assert artifacts.find_plan(listed, key="k") is None


def test_newest_plan_of_a_key_is_by_time():
    listed = [artifact(2, "k-plan", minute=9), artifact(5, "k-plan"), artifact(9, "x-plan")]
    assert artifacts.find_plan(listed, key="k").id == 2


def test_plain_folder_is_fine_and_links_and_fifos_are_not(tmp_path):
    place = tmp_path / "artifacts" / "reb-x.a1"
    (place / "levels").mkdir(parents=True)
    (place / "session.json").write_text("{}")
    artifacts.demand_plain(tmp_path / "artifacts")
    for make in (lambda path: path.symlink_to("/etc"), os.mkfifo):
        make(place / "levels" / "odd")
        with pytest.raises(DocumentError, match="odd is not a regular file; artifacts"):
            artifacts.demand_plain(tmp_path / "artifacts")
        (place / "levels" / "odd").unlink()
