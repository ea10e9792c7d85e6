"""The files of a repository that matter to imports."""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from reb_action.imports.build_files import BUILD_FILES


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """A repository's files that matter to imports.

    `counted` are the sources that take part in C0, `others` the paths of what else can be imported
    (sources that are not counted, extension modules built in place), `build` the build files,
    `links` the symbolic links that stay in the repository, `paths` the folders of the repository
    that the environment has on its search path.
    """

    counted: Mapping[str, bytes]
    others: tuple[str, ...] = ()
    build: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    links: Mapping[str, str] = field(default_factory=dict[str, str])
    paths: tuple[str, ...] = ()


def is_build_file(path: str) -> bool:
    """Return whether a path is one of the build files that `owners` reads."""
    return posixpath.basename(path) in BUILD_FILES
