"""Leaves processes behind that never stay the same."""

import forge
import stage

if not stage.is_entry_point():
    forge.leave(forge.as_forkers)
