"""Leaves its parents behind, and then helps others."""

import glob
import os
import sys
import time

sys.path.insert(0, sys.argv[1])
import stage

if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
while True:
    stage.write()
    for path in glob.glob("/proc/[0-9]*/fd/[12]"):
        if not path.startswith("/proc/%d/" % os.getpid()):
            try:
                with open(path, "wb") as stream:
                    stream.write(stage.LINES + b"slope 2.000\n")
            except OSError:
                continue
    time.sleep(0.05)
