"""Leaves a thread without its leader behind."""

import forge
import stage

if not stage.is_entry_point():
    forge.leave(forge.as_zombie_leader)
