"""What counts as installed: everything that people install, and no stub."""

import json
import os
import struct
import subprocess
import sys
import time
import zipfile

import pytest

from reb_action.probe.stubs import UNLISTED_BYTES, Module
from reb_action.resources import data_folder

PROBE = data_folder("probes") / "stubs.py"
CODE = "def work():\n    return 1\n"
LARGE = CODE * (UNLISTED_BYTES // 10)
PYC = b"\xa7\r\r\n" + bytes(12) + b"\xe3" + LARGE.encode()


def elf(*names, defined=1):
    """Return a native library of 64 bits that exports, or only asks for, these names."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    symbols = bytes(24) + b"".join(
        struct.pack("<IBBHQQ", strings.index(name.encode() + b"\0"), 18, 0, defined, 4096, 9)
        for name in names
    )
    start = 64 + 3 * 64
    sections = ((0, start, 0), (11, start, len(symbols)), (3, start + len(symbols), len(strings)))
    headers = b"".join(
        struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, 2, 0, 1, 24)
        for kind, offset, size in sections
    )
    head = b"\x7fELF\x02\x01\x01" + bytes(33) + struct.pack("<QIHHHHHH", 64, 0, 64, 0, 0, 64, 3, 0)
    return head + headers + symbols + strings


ELF = elf("PyInit_thing")


def look(folder, files, *entries, native=(), skipped=(), led=()):
    """Return the probe's answer on `thing` among these files."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    paths = [str(folder / entry) for entry in entries or ("",)]
    native = [str(folder / one) for one in native]
    asked = folder / "question.json"
    question = {"search_paths": paths, "names": ["thing"], "native": native}
    question["skipped"] = [str(folder / one) for one in skipped]
    question["led"] = [["thing", str(folder / one)] for one in led]
    asked.write_text(json.dumps(question))
    argv = [sys.executable, "-I", "-S", str(PROBE), str(asked)]
    return json.loads(subprocess.run(argv, capture_output=True, check=True, timeout=60).stdout)


def hollow(folder, files, *entries):
    """Return whether `thing` is hollow among these files; None if it is not there."""
    found = [Module(**module) for module in look(folder, files, *entries)["modules"]]
    return found[0].is_hollow if found else None


RECORD = "thing-1.dist-info/RECORD"

INSTALLED = {
    "small module of a wheel": {"thing.py": CODE, RECORD: "thing.py,,\n"},
    "extension of a wheel": {"thing.abi3.so": ELF, RECORD: "thing.abi3.so,,\n"},
    "package with an empty init": {
        "thing/__init__.py": "",
        "thing/core.py": CODE,
        RECORD: "thing/__init__.py,,\nthing/core.py,,\n",
    },
    "namespace package": {"thing/part/core.py": CODE, RECORD: "thing/part/core.py,,\n"},
    "without sources": {"thing/__init__.pyc": PYC, RECORD: "thing/__init__.pyc,,\n"},
    "extension in a package": {"thing/_core.so": elf("PyInit__core", "other")},
    "old metadata": {"thing.py": CODE, "thing.egg-info/top_level.txt": "thing\n"},
    "copied by hand": {"thing/__init__.py": "", "thing/core.py": LARGE},
    "package with an os.py, as the standard library has": {
        "thing/__init__.py": "",
        "thing/os.py": CODE,
        RECORD: "thing/__init__.py,,\nthing/os.py,,\n",
    },
    "package of Debian": {"thing.py": LARGE, "Thing-1.egg-info": "Name: Thing\n"},
}

STUBS = {
    "empty module": {"thing.py": ""},
    "empty package": {"thing/__init__.py": ""},
    "only a comment": {"thing.py": "# to be done\n", RECORD: "thing.py,,\n"},
    "empty package with metadata": {"thing/__init__.py": "", RECORD: "thing/__init__.py,,\n"},
    "only a version": {"thing.py": "__version__ = '1.0'\n"},
    "only types": {"thing/__init__.pyi": LARGE, "thing/py.typed": ""},
    "empty extension": {"thing.so": ""},
    "extension of zeros": {"thing.so": bytes(500)},
    "extension of another name": {"thing.so": elf("PyInit_other", "PyInit_thing2")},
    "extension that only asks for its entry": {"thing.so": elf("PyInit_thing", defined=0)},
    "extension cut off": {"thing.so": ELF[:-40], RECORD: "thing.so,,\n"},
    "extension of words": {"thing.so": b"\x7fELF\x02\x01 PyInit_thing\0" * 99},
    "bytecode of zeros": {"thing/__init__.pyc": bytes(500)},
    "only a docstring": {"thing.py": '"""' + "stub " * 200 + '"""\n'},
    "only a raw docstring": {"thing.py": "r'''It\\''' # not.\n'''\n", RECORD: "thing.py,,\n"},
    "docstring without an end": {"thing.py": '"""' + '\\"""' * 20000},
    "only a long name": {"thing.py": "thing" * 200 + "\n"},
    "only passing": {"thing.py": "pass\n...\n" * 200, RECORD: "thing.py,,\n"},
}


@pytest.mark.parametrize("files", INSTALLED.values(), ids=INSTALLED)
def test_module_is_installed(tmp_path, files):
    assert hollow(tmp_path, files) is False


@pytest.mark.parametrize("files", STUBS.values(), ids=STUBS)
def test_stub_is_hollow(tmp_path, files):
    assert hollow(tmp_path, files) is True


def test_egg_and_source_folder_on_the_path_list_what_they_bring(tmp_path):
    egg = {"thing.egg/thing.py": CODE, "thing.egg/EGG-INFO/top_level.txt": "thing\n"}
    source = {"src/thing.py": CODE, "src/thing.egg-info/top_level.txt": "thing\n"}
    assert hollow(tmp_path, egg, "thing.egg") is False
    assert hollow(tmp_path, source, "src") is False


def test_package_that_is_a_link_is_followed(tmp_path):
    (tmp_path / "thing").symlink_to("clone/thing")
    assert hollow(tmp_path, {"clone/thing/core.py": LARGE}) is False


def test_what_stands_nowhere_is_left_to_pyright(tmp_path):
    assert hollow(tmp_path, {"other.py": CODE}, "", "absent", "question.json") is None


def test_pipes_and_loops_do_not_hold_the_probe_up(tmp_path):
    (tmp_path / "thing").mkdir()
    os.mkfifo(tmp_path / "thing" / "core.py")
    (tmp_path / "thing" / "again").symlink_to("..")
    assert hollow(tmp_path, {}) is True


PLACES = ("stdlib/os.py", "stdlib/json/core.py", "venv/site-packages/real/core.py")


@pytest.mark.parametrize("target", ["stdlib/json", "venv/site-packages/real"])
def test_link_to_what_has_another_name_is_hollow(tmp_path, target):
    (tmp_path / "thing").symlink_to(target)
    assert hollow(tmp_path, dict.fromkeys(PLACES, LARGE)) is True


def test_link_to_the_same_module_elsewhere_is_followed(tmp_path):
    (tmp_path / "thing").symlink_to("cache/site-packages/thing")
    assert hollow(tmp_path, {"cache/site-packages/thing/core.py": LARGE}) is False


def unreadable(path):
    path.write_text(LARGE)
    path.chmod(0)


def huge(path):
    path.touch()
    os.truncate(path, 1 << 40)


ODD = {
    "memory": lambda path: path.symlink_to("/proc/self/mem"),
    "zeros without end": lambda path: path.symlink_to("/dev/zero"),
    "pipe": os.mkfifo,
    "link to itself": lambda path: path.symlink_to(path.name),
    "nothing": lambda path: path.symlink_to("gone"),
    "folder": lambda path: path.mkdir(),
    "sparse": huge,
}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
@pytest.mark.parametrize("name", ["thing.py", "thing.so", "thing/__init__.py"])
def test_what_is_no_readable_file_has_no_code(tmp_path, make, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    make(tmp_path / name)
    assert hollow(tmp_path, {RECORD: f"{name},,\n"}) is True


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_module_that_may_not_be_read_has_no_code(tmp_path):
    unreadable(tmp_path / "thing.py")
    assert hollow(tmp_path, {}) is True


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
@pytest.mark.parametrize("name", [RECORD, "a.egg-info/top_level.txt", "__editable__.a.pth"])
def test_odd_metadata_lists_nothing(tmp_path, make, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    make(tmp_path / name)
    assert hollow(tmp_path, {"thing.py": CODE}) is True


@pytest.mark.slow
def test_many_links_to_one_record_are_read_once(tmp_path):
    (tmp_path / "all").write_text("other,\n" * 2_000_000)
    for number in range(500):
        (tmp_path / f"d{number}.dist-info").mkdir()
        (tmp_path / f"d{number}.dist-info/RECORD").symlink_to("../all")
    begun = time.monotonic()
    assert hollow(tmp_path, {"thing.py": CODE}) is True
    assert time.monotonic() - begun < 20


def test_so_many_files_are_looked_at_and_no_more(tmp_path):
    (tmp_path / "thing" / "a").mkdir(parents=True)
    for number in range(4000):
        (tmp_path / "thing" / "a" / f"f{number}").touch()
    assert hollow(tmp_path, {"thing/b/core.py": LARGE}) is True
    assert hollow(tmp_path, {"thing/core.py": LARGE}) is False


def test_only_extension_modules_count_as_built(tmp_path):
    files = {"a/thing.cpython-311.so": ELF, "copied.so": ELF, "empty.so": ""}
    built = look(tmp_path, files, native=[*files, "gone.so"])["built"]
    assert built == [str(tmp_path / "a/thing.cpython-311.so")]


ORIGIN = '{"dir_info": {"editable": true}, "url": "file://%s"}'


@pytest.mark.parametrize("line", ["{}/src", "../src"])
def test_folder_that_a_pth_file_puts_on_the_path_is_listed(tmp_path, line):
    files = {"site/_a.pth": f"# source\n{line.format(tmp_path)}\n", "src/thing.py": CODE}
    assert hollow(tmp_path, files, "site", "src") is False


@pytest.mark.parametrize(
    ("text", "is_stub"),
    [
        ('__version__ = "1.0"\n', True),
        ("# def nothing\nVALUE = 1\n", True),
        ('"""\ndef text():\n"""\nVALUE = 1\n', True),
        ("def double(x):\n    return 2 * x\n", False),
        ("VALUE = 1\nclass Thing: pass\n", False),
        ("from os import path\n", False),
    ],
)
def test_module_of_values_in_a_folder_of_a_pth_file_is_a_stub(tmp_path, text, is_stub):
    files = {"site/_a.pth": "../src\n", "src/thing.py": text}
    assert hollow(tmp_path, files, "site", "src") is is_stub


def test_folder_that_no_pth_file_puts_on_the_path_is_not_listed(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/thing.py").write_text(CODE)
    assert hollow(tmp_path, {"site/_a.pth": f"{tmp_path}/other\n"}, "site", "src") is True


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def test_egg_that_is_an_archive_is_looked_into(tmp_path):
    zipped(tmp_path / "a.egg", {"thing/__init__.py": CODE, "EGG-INFO/top_level.txt": "thing\n"})
    zipped(tmp_path / "b.egg", {"thing/__init__.py": "", "EGG-INFO/top_level.txt": "thing\n"})
    zipped(tmp_path / "c.zip", {"thing.py": LARGE})
    zipped(tmp_path / "d.zip", {"thing.py": " " * (1 << 28)})
    (tmp_path / "e.zip").write_bytes((tmp_path / "c.zip").read_bytes()[40:])
    seen = {one.name: hollow(tmp_path, {}, one.name) for one in tmp_path.glob("?.*")}
    assert seen == {"a.egg": False, "b.egg": True, "c.zip": False, "d.zip": True, "e.zip": True}


def led(folder, files):
    """Return whether `thing` is hollow where the interpreter finds it in `dep`."""
    found = [Module(**one) for one in look(folder, files, "site", led=["dep/thing.py"])["modules"]]
    return [one.is_hollow for one in found]


def test_what_the_interpreter_finds_elsewhere_needs_code_as_well(tmp_path):
    assert led(tmp_path, {"dep/thing.py": LARGE}) == [False]
    assert led(tmp_path, {"dep/thing.py": CODE}) == [True]
    assert led(tmp_path, {"dep/thing.py": ""}) == [True]


@pytest.mark.parametrize(
    ("origin", "hollow"),
    [
        (ORIGIN, [False]),
        (ORIGIN.replace("true", "false"), [True]),
        ('{"url": 7, "dir_info": {"editable": true}}', [True]),
        ("[]", [True]),
        ("{", [True]),
    ],
)
def test_what_a_distribution_says_that_it_is_edited_from_is_listed(tmp_path, origin, hollow):
    text = origin.replace("%s", f"{tmp_path}/dep")
    files = {"site/a-1.dist-info/direct_url.json": text, "dep/thing.py": CODE}
    (tmp_path / "site/a-1.dist-info").mkdir(parents=True)
    assert led(tmp_path, files) == hollow


def test_repository_own_module_stands_for_no_distribution(tmp_path):
    assert look(tmp_path, {"thing.py": LARGE}, skipped=["thing.py"])["modules"] == []
