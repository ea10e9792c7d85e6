"""Lines that a failed run may print: of Python and its tools, and of the entry point itself."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from reb_action.model.manifest import Entrypoint, Manifest

NEUTRAL_LINES: Final = (
    "The quick brown fox jumps over the lazy dog",
    "2026-12-01 12:34:56,789 - INFO - starting",
    "[1/3] loading the data ...",
    "100%|##########| 10/10 [00:01<00:00,  9.87it/s]",
    "a = 1.5",
    "0.5",
)
"""Lines of programs that have nothing to do with one another."""

_FAILURES: Final = (
    "Traceback (most recent call last):",
    '  File "<string>", line 1, in <module>',
    "    exec(statement, dict(globals()))",
    "ImportError: cannot import name 'model' from 'torch' (/env/lib/python3.11/torch/__init__.py)",
    "RuntimeError: CUDA error: no kernel image is available for execution on the device",
    "AssertionError: Torch not compiled with CUDA enabled",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
    "UserWarning: CUDA initialization: Found no NVIDIA driver on your system.",
    "    warnings.warn(",
    "=========== 1 failed, 1 warning in 0.12s ===========",
    "ERROR collecting test.py",
)
_PLACES: Final = {
    "{python}": "/env/bin/python",
    "{repo}": "/repo",
    "{out}": "/out",
    "{seed}": "1",
    "{files}": "/files",
    "{assets}": "/assets",
}


def list_failure_lines(manifest: Manifest, entrypoint: Entrypoint) -> Iterator[str]:
    """Yield lines that a run of an entry point may print where nothing of it works.

    A traceback shows paths and source lines, those of the manifest's `files` among them; a launcher
    shows its command, and an import that fails names the module.
    """
    yield from _FAILURES
    for name in _list_modules(manifest):
        yield f"ModuleNotFoundError: No module named {name.replace('-', '_')!r}"
    places = {**_PLACES, "{ranks}": str(entrypoint.ranks)}
    words = tuple(_fill(word, places) for word in entrypoint.argv)
    yield " ".join(words)
    for path in (f"/repo/{entrypoint.decoy}", *words):
        if path.endswith(".py"):
            yield f'  File "{path}", line 12, in <module>'
            yield f"usage: {PurePosixPath(path).name} [-h]"
    for text in manifest.files.values():
        yield from (f"    {line.strip()}" for line in text.splitlines())


def _list_modules(manifest: Manifest) -> Iterator[str]:
    """Yield names of modules that are absent in wrong environments."""
    yield from manifest.frameworks
    yield manifest.repository.partition("/")[2]
    yield manifest.repository.partition("/")[2].lower()
    if manifest.oracle is not None and manifest.oracle.key is not None:
        yield manifest.oracle.key


def _fill(word: str, places: dict[str, str]) -> str:
    for name, value in places.items():
        word = word.replace(name, value)
    return word
