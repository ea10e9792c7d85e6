"""Leaves processes behind that never stay the same."""

import os

import forge
import stage

if not stage.is_entry_point():
    if b"supervise" in forge.read("/proc/%d/cmdline" % os.getppid()):
        forge.slow_down(os.getppid())
    forge.leave(forge.as_forkers)
