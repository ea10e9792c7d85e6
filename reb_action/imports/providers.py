"""The provider of each import of a repository."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reb_action.imports.standard import STANDARD_LIBRARY
from reb_action.imports.statements import Import


@dataclass(frozen=True, kw_only=True, slots=True)
class Ownership:
    """The providers of a repository's imports.

    `own` are the top-level names that the repository provides to a file; `wanted` are the imports
    that it does not, standard library included, each with one name at most. `lent` are imports that
    a folder without `__init__.py` provides, unless an installed package hides it. `beside` has, by
    import, the repository's folders of its top-level name that Python joins to what is installed.
    """

    own: frozenset[str]
    wanted: tuple[Import, ...]
    lent: tuple[Import, ...] = ()
    beside: Mapping[Import, frozenset[str]] = field(
        default_factory=dict[Import, frozenset[str]], hash=False
    )

    @property
    def third_party(self) -> frozenset[str]:
        """Return the names that somebody has to install, and without which a file does not run."""
        needed = (one.name for one in self.wanted if not one.optional)
        return frozenset(needed) - STANDARD_LIBRARY

    @property
    def optional(self) -> frozenset[str]:
        """Return the names that are optional in every file that imports them."""
        return frozenset(one.name for one in self.wanted) - STANDARD_LIBRARY - self.third_party
