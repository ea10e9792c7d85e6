"""Writes the shell script that builds a manifest's `oracle`, correct or with one sabotage.

A script fails if it cannot do its sabotage.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from reb_action.model.manifest import GPU_LEVELS, RUN_LEVELS, Framework, Level, Oracle
from reb_action.qualify import other_cards

# The modules of a distribution, as the text of {name: None}: a None in sys.modules is absent. A
# distribution may spell its name in another way than its requirement; one without modules fails.
_NAMES: Final = (
    "import importlib.metadata as m, re, sys; found = m.packages_distributions().items(); "
    "plain = lambda name: re.sub('[-_.]+', '-', name).lower(); key = plain(sys.argv[1]); "
    "names = {name: None for name, owners in found if key in map(plain, owners)}; "
    "print(names or sys.exit(f'{key} has no module here'))"
)
# An entry point may choose its GPUs itself: its choice is overridden.
_VISIBLE: Final = (
    "import os; kind, fixed = type(os.environ), 'CUDA_VISIBLE_DEVICES'; "
    "os.environ[fixed] = '{devices}'; put, drop = kind.__setitem__, kind.__delitem__; "
    "kind.__setitem__ = lambda e, n, text, n0=fixed, put=put: n == n0 or put(e, n, text); "
    "kind.__delitem__ = lambda e, n, n0=fixed, drop=drop: n == n0 or drop(e, n)"
)
_PYTHON: Final = '"$HOME/venv/bin/python"'
_SITE: Final = 'site=$(echo "$HOME"/venv/lib/python3*/site-packages)'
_NO_DEPS: Final = "--quiet --no-deps"
# Their build scripts import torch, or compile for it, without saying that they need it.
_BUILT_WITH_TORCH: Final = ("deepspeed", "flash-attn", "mmcv", "torch-scatter")
# C0 asks for modules, not for their kernels: so these packages leave the kernels out.
_NO_CUDA: Final = (
    "DS_BUILD_OPS=0 FLASH_ATTENTION_FORCE_BUILD=TRUE FLASH_ATTENTION_SKIP_CUDA_BUILD=TRUE"
    " FORCE_ONLY_CPU=1 MMCV_WITH_OPS=0 TORCH_DEVICE_BACKEND_AUTOLOAD=0"
)
_TORCH: Final = "torch/lib/libtorch_cpu.so"
_NCCL: Final = "nvidia/nccl/lib/libnccl.so.2"
# Every optimiser has its step wrapped by this function. One that does nothing still calls the
# closure, in which some trainers compute the loss.
_STALLED: Final = """
import importlib.util, sys
class Stall:
    def find_spec(self, name, path=None, target=None):
        if name != "torch.optim.optimizer":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module
        def stall(module):
            load(module)
            module.Optimizer.profile_hook_step = staticmethod(
                lambda step: lambda self, closure=None, **_: closure and closure()
            )
        spec.loader.exec_module = stall
        return spec
sys.meta_path.insert(0, Stall())
"""
_MISMATCH: Final = Path(other_cards.__file__).read_text(encoding="utf-8")


class Sabotage(StrEnum):
    """How an environment is spoiled, so that a run level must fail in it."""

    BARE = "bare"
    PACKAGE_SHADOWED = "package_shadowed"
    FRAMEWORK_BROKEN = "framework_broken"
    KEY_REMOVED = "key_removed"
    DEVICES_HIDDEN = "devices_hidden"
    ONE_DEVICE_ONLY = "one_device_only"
    NCCL_MISMATCHED = "nccl_mismatched"
    OPTIMISER_STALLED = "optimiser_stalled"


# The levels that a sabotage concerns; one that is not here concerns every run level.
_ONLY: Final = {
    Sabotage.BARE: (Level.C0, *RUN_LEVELS),
    Sabotage.KEY_REMOVED: (Level.C0, *RUN_LEVELS),
    Sabotage.DEVICES_HIDDEN: GPU_LEVELS,
    Sabotage.ONE_DEVICE_ONLY: (Level.C4,),
    Sabotage.NCCL_MISMATCHED: (Level.C4,),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Building:
    """The parts of an environment, and the possible sabotages.

    With `base`, it is built from that interpreter's packages and the wheels of `cache`, for a
    machine without a package index; otherwise uv installs the oracle's pins, kept in `cache`.
    `shadows` are the repository's own modules that the entry points use, `imports` the additional
    requirements of C0, `trains` whether a proof of the levels is a curve that must fall.
    """

    oracle: Oracle
    frameworks: tuple[Framework, ...]
    cache: Path
    base: Path | None = None
    shadows: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    trains: bool = False


def sabotages(built: Building) -> tuple[Sabotage, ...]:
    """Return the ways in which this environment can be spoiled."""
    torch = Framework.TORCH in built.frameworks
    without = {
        Sabotage.PACKAGE_SHADOWED: not built.shadows,
        Sabotage.FRAMEWORK_BROKEN: not torch,
        Sabotage.NCCL_MISMATCHED: not torch,
        Sabotage.OPTIMISER_STALLED: not (torch and built.trains),
        Sabotage.KEY_REMOVED: built.oracle.key is None,
    }
    return tuple(one for one in Sabotage if not without.get(one, False))


def must_fail(sabotage: Sabotage, levels: tuple[Level, ...]) -> tuple[Level, ...]:
    """Return those of the levels that must fail where an environment is spoiled so."""
    return tuple(level for level in levels if level in _ONLY.get(sabotage, RUN_LEVELS))


def script(built: Building, sabotage: Sabotage | None) -> str:
    """Return the shell script that builds the environment and spoils it."""
    bare = sabotage is Sabotage.BARE
    lines = _from_index(built, bare=bare) if built.base is None else _on(built, built.base, bare)
    return "\n".join(("set -e", *lines, *_spoiled(built, sabotage))) + "\n"


def distribution_of(requirement: str) -> str:
    """Return the normalised name of the distribution that a requirement names."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement, maxsplit=1)[0]).lower()


def not_replaced(packages: tuple[str, ...], imports: tuple[str, ...]) -> tuple[str, ...]:
    """Return the packages without another version in C0's own list."""
    replacing = {distribution_of(one) for one in imports}
    return tuple(one for one in packages if distribution_of(one) not in replacing)


def uv() -> str | None:
    """Return the path of uv, which builds from a package index; None without one."""
    return shutil.which("uv") or shutil.which("uv", path=Path(sys.executable).parent)


def _from_index(built: Building, *, bare: bool) -> Iterator[str]:
    # In a local sandbox uv is that of the harness; in a container the folder does not exist.
    yield f"PATH={shlex.quote(str(Path(uv() or sys.executable).parent))}:$PATH"
    # A repository's own configuration of uv may name another package index.
    settings = "UV_LINK_MODE=hardlink UV_NO_CONFIG=1"
    yield f"export UV_CACHE_DIR={shlex.quote(str(built.cache))} {settings}"
    yield f'uv venv --quiet --seed --python {built.oracle.python} "$HOME/venv"'
    yield _SITE
    if bare:
        return
    packages = " ".join(shlex.quote(package) for package in built.oracle.packages)
    yield f"uv pip install --quiet --python {_PYTHON} {packages}"
    yield from _only_imported(built.imports)
    for path in map(shlex.quote, built.oracle.repository):
        options = "--quiet --no-deps --no-build-isolation --editable"
        yield f"{_PYTHON} -m pip install {options} {path}"


def _only_imported(requirements: tuple[str, ...]) -> Iterator[str]:
    """Yield shell that installs what only C0 asks for: files, without dependencies or CUDA code."""
    late = [one for one in requirements if distribution_of(one) in _BUILT_WITH_TORCH]
    soon = [one for one in requirements if one not in late]
    for options, group in ((_NO_DEPS, soon), (f"{_NO_DEPS} --no-build-isolation", late)):
        if group:
            names = " ".join(map(shlex.quote, group))
            yield f"{_NO_CUDA} uv pip install {options} --python {_PYTHON} {names}"


def _on(built: Building, base: Path, bare: bool) -> Iterator[str]:
    python = shlex.quote(str(base))
    yield f'{python} -m venv --without-pip "$HOME/venv"'
    yield _SITE
    if bare:
        return
    yield f"base=$({python} -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))')"
    yield 'echo "$base" > "$site/zz.pth"'
    wheels = f"{shlex.quote(str(built.cache))}/*.whl"
    install = "-m pip install --quiet --no-index --no-deps"
    yield f'{python} {install} --no-compile --target "$site" {wheels}'
    for path in map(shlex.quote, built.oracle.repository):
        # The environment finds the base interpreter's pip and build back ends, and its own.
        yield f"{_PYTHON} {install} --no-build-isolation --editable {path}"


def _spoiled(built: Building, sabotage: Sabotage | None) -> Iterator[str]:
    match sabotage:
        case Sabotage.KEY_REMOVED if built.base is None:
            yield f"{_PYTHON} -m pip uninstall --quiet --yes {built.oracle.key}"
        case Sabotage.KEY_REMOVED:
            yield f"names=$({_PYTHON} -c {shlex.quote(_NAMES)} {built.oracle.key})"
            yield 'echo "import sys; sys.modules.update($names)" > "$site/spoiled.pth"'
        case Sabotage.FRAMEWORK_BROKEN:
            yield from _links(built, "torch")
            yield f'rm "$site"/{_TORCH}'
        case Sabotage.PACKAGE_SHADOWED:
            empty = f"dict.fromkeys({built.shadows!r}, types.ModuleType('shadow'))"
            yield _hook(f"import sys, types; sys.modules.update({empty})")
        case Sabotage.DEVICES_HIDDEN:
            yield _hook(_VISIBLE.format(devices=""))
        case Sabotage.ONE_DEVICE_ONLY:
            yield _hook(_VISIBLE.format(devices="0"))
        case Sabotage.NCCL_MISMATCHED:
            # Not removed: if it were missing, the machine's own would correctly be used instead.
            yield from _links(built, "torch", "nvidia")
            yield f'{_PYTHON} -I -c {shlex.quote(_MISMATCH)} "$site"/{_NCCL}'
        case Sabotage.OPTIMISER_STALLED:
            yield _hook(f"import sys; exec({_STALLED!r}, {{}})")
        case _:
            return


def _links(built: Building, *packages: str) -> Iterator[str]:
    """Yield shell that makes $site a folder in which files of these packages can be replaced."""
    if built.base is None:
        return
    # The packages of a base interpreter must stay unchanged, so links to them are spoiled. A
    # library is looked for beside the path by which torch was loaded, so torch's files are links
    # too.
    yield 'echo "$HOME/base" > "$site/zz.pth" && site="$HOME/base"'
    yield 'mkdir "$site" && ln -s "$base"/* "$site"'
    for package in packages:
        yield f'rm "$site/{package}" && cp -rs "$base/{package}" "$site"'


def _hook(code: str) -> str:
    """Return shell that makes every start of the interpreter run a line of code."""
    return f"printf '%s\\n' {shlex.quote(code)} > \"$site/spoiled.pth\""
