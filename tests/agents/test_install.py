"""An agent's program is installed once, at its pin, and a failure says what to see to."""

import os
import sys
import zipfile
from pathlib import Path

import pytest

from reb_action.agents.catalogue import agent
from reb_action.agents.install import cache_folder, ensure, is_installed, place
from reb_action.agents.spec import AgentSpec, Install, Source
from reb_action.errors import ToolchainError
from reb_action.sandbox.protocol import Kind

WHEEL = "tiny_agent-1.0-py3-none-any.whl"
INFO = "tiny_agent-1.0.dist-info"
FILES = {
    "tiny_agent.py": "def main():\n    print('hello')\n",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: tiny-agent\nVersion: 1.0\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any",
    f"{INFO}/entry_points.txt": "[console_scripts]\ntiny = tiny_agent:main\n",
    f"{INFO}/RECORD": "",
}


def tiny(version: str = "1.0", **other: object) -> AgentSpec:
    pinned = Install(source=Source.PYPI, package="tiny-agent", version=version, **other)
    return AgentSpec(name="tiny", title="Tiny", argv=("{cli}/venv/bin/tiny",), install=pinned)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    index = tmp_path / "index" / "tiny-agent"
    index.mkdir(parents=True)
    with zipfile.ZipFile(index / WHEEL, "w") as wheel:
        for name, text in FILES.items():
            wheel.writestr(name, text)
    (index / "index.html").write_text(f'<a href="{WHEEL}">{WHEEL}</a>')
    # Where the tools of the development environment are.
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    return {"UV_DEFAULT_INDEX": index.parent.as_uri()}


def install(spec: AgentSpec, folder: Path, settings: dict[str, str]) -> Path | None:
    return ensure(spec, kind=Kind.LOCAL, image=None, cache=folder, settings=settings, seconds=120)


def test_program_is_installed_once(tmp_path: Path, settings: dict[str, str]) -> None:
    folder = install(tiny(), tmp_path, settings)
    assert folder is not None
    assert folder == place(tiny(), kind=Kind.LOCAL, image=None, cache=tmp_path)
    assert (folder / "venv" / "bin" / "tiny").is_file()
    assert not (folder / ".home").exists()
    (folder / "mark").touch()
    assert install(tiny(), tmp_path, {}) == folder
    assert (folder / "mark").exists()


def test_half_an_installation_is_begun_again(tmp_path: Path, settings: dict[str, str]) -> None:
    folder = place(tiny(), kind=Kind.LOCAL, image=None, cache=tmp_path)
    assert folder is not None
    (folder / "venv").mkdir(parents=True)
    assert not is_installed(folder)
    assert install(tiny(), tmp_path, settings) == folder
    assert is_installed(folder)


def test_failure_names_the_pin_and_leaves_nothing_usable(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    with pytest.raises(ToolchainError) as caught:
        install(tiny("2.0"), tmp_path, settings)
    message = str(caught.value)
    assert message.startswith("tiny 2.0 cannot be installed (")
    assert message.endswith("check the package index and the pin in tiny.yaml")
    folder = place(tiny("2.0"), kind=Kind.LOCAL, image=None, cache=tmp_path)
    assert folder is not None
    assert not is_installed(folder)


def test_package_that_is_not_in_the_lock_is_refused(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    lock = b"tiny-agent==1.0 --hash=sha256:" + b"0" * 64 + b"\n"
    with pytest.raises(ToolchainError, match="cannot be installed"):
        install(tiny(lock=lock), tmp_path, settings)


def test_another_pin_is_another_folder(tmp_path: Path) -> None:
    specs = (tiny(), tiny("2.0"), tiny(lock=b"x"), tiny(python="3.12"))
    places = {place(spec, kind=Kind.LOCAL, image=None, cache=tmp_path) for spec in specs}
    assert len(places) == 4


def test_agent_without_a_program_needs_no_folder(tmp_path: Path) -> None:
    assert install(agent("nop"), tmp_path, {}) is None
    assert not list(tmp_path.iterdir())


def test_cache_is_where_the_user_says() -> None:
    assert cache_folder({"REB_CACHE": "/big"}) == Path("/big")
    assert cache_folder({}) == Path.home() / ".cache" / "researchenvbench"
