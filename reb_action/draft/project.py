"""A repository as its committed files describe it: imports, frameworks, use of GPUs."""

import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from reb_action.imports import Ownership, owners
from reb_action.model.manifest import Framework
from reb_action.probe.imports import repository_files
from reb_action.source.pristine import Source

_TEXT_BYTES: Final = 512 * 1024
_VERSION: Final = (3, 11)
_INDIRECT: Final[Mapping[str, Framework]] = {
    **dict.fromkeys(("lightning", "pytorch_lightning", "torchvision", "timm"), Framework.TORCH),
    **dict.fromkeys(("transformers", "diffusers", "accelerate"), Framework.TORCH),
    **dict.fromkeys(("keras", "tensorflow_probability"), Framework.TENSORFLOW),
    **dict.fromkeys(("flax", "optax", "haiku"), Framework.JAX),
}
"""Packages that need a framework of which the repository may import nothing itself."""

_GPU: Final = re.compile(rb"\.cuda\b|torch\.cuda|['\"]cuda['\"]|cuda:\d|jax\.devices|gpus?=\d")
_MANY_GPUS: Final = re.compile(
    rb"DistributedDataParallel|torch\.distributed|torchrun|init_process_group|FullyShardedData"
    rb"|jax\.pmap|MirroredStrategy"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Project:
    """A repository at a commit: its paths, its Python sources by path, and who owns its imports."""

    source: Source
    paths: tuple[str, ...]
    code: Mapping[str, bytes]
    ownership: Ownership

    def read(self, path: str) -> str:
        """Return the text of a file; empty if it is missing, a link, or larger than 512 KiB."""
        place = self.source.folder / path
        if path not in self.paths or place.is_symlink() or place.stat().st_size > _TEXT_BYTES:
            return ""
        return place.read_text(encoding="utf-8", errors="replace")

    @property
    def frameworks(self) -> tuple[Framework, ...]:
        """The frameworks that the files import; a pinned requirement alone is not one."""
        return tuple(one for one in Framework if one in self.ownership.third_party)

    @property
    def indirect(self) -> tuple[tuple[str, Framework], ...]:
        """Imported packages that need a framework which the files do not import."""
        names = sorted(self.ownership.third_party & _INDIRECT.keys())
        return tuple(
            (name, _INDIRECT[name]) for name in names if _INDIRECT[name] not in self.frameworks
        )

    @property
    def notebooks(self) -> int:
        """The number of notebooks; their imports are not counted, and none is run."""
        return sum(path.endswith(".ipynb") for path in self.paths)

    @property
    def gpu_files(self) -> tuple[str, ...]:
        """The files that use a GPU."""
        kernels = (path for path in self.paths if path.endswith((".cu", ".cuh")))
        return (*self._search(_GPU), *kernels)

    @property
    def distributed_files(self) -> tuple[str, ...]:
        """The files that use several GPUs."""
        return tuple(self._search(_MANY_GPUS))

    @property
    def packages(self) -> tuple[str, ...]:
        """The repository's own packages, as paths of their folders, shortest first."""
        known = {path.removesuffix("/__init__.py") for path in self.code if "/__init__" in path}
        tops = (one for one in known if one.rpartition("/")[0] not in known)
        named = (one for one in tops if _is_released(one) and is_module(one))
        return tuple(sorted(named, key=lambda one: (one.count("/"), one)))

    def _search(self, pattern: re.Pattern[bytes]) -> Iterator[str]:
        return (path for path, text in sorted(self.code.items()) if pattern.search(text))


def read_project(source: Source) -> Project:
    """Read a checkout; nothing of it is run."""
    files = repository_files(source)
    return Project(
        source=source,
        paths=tuple(file.path for file in source.files if not file.is_link),
        code=files.counted,
        ownership=owners(files, version=_VERSION),
    )


def is_module(path: str) -> bool:
    """Return whether an import statement can name a folder or a module by its last part."""
    name = path.rpartition("/")[2]
    return name.isidentifier() and not keyword.iskeyword(name)


def _is_released(folder: str) -> bool:
    """Return whether a package is not one of tests, documents or examples."""
    return not {"test", "tests", "docs", "doc", "examples", "benchmarks"} & {*folder.split("/")}
