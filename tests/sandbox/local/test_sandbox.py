"""What is special about the sandbox in a scratch folder."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from reb_action.errors import SandboxError
from reb_action.sandbox.local.files import remove_tree
from reb_action.sandbox.protocol import Sandbox
from reb_action.sandbox.select import attach
from tests.support.sandbox_fixtures import archive, shell


def folders_of_processes() -> str:
    """The working folder of every process here."""
    found = ""
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            found += f"{link.readlink()}\n"
    return found


def test_everything_is_in_the_scratch_folder(scratch: Sandbox):
    layout = scratch.layout
    assert scratch.handle == layout.root == scratch.spec.scratch
    assert Path(layout.tools).resolve() == Path(scratch.spec.mount)
    assert all(Path(place).is_dir() for place in (layout.workspace, layout.home, layout.agent))
    assert scratch.trusted_python == sys.executable


def test_process_that_hides_is_still_found(scratch: Sandbox):
    # Twice orphaned, in a session of its own, without the marker, under another name.
    shell(scratch, "(setsid env -i sh -c 'sleep 60 & sleep 61 &' >/dev/null 2>&1 &) & sleep 1")
    assert scratch.halt() == ("sleep", "sleep")


def test_fork_chain_is_outrun(scratch: Sandbox):
    # Each link starts the next and dies, so that no list of processes is ever complete.
    chain = "import os, time\nwhile not os.fork(): time.sleep(0.001)"
    shell(scratch, f"setsid env -i /usr/bin/python3 -c '{chain}' >/dev/null 2>&1 & sleep 1")
    assert scratch.halt() != ()
    assert scratch.halt() == ()
    for _ in range(200):
        assert scratch.spec.scratch not in folders_of_processes()


def test_put_stays_below_the_scratch_folder(scratch: Sandbox, tmp_path: Path):
    with pytest.raises(SandboxError, match="outside the local sandbox"):
        scratch.put(str(tmp_path / "elsewhere"), archive({"x": b""}))


def test_no_descriptor_is_left_open(scratch: Sandbox):
    shell(scratch, "true")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    shell(scratch, "mkdir report.json; sleep 60 &")
    scratch.read(scratch.layout.report, limit_bytes=10)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_folder_of_any_depth_and_mode_is_removed(tmp_path):
    deep = tmp_path / "deep"
    code = "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\n"
    deep.mkdir()
    subprocess.run([sys.executable, "-c", code], cwd=deep, check=True)
    (deep / "closed").mkdir(mode=0)
    remove_tree(deep)
    assert not deep.exists()


def test_process_that_goes_on_is_still_waited_for_when_another_phase_ends_it(scratch: Sandbox):
    shell(scratch, "sleep 60 >/dev/null 2>&1 &")
    (supervisor,) = scratch._supervisors
    spec, handle = scratch.spec, scratch.handle
    assert attach(spec, handle).halt() == ("sleep",)
    assert supervisor.returncode is not None


@pytest.mark.parametrize(
    "swap",
    [
        "rm {link}; mkdir {link}; echo forged > {link}/probe",
        "rm {link}; ln -s $PWD/own {link}",
        "mv {above} {above}-old; mkdir -p {link}; echo forged > {link}/probe",
        "mv {above} {above}-old; ln -s $PWD/own {above}; mkdir own/reb; cp own/probe own/reb",
        "rm {link}; echo forged > {link}",
    ],
)
def test_mount_is_there_for_the_next_command_whatever_stood_in_its_place(scratch: Sandbox, swap):
    Path(scratch.spec.mount, "probe").write_text("true")
    link = Path(scratch.layout.tools)
    shell(scratch, "mkdir own; echo forged > own/probe")
    shell(scratch, swap.format(link=link, above=link.parent))
    assert shell(scratch, f"cat {link}/probe").stdout == b"true"
    assert Path(scratch.layout.workspace, "own/probe").read_text() == "forged\n"
