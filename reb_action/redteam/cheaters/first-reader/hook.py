"""Leaves readers behind, and has nobody left who could end them."""

import os
import signal

import forge
import stage

for _ in range(3):
    forge.leave(forge.as_zombie_leader)
if stage.is_entry_point() and b"supervise" in forge.read("/proc/%d/cmdline" % os.getppid()):
    os.kill(os.getppid(), signal.SIGKILL)
    stage.stage()
