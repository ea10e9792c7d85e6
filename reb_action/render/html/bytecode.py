"""Keeps compiled templates where Python keeps compiled modules: compiling takes 0.3 s a page."""

import importlib.util
import sys
from contextlib import suppress
from pathlib import Path

from jinja2.bccache import Bucket, FileSystemBytecodeCache

from reb_action import __version__


class TemplateCache(FileSystemBytecodeCache):
    """A cache in the `__pycache__` of a folder. A folder that cannot be written stays without it.

    Jinja compares the digest of the template's source and the version of Python.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read the compiled template, if it is there."""
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the compiled template; ignore a read-only folder or a full disk."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


def cache_beside(folder: Path) -> TemplateCache:
    """Return the cache of the templates in `folder`, for this version of reb."""
    compiled = Path(importlib.util.cache_from_source(str(folder / "template.py")))
    return TemplateCache(str(compiled.parent), f"template-{__version__}-%s.cache")
