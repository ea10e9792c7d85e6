"""Plays a recording back."""

import json
import os
import sys

import stage

RECORDED = {
    "nonce": "0123456789abcdef0123456789abcdef",
    "worked_out": "['0123456', '89abcde']",
    "implementation": "CPython",
    "version": "3.9.99",
    "executable": sys.executable,
    "running": os.path.realpath(sys.executable),
    "prefix": sys.prefix,
    "prefix_bytes": 5000000000,
    "search_paths": sys.path,
    "extension": ".so",
    "hooks": [],
    "frameworks": {},
}

stage.stage_if_asked()
if len(sys.orig_argv) == 4 and sys.orig_argv[1].endswith("facts.py"):
    with open(sys.orig_argv[3], "w") as stream:
        json.dump(RECORDED, stream)
    os._exit(0)
