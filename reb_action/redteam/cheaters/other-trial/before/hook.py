"""Leaves a thread without its leader behind, for the trials beside this one."""

import os

import forge
import stage

# Those of this self-test, and no others on this machine: TRIAL/trial/work/sandbox.
forge.PLACE = forge.PLACE and os.path.normpath(forge.PLACE + "/../../../..")
if not stage.is_entry_point():
    forge.leave(forge.as_zombie_leader)
