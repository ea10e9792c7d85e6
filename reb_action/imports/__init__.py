"""Level C0, computed: which imports count, what pyright must see, what its answer says."""

from reb_action.imports.counting import (
    EXCLUDED_COMPONENTS,
    LIMIT_SOURCE_BYTES,
    import_statements,
    imported_names,
    is_counted,
)
from reb_action.imports.ownership import STANDARD_LIBRARY, local_names, third_party
from reb_action.imports.reduction import imports_only, sufficient_source
from reb_action.imports.unresolved import Unresolved, read_unresolved

__all__ = [
    "EXCLUDED_COMPONENTS",
    "LIMIT_SOURCE_BYTES",
    "STANDARD_LIBRARY",
    "Unresolved",
    "import_statements",
    "imported_names",
    "imports_only",
    "is_counted",
    "local_names",
    "read_unresolved",
    "sufficient_source",
    "third_party",
]
