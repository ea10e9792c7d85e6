"""Has the processes of a run count the kernels that they launch, and reads their counts.

The CUDA driver loads a library of the probes into every process that initialises CUDA. CUPTI
serves one client for each process, so a program that profiles itself is never counted.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from reb_action.documents import show
from reb_action.judge.launches import TABLE_BYTES, read_table
from reb_action.judge.proofs import WrittenFile
from reb_action.model.launches import Launches, ProcessLaunches
from reb_action.model.manifest import Entrypoint, Manifest
from reb_action.probe.context import ProbeContext
from reb_action.sandbox.protocol import Command

FILES: Final = "{out}/launches.*"

_LIBRARY: Final = "probes/launches/liblaunches.so"
_TABLES: Final = 100
_LOAD_SECONDS: Final = 30
_PROFILES: Final = re.compile(
    rb"\btorch\.(?:autograd\.)?profiler\b|\bfrom torch import [^\n]*\bprofiler\b"
    rb"|\bjax\.profiler\b|\bcupti|\bemit_nvtx\b|\b(?:nsys|ncu) "
)


def find_obstacle(
    context: ProbeContext, folder: Path, entrypoint: Entrypoint, manifest: Manifest
) -> str | None:
    """Return why the launches of an entry point cannot be counted; `folder` is the pristine one."""
    texts = [(folder / entrypoint.decoy).read_bytes()]
    texts += [text.encode() for text in (*manifest.files.values(), " ".join(entrypoint.argv))]
    if any(_PROFILES.search(text) for text in texts):
        return "the entry point profiles itself, and CUPTI serves only one profiler"
    return _load_fault(context)


def _load_fault(context: ProbeContext) -> str | None:
    """Return why the sandbox's own interpreter cannot load the library."""
    code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    ended = context.run(
        Command(
            argv=(context.sandbox.trusted_python, "-I", "-S", "-c", code, _place(context)),
            cwd=context.layout.tools,
            timeout_seconds=_LOAD_SECONDS,
        )
    )
    if ended.exit_code == 0:
        return None
    last = ended.stderr.strip().rpartition(b"\n")[2].decode("utf-8", "replace")
    return f"the library that counts does not load: {show(last[:200])}"


def make_environment(context: ProbeContext) -> Mapping[str, str]:
    """Return the variables that have the driver load the library; `{out}` is the run's folder."""
    return {"CUDA_INJECTION64_PATH": _place(context), "REB_LAUNCHES": "{out}/launches"}


def _place(context: ProbeContext) -> str:
    return f"{context.layout.tools}/{_LIBRARY}"


def read_processes(
    context: ProbeContext, out: str, files: Sequence[WrittenFile]
) -> tuple[ProcessLaunches, ...]:
    """Return the launches of each process of a run that initialised CUDA; at most 100."""
    paths = [file.path for file in files if file.path.startswith(f"{out}/launches.")]
    contents = (
        context.sandbox.read(path, limit_bytes=TABLE_BYTES, whole=True) for path in paths[:_TABLES]
    )
    tables = (read_table(content) for content in contents if isinstance(content, bytes))
    return tuple(sorted((table for table in tables if table), key=lambda table: table.pid))


def sum_up(
    processes: tuple[ProcessLaunches, ...], decoy: tuple[ProcessLaunches, ...] | None
) -> Launches:
    """Return the launches of a run, given its processes and those of the decoy run."""
    faults = [process.fault for process in processes if process.fault is not None]
    nobody = faults[0] if faults and len(faults) == len(processes) else None
    return Launches(
        processes=processes,
        decoy_launches=None if decoy is None else Launches(processes=decoy).total,
        not_counted=nobody and f"no process could count: {nobody}",
    )
