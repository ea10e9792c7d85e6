"""Hooks of honest packages: known by the hash of each file, and only then."""

import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load
from reb_action.probe import hooks
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.edited_copies import scan_modules
from reb_action.probe.hooks import KnownHook
from reb_action.resources import data_folder
from reb_action.source.pristine import Source
from tests.support.editable import NAME, finder_text, write_editable

PROBES = data_folder("probes")
DEMO = Path(__file__).parents[1] / "demo" / "manifest.yaml"
DEBIAN = """# install the apport exception handler if available
try:
    import apport_python_hook
except ImportError:
    pass
else:
    apport_python_hook.install()
"""


@pytest.fixture
def source(tmp_path):
    return Source(folder=tmp_path, commit="1" * 40, committed_at=2**30, files=(), submodules=())


@pytest.fixture
def context(scratch, tmp_path):
    manifest = load(DEMO)
    (tmp_path / "mount").mkdir(exist_ok=True)
    reveal(tmp_path / "mount", manifest)
    Path(scratch.layout.repository).mkdir(parents=True, exist_ok=True)
    return ProbeContext(sandbox=scratch, mount=tmp_path / "mount", manifest=manifest)


@pytest.fixture
def site(context):
    place = Path(context.layout.home, "site-packages")
    place.mkdir(parents=True)
    return place


def known(context, source, hook, *search_paths):
    return scan_modules(context, source, map(str, search_paths), (hook,)).known_hooks


def know(monkeypatch, files):
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    hook = KnownHook(package="honest", version="1", files=hashes)
    monkeypatch.setattr(hooks, "known_hooks", lambda: (hook,))


@pytest.mark.parametrize(
    ("pth", "module", "is_known"),
    [
        (b"import _virtualenv", None, True),
        (b"import _virtualenv\nimport evil", None, False),
        (b"import _virtualenv", b"import evil\n", False),
    ],
)
def test_hook_is_known_by_the_hash_of_each_of_its_files(
    context, source, site, monkeypatch, pth, module, is_known
):
    honest = b"patch()\n"
    know(monkeypatch, {"_virtualenv.pth": b"import _virtualenv", "_virtualenv.py": honest})
    (site / "_virtualenv.pth").write_bytes(pth)
    (site / "_virtualenv.py").write_bytes(module or honest)
    hook = f"pth: {site}/_virtualenv.pth"
    assert known(context, source, hook) == ({hook: "honest 1"} if is_known else {})


@pytest.mark.parametrize(
    "before", ["_virtualenv/__init__.py", "_virtualenv.cpython-311-x86_64-linux-gnu.so"]
)
def test_hook_is_not_known_where_python_imports_another_file_first(
    context, source, site, monkeypatch, before
):
    know(monkeypatch, {"_virtualenv.pth": b"import _virtualenv", "_virtualenv.py": b"patch()\n"})
    (site / "_virtualenv.pth").write_bytes(b"import _virtualenv")
    (site / "_virtualenv.py").write_bytes(b"patch()\n")
    (site / before).parent.mkdir(exist_ok=True)
    (site / before).write_bytes(b"evil()\n")
    assert known(context, source, f"pth: {site}/_virtualenv.pth") == {}


@pytest.fixture
def knows_finder(monkeypatch):
    """Know the finder of `write_editable`, without its values."""
    generated = finder_text("...", namespaces="...", placeholder="...").encode()
    know(monkeypatch, {"__editable__*.pth": b"", "__editable__*_finder.py": generated})


@pytest.mark.usefixtures("knows_finder")
@pytest.mark.parametrize("mapping", [{}, {"a": "/x"}, {"a.b": "/it's/\n", "c": "/d"}])
def test_finder_of_an_editable_install_is_known_whatever_it_maps(context, source, site, mapping):
    hook = f"pth: {write_editable(site, mapping)}"
    assert known(context, source, hook) == {hook: "honest 1"}


@pytest.mark.usefixtures("knows_finder")
@pytest.mark.parametrize(
    ("mapping", "pth", "more"),
    [
        ("dict(a=print())", None, ""),
        ("{}; print()", None, ""),
        ("{}\rprint()", None, ""),
        ("{'a': __import__('evil')}", None, ""),
        ("[]", None, ""),
        ("{", None, ""),
        ({}, f"import {NAME}; {NAME}.install(); print()", ""),
        ({}, f"import {NAME}; {NAME}.install()\nimport evil", ""),
        ({}, f"import {NAME}; __editable___other_finder.install()", ""),
        ({}, "import __editable___gone_finder; __editable___gone_finder.install()", ""),
        ({}, "", ""),
        ({}, None, "print()\n"),
        ({}, None, "MAPPING: dict[str, str] = {}\n"),
    ],
)
def test_finder_with_code_of_its_own_is_not_known(context, source, site, mapping, pth, more):
    hook = f"pth: {write_editable(site, mapping, pth=pth, more=more)}"
    assert known(context, source, hook) == {}


def test_finder_that_the_installed_setuptools_writes_is_known(context, source, site):
    editable_wheel = pytest.importorskip("setuptools.command.editable_wheel")
    text = editable_wheel._finder_template(NAME, {"thing": "/thing"}, {"space": ["/a", "/b"]})
    path = write_editable(site, {})
    (site / f"{NAME}.py").write_text(text)
    hook = f"pth: {path}"
    assert known(context, source, hook)[hook].startswith("setuptools editable install ")


def test_sitecustomize_of_debian_is_known(context, source, site):
    (site / "sitecustomize.py").write_text(DEBIAN)
    hook = f"sitecustomize: {site}/sitecustomize.py"
    paths = (site, site / "gone", site / "gone.zip")
    assert known(context, source, hook, *paths) == {hook: "Debian python3 sitecustomize"}


@pytest.mark.parametrize("name", ["{}.py", "{}.cpython-311.so", "{}.pyc", "{}/__init__.py", "{}/x"])
def test_sitecustomize_of_debian_is_not_known_where_the_module_that_it_imports_exists(
    context, source, site, name
):
    (site / "sitecustomize.py").write_text(DEBIAN)
    path = site / "other" / name.format("apport_python_hook")
    path.parent.mkdir(parents=True)
    path.write_text("")
    hook = f"sitecustomize: {site}/sitecustomize.py"
    assert known(context, source, hook, site, site / "other") == {}


def test_sitecustomize_of_debian_is_not_known_where_an_archive_is_searched(context, source, site):
    (site / "sitecustomize.py").write_text(DEBIAN)
    (site / "python311.zip").write_bytes(b"")
    hook = f"sitecustomize: {site}/sitecustomize.py"
    assert known(context, source, hook, site / "python311.zip") == {}


def test_every_known_hook_is_recognised_and_none_without_one_of_its_files():
    for hook in hooks.known_hooks():
        name = next(name for name in hook.files if "/" not in name)
        kind = "pth" if name.endswith(".pth") else name.partition(".")[0]
        place = f"{kind}: /site/{name}"
        assert hooks.identify_hook(f"usercustomize: /site/{name}", hook.files) is None
        assert hooks.identify_hook(place, hook.files) is not None, hook
        for missing in hook.files:
            rest = {name: digest for name, digest in hook.files.items() if name != missing}
            assert hooks.identify_hook(place, rest) is None
        assert all(
            hooks.identify_hook(place, hook.files, (name,)) is None for name in hook.optional
        )


def probe():
    """Return the probe that looks for hooks, and have it find its own module."""
    for name in ("pth_files", "hook_files"):
        spec = importlib.util.spec_from_file_location(name, PROBES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules.setdefault(name, module))
    return sys.modules["hook_files"]


def pth_hooks(folder):
    """Return the names of the .pth files of a folder that are hooks."""
    found = probe().list_hooks(
        {"python": "/no/bin/python", "environment": {}, "home": "/no"}, [str(folder)]
    )
    return [hook.removeprefix(f"pth: {folder}/") for hook in found]


def test_what_is_no_file_with_lines_that_import_is_no_hook(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "gone.pth").symlink_to("/data/not-here/model.pth")
    (folder / "loop.pth").symlink_to("loop.pth")
    (folder / "folder.pth").mkdir()
    os.mkfifo(folder / "pipe.pth")
    (folder / "endless.pth").symlink_to("/dev/zero")
    (folder / "memory.pth").symlink_to("/proc/self/mem")
    (folder / "weights.pth").write_bytes(b"\x80\x02\xff" * 1000)
    (folder / "path.pth").write_text("/somewhere\n")
    (folder / "hook.pth").write_bytes(b"\xff\nimport os\n")
    (folder / "mark.pth").write_bytes(b"\xef\xbb\xbfimport os\n")
    (folder / "feed.pth").write_bytes(b"#\x0cimport os\n")
    (folder / "tab.pth").write_text("import\tos\n")
    assert pth_hooks(folder) == ["feed.pth", "hook.pth", "mark.pth", "tab.pth"]


def test_checkpoint_larger_than_memory_is_no_hook(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "model.pth").touch()
    os.truncate(folder / "model.pth", 1 << 40)
    assert pth_hooks(folder) == []


@pytest.mark.parametrize(("name", "listed"), [("site-packages", ["a.pth"]), ("models", [])])
def test_file_too_large_to_read_is_a_hook_where_python_runs_it(tmp_path, name, listed):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "a.pth").write_bytes(b"#" * (16 << 20) + b"\nimport os\n")
    assert pth_hooks(folder) == listed


def test_hooks_that_are_left_out_are_counted():
    names = tuple(f"pth: {number}" for number in range(203))
    assert hooks.limit_hooks(names) == (*names[:200], "and 3 more")
    assert hooks.limit_hooks(names[:200]) == names[:200]


def test_unknown_hook_is_listed_before_known_ones():
    known = {f"pth: {number}": "honest 1" for number in range(200)}
    names = (*known, "pth: evil")
    assert hooks.limit_hooks(names, known) == ("pth: evil", *names[:199], "and 1 more")


def test_hook_that_is_cut_is_not_taken_for_the_known_one_that_it_begins_with():
    known = {f"pth: /{'d' * 490}.pth": "honest 1"}
    (name,) = known
    listed = hooks.limit_hooks((name, f"{name}.pth"), known)
    assert len(name) == 500
    assert listed == (f"{name}… (cut)", name)


def test_module_that_ran_and_has_no_file_is_a_hook_of_its_own():
    found = ("pth: /a.pth", "sitecustomize: /usr/lib/sitecustomize.py")
    told = ("sitecustomize", "usercustomize")
    unfound = hooks.list_unfound(told, found)
    assert unfound == ("usercustomize: its file was not found",)
    assert hooks.identify_hook(unfound[0], {"sitecustomize.py": "1"}) is None


def environment(home, *, settings="", name="venv"):
    """Lay out what a virtual environment consists of, without making one."""
    site = home / name / "lib" / "python3.11" / "site-packages"
    for folder in (site, home / name / "bin"):
        folder.mkdir(parents=True)
    (home / name / "pyvenv.cfg").write_text(f"home = {home}/base/bin\n{settings}")
    (home / name / "bin" / "python").symlink_to("python3")
    (home / name / "bin" / "python3").symlink_to("../../base/bin/python3.11")
    return site


def base(home):
    """Lay out an interpreter with hooks in each of its folders; return their names."""
    site = home / "base" / "lib" / "python3.11" / "site-packages"
    user = home / ".local" / "lib" / "python3.11" / "site-packages"
    other = home / "base" / "lib" / "python3.12" / "site-packages"
    for folder in (site, user, other, home / "base" / "bin"):
        folder.mkdir(parents=True)
        (folder / "hook.pth").write_text("import os\n")
    (home / "base" / "bin" / "python3.11").write_bytes(b"\x7fELF 3.11.2\0 libpython3.so.1.2.3\0")
    (site.parent / "sitecustomize.py").touch()
    (other.parent / "sitecustomize.py").touch()
    return site, user


def listed(home, python, **variables):
    start = {"python": str(python), "environment": variables, "home": str(home)}
    found = probe().list_hooks(start)
    return {hook.replace(str(home), "~").replace("lib/python3.11/", "") for hook in found}


def test_hooks_of_an_environment_are_found_without_its_interpreter(tmp_path):
    base(tmp_path)
    site = environment(tmp_path)
    (site / "hook.pth").write_text("import hook\n")
    (site / "usercustomize").mkdir()
    (site / "usercustomize" / "__init__.py").touch()
    assert listed(tmp_path, tmp_path / "venv/bin/python") == {
        "pth: ~/venv/site-packages/hook.pth",
        "usercustomize: ~/venv/site-packages/usercustomize/__init__.py",
        "sitecustomize: ~/base/sitecustomize.py",
    }


def test_hooks_of_the_base_count_where_an_environment_uses_its_packages(tmp_path):
    base(tmp_path)
    environment(tmp_path, settings="include-system-site-packages = true\n")
    assert listed(tmp_path, tmp_path / "venv/bin/python") == {
        "sitecustomize: ~/base/sitecustomize.py",
        "pth: ~/base/site-packages/hook.pth",
        "pth: ~/.local/site-packages/hook.pth",
    }


def test_hooks_of_an_interpreter_without_environment_are_of_its_version(tmp_path):
    base(tmp_path)
    assert listed(tmp_path, tmp_path / "base/bin/python3.11") == {
        "sitecustomize: ~/base/sitecustomize.py",
        "pth: ~/base/site-packages/hook.pth",
        "pth: ~/.local/site-packages/hook.pth",
    }


def test_folders_that_the_report_adds_are_searched(tmp_path):
    base(tmp_path)
    environment(tmp_path)
    for folder in ("added", "named"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "sitecustomize.cpython-311.so").touch()
    site = tmp_path / "venv/lib/python3.11/site-packages"
    (site / "path.pth").write_text(f"{tmp_path}/named\n")
    found = listed(tmp_path, tmp_path / "venv/bin/python", PYTHONPATH=f"{tmp_path}/added")
    assert found == {
        "sitecustomize: ~/added/sitecustomize.cpython-311.so",
        "sitecustomize: ~/named/sitecustomize.cpython-311.so",
        "sitecustomize: ~/base/sitecustomize.py",
    }


@pytest.mark.parametrize("variable", ["COVERAGE_PROCESS_START", "COVERAGE_PROCESS_CONFIG"])
def test_hook_of_coverage_is_known_unless_it_would_import_coverage(variable):
    (coverage,) = (hook for hook in hooks.known_hooks() if hook.package == "coverage")
    place = "pth: /site/a1_coverage.pth"
    assert hooks.identify_hook(place, coverage.files, (), ("PATH",)) == "coverage 7.17.5"
    assert hooks.identify_hook(place, coverage.files, (), ("PATH", variable)) is None


def libraries(home, *names):
    for name in names:
        (home / name / "lib" / "python3.11").mkdir(parents=True, exist_ok=True)
        (home / name / "lib" / "python3.11" / "os.py").touch()
        (home / name / "bin").mkdir(exist_ok=True)


def test_standard_library_that_is_not_the_program_s_own_is_a_hook(tmp_path):
    base(tmp_path)
    environment(tmp_path)
    libraries(tmp_path, "base", "fake")
    python = tmp_path / "venv/bin/python"
    assert not any(hook.startswith("standard library") for hook in listed(tmp_path, python))
    (tmp_path / "venv/pyvenv.cfg").write_text(f"home = {tmp_path}/fake/bin\n")
    assert f"standard library: {tmp_path}/fake/lib/python3.11" in probe().list_hooks(
        {"python": str(python), "environment": {}, "home": str(tmp_path)}
    )
    # Links to the right program in the named folder do not make its library the right one.
    (tmp_path / "fake/bin/python3.11").symlink_to(tmp_path / "base/bin/python3.11")
    assert f"standard library: {tmp_path}/fake/lib/python3.11" in probe().list_hooks(
        {"python": str(python), "environment": {}, "home": str(tmp_path)}
    )


@pytest.mark.parametrize("options", [(), ("--copies",)])
def test_standard_library_of_a_real_environment_is_no_hook(tmp_path, options):
    subprocess.run(
        [sys._base_executable, "-m", "venv", "--without-pip", *options, tmp_path / "v"], check=True
    )
    start = {"python": f"{tmp_path}/v/bin/python", "environment": {}, "home": str(tmp_path)}
    names = [hook for hook in probe().list_hooks(start) if hook.startswith("standard library")]
    # Root can write to each folder, so a copy belongs to no folder for sure.
    assert names == [] or (options and os.getuid() == 0)


def archive(path, name="sitecustomize.py"):
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(name, "")


UNUSUAL = {
    "archive that a .pth file names": ("/a.pth", "{home}/a.zip"),
    "hidden .pth file": ("/.hidden.pth", "{home}/added"),
    "space before the name": ("/a.pth", " added"),
    "end of a line in the name": ("/a.pth", "{home}/ad\u2028ded"),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_place_that_python_adds_in_an_unusual_way_is_searched(tmp_path, name):
    base(tmp_path)
    site = environment(tmp_path)
    file, line = UNUSUAL[name]
    archive(tmp_path / "a.zip")
    for folder in (tmp_path / "added", tmp_path / "ad\u2028ded", site / " added"):
        folder.mkdir()
        (folder / "usercustomize.py").touch()
    path = site / file.lstrip("/")
    path.write_text(line.format(home=tmp_path) + "\n", encoding="utf-8")
    hooks = listed(tmp_path, tmp_path / "venv/bin/python") - {
        "sitecustomize: ~/base/sitecustomize.py"
    }
    assert len(hooks) == 1, hooks


@pytest.mark.parametrize("place", ["lib/python311.zip", "lib64/python3.11.zip"])
def test_archive_before_the_standard_library_is_searched(tmp_path, place):
    base(tmp_path)
    environment(tmp_path)
    (tmp_path / "base" / place).parent.mkdir(exist_ok=True)
    archive(tmp_path / "base" / place, "sitecustomize/__init__.pyc")
    assert f"sitecustomize: ~/base/{place}" in listed(tmp_path, tmp_path / "venv/bin/python")


def test_honest_archive_is_no_hook(tmp_path):
    base(tmp_path)
    site = environment(tmp_path)
    archive(tmp_path / "egg.zip", "package/__init__.py")
    (site / "egg.pth").write_text(f"{tmp_path}/egg.zip\n")
    assert listed(tmp_path, tmp_path / "venv/bin/python") == {
        "sitecustomize: ~/base/sitecustomize.py"
    }


def test_file_that_replaces_the_search_path_of_a_program_is_a_hook(tmp_path):
    base(tmp_path)
    environment(tmp_path)
    (tmp_path / "venv/bin/python._pth").write_text("/evil\nimport site\n")
    (tmp_path / "base/bin/python3.11._pth").write_text("/evil\n")
    assert listed(tmp_path, tmp_path / "venv/bin/python") == {
        "search path: ~/venv/bin/python._pth",
        "search path: ~/base/bin/python3.11._pth",
        "sitecustomize: ~/base/sitecustomize.py",
    }


@pytest.mark.parametrize(
    ("settings", "folder", "shared"),
    [
        ("home = {fake}/bin\nhome = {base}/bin\n", "", False),
        ("home = {base}/bin\nhome = {fake}/bin\n", "", False),
        ("home = {base}/bin\n", "bin/", False),
        ("x = \x0bhome = {base}/bin\nhome = {fake}/bin\n", "", False),
        ("home = {base}/bin\ninclude-system-site-packages = TRUE\n", "", True),
    ],
    ids=["first of two", "last of two", "beside the program", "end of a line", "capitals"],
)
def test_settings_of_an_environment_are_read_as_any_python_reads_them(
    tmp_path, settings, folder, shared
):
    base(tmp_path)
    environment(tmp_path)
    libraries(tmp_path, "base", "fake")
    names = {"base": tmp_path / "base", "fake": tmp_path / "fake"}
    (tmp_path / "venv/pyvenv.cfg").write_text("home = {fake}/bin\n".format(**names))
    (tmp_path / "venv" / folder / "pyvenv.cfg").write_text(settings.format(**names))
    hooks = listed(tmp_path, tmp_path / "venv/bin/python")
    assert ("pth: ~/base/site-packages/hook.pth" in hooks) is shared
    assert any(hook.startswith("standard library: ~/fake") for hook in hooks) is not shared


def test_home_that_depends_on_the_folder_of_the_run_is_a_hook(tmp_path):
    base(tmp_path)
    environment(tmp_path)
    (tmp_path / "venv/pyvenv.cfg").write_text("home = fake/bin\n")
    assert "standard library: fake/bin" in listed(tmp_path, tmp_path / "venv/bin/python")


def test_settings_that_are_a_pipe_are_not_waited_for(tmp_path):
    environment(tmp_path)
    (tmp_path / "venv/pyvenv.cfg").unlink()
    os.mkfifo(tmp_path / "venv/pyvenv.cfg")
    assert probe().configuration_text(f"{tmp_path}/venv/bin/python") is None


@pytest.mark.parametrize("program", [b"\x7fELF 3.11.2\0", b"\x7fELF libpython3.11.so"])
def test_name_of_a_program_does_not_hide_the_hooks_of_its_version(tmp_path, program):
    base(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3.9").write_bytes(program)
    assert "pth: ~/.local/site-packages/hook.pth" in listed(tmp_path, tmp_path / "bin/python3.9")


def test_link_over_another_folder_leads_where_the_kernel_goes(tmp_path):
    base(tmp_path)
    (tmp_path / "base/inner").mkdir()
    (tmp_path / "other/bin").mkdir(parents=True)
    (tmp_path / "other/bin/way").symlink_to(tmp_path / "base/inner")
    (tmp_path / "other/bin/python").symlink_to("way/../bin/python3.11")
    hooks = listed(tmp_path, tmp_path / "other/bin/python")
    assert "pth: ~/base/site-packages/hook.pth" in hooks
