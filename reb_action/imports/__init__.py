"""Level C0, computed: which imports count, what pyright must see, what its answer says."""

from reb_action.imports.files import Files, is_build_file
from reb_action.imports.lookups import Lookups, list_lookups
from reb_action.imports.ownership import owners
from reb_action.imports.paper_count import (
    EXCLUDED_COMPONENTS,
    LIMIT_SOURCE_BYTES,
    import_statements,
    imported_names,
    is_counted,
)
from reb_action.imports.providers import Ownership
from reb_action.imports.pyright_output import Unresolved, read_unresolved
from reb_action.imports.reduction import imports_only, sufficient_source
from reb_action.imports.standard import STANDARD_LIBRARY, is_absent, is_standard
from reb_action.imports.statements import Import
from reb_action.imports.syntax import read_contents

__all__ = [
    "EXCLUDED_COMPONENTS",
    "LIMIT_SOURCE_BYTES",
    "STANDARD_LIBRARY",
    "Files",
    "Import",
    "Lookups",
    "Ownership",
    "Unresolved",
    "import_statements",
    "imported_names",
    "imports_only",
    "is_absent",
    "is_build_file",
    "is_counted",
    "is_standard",
    "list_lookups",
    "owners",
    "read_contents",
    "read_unresolved",
    "sufficient_source",
]
