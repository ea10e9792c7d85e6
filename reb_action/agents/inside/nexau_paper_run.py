"""Runs the paper's NexAU (0.3.4) with a configuration and a task: `... AGENT.yaml PROMPT.md`.

This version has no stream of events. So only the last event is written, with the name that newer
versions use. The process ends itself even if threads of the framework still run. It runs in NexAU's
Python, which has no other module of this package.
"""

import importlib
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType


def main() -> int:
    """Run the agent to its end; 1 if it could not."""
    config_file, prompt_file = map(Path, sys.argv[1:3])
    nexau: ModuleType = importlib.import_module("nexau")
    agent = nexau.load_agent_config(str(config_file))
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    try:
        answer = agent.run(
            prompt_file.read_text(encoding="utf-8"),
            context={"date": now, "working_directory": os.environ["REB_REPOSITORY"]},
        )
    except Exception as error:
        tell("RUN_ERROR", message=str(error))
        raise
    tell("RUN_FINISHED", result=str(answer))
    return 0


def tell(kind: str, **fields: str) -> None:
    """Write one event."""
    sys.stdout.write(json.dumps({"type": kind, **fields}) + "\n")


if __name__ == "__main__":
    # Kernels and clients of the framework would keep the process alive.
    code = 1
    try:
        code = main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
