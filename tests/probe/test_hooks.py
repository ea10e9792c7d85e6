"""Hooks of honest packages: known by the hash of each file, and only then."""

import hashlib
from pathlib import Path

import pytest

from reb_action.corpus.manifests import load
from reb_action.probe import hooks
from reb_action.probe.context import ProbeContext, reveal
from reb_action.probe.edited_copies import scan_modules
from reb_action.probe.hooks import KnownHook
from reb_action.source.pristine import Source
from tests.support.editable import NAME, finder_text, write_editable

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
        place = f"pth: /site/{name}"
        assert hooks.identify_hook(place, hook.files) is not None, hook
        for missing in hook.files:
            rest = {name: digest for name, digest in hook.files.items() if name != missing}
            assert hooks.identify_hook(place, rest) is None
        assert all(
            hooks.identify_hook(place, hook.files, (name,)) is None for name in hook.optional
        )
